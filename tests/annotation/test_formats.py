"""Other tools' formats: what goes out holds every item and no secret; what comes back in their shapes loses nothing."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import yaml

from support import studies
from whence.annotation.answers import Answer, AnswerFile, read_answers
from whence.annotation.formats import format_of
from whence.annotation.formats.csv import write_answers
from whence.annotation.rationales import rationales, write_rationales
from whence.annotation.spans import joined, spans, words_within
from whence.core.errors import BadData
from whence.data.tables.reader import Columns, read_table

TOOLS = ("label-studio", "doccano", "argilla", "potato", "csv")
TASKS = {
    "relevance": ("ynynynys", "nnyyssyn"),
    "preference": ("1201201s", "0000ss12"),
    "marking": ("mmmmmmms", "mmsmmmmm"),
}
SECRETS = ("raw_attention", "permuted", "random", "correct", "condition", "repeats", "check", "seed")


def given(task):
    made = studies.study(task)
    return made, {name: studies.answers(made, letters) for name, letters in zip("ab", TASKS[task], strict=True)}


def without_time(found):
    return {name: [Answer(one.item, one.answer, one.marked) for one in some] for name, some in found.items()}


def as_lists(answers):
    return {name: list(one.values()) for name, one in answers.items()}


def span_of(item, place):
    start, end = spans(item)[place]
    return {"start": start, "end": end, "text": joined(item)[start:end]}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("tool", TOOLS)
def test_what_goes_out_has_every_item_and_no_secret(tool, task, tmp_path):
    made = studies.study(task)
    files = format_of(tool).write(made, tmp_path)
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert all(item.id in text for item in made.items)
    assert [word for word in SECRETS if word in text] == []


def test_offsets_are_those_of_the_words():
    for item in studies.study().items:
        text = joined(item)
        for (number, word), (start, end) in spans(item).items():
            assert text[start:end] == item.texts[number][word]
            assert words_within(item, [(start, end)]) == ((number, word),)
        assert words_within(item, [(0, len(text))]) == tuple(spans(item))
        assert words_within(item, []) == ()


@pytest.mark.parametrize("task", TASKS)
def test_label_studio_round_trip(task, tmp_path):
    """Tasks as exported by Label Studio (JSON): annotations with result, lead_time, was_cancelled, completed_by."""
    made, answers = given(task)
    tasks = json.loads(format_of("label-studio").write(made, tmp_path)[0].read_text())
    for number, one in enumerate(tasks):
        item = made.items[number]
        assert one["data"]["id"] == item.id
        regions = [region["value"] for prediction in one["predictions"] for region in prediction["result"]]
        assert [(r["start"], r["end"], r["text"], r["labels"]) for r in regions] == [
            (*span_of(item, place).values(), ["top"]) for panel in item.panels for place in panel
        ]
        one |= {"id": number, "annotations": []}
        for user, (who, name) in enumerate((("a", {"id": 7, "email": "a"}), ("b", "b")), start=1):
            mine = answers[who][item.id]
            choice = {"from_name": "answer", "to_name": "text", "type": "choices", "value": {"choices": [mine.answer]}}
            marks = [
                {
                    "from_name": "marks",
                    "to_name": "text",
                    "type": "labels",
                    "value": {**span_of(item, place), "labels": ["decides"]},
                }
                for place in mine.marked
            ]
            skipped = mine.answer == "skip"
            result = [] if skipped else marks or [choice]
            one["annotations"].append(
                {
                    "id": user,
                    "completed_by": name,
                    "result": result,
                    "was_cancelled": skipped,
                    "lead_time": mine.seconds,
                    "created_at": mine.at,
                }
            )
    export = tmp_path / "export.json"
    export.write_text(json.dumps(tasks))
    assert format_of("label-studio").read(made, [export]) == as_lists(answers)


@pytest.mark.parametrize("task", TASKS)
def test_the_labelling_interface_names_what_tasks_use(task, tmp_path):
    made = studies.study(task)
    tasks_file, config = format_of("label-studio").write(made, tmp_path)
    view = ET.fromstring(config.read_text())
    names = {one.get("name") for one in view.iter() if one.get("name")}
    for one in json.loads(tasks_file.read_text()):
        regions = [region for prediction in one["predictions"] for region in prediction["result"]]
        assert {region["from_name"] for region in regions} | {region["to_name"] for region in regions} <= names
        for text in view.iter("Text"):
            assert (text.get("value") or "")[1:] in one["data"]
    assert [one.get("value") for one in view.iter("Choice")] == list(made.asks.choices)
    if task == "relevance":
        assert "top3" in names


@pytest.mark.parametrize("task", TASKS)
def test_doccano_round_trip(task, tmp_path):
    """Lines as exported by doccano, one file for each user: text, entities and cats, or text and label."""
    made, answers = given(task)
    (items, _) = format_of("doccano").write(made, tmp_path)
    lines = [json.loads(line) for line in items.read_text().splitlines()]
    for number, (line, item) in enumerate(zip(lines, made.items, strict=True)):
        words = [line["text"][start:end] for start, end, label in line.get("entities", ()) if label == "top"]
        assert words == [item.texts[text][word] for panel in item.panels for text, word in panel]
        line["id"] = number
    folder = tmp_path / "export"
    folder.mkdir()
    for who, mine in answers.items():
        filled = []
        for line, item in zip(lines, made.items, strict=True):
            one = mine[item.id]
            marked = [[*list(span_of(item, place).values())[:2], "decides"] for place in one.marked]
            skipped = one.answer == "skip" and task != "marking"
            filled.append(
                {**line, **({"label": marked} if task == "marking" else {"cats": [one.answer]}), "Comments": []}
            )
            filled[-1] |= {"cats": ["skip"]} if skipped else {}
        (folder / f"{who}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in filled))
    assert without_time(format_of("doccano").read(made, [folder])) == without_time(as_lists(answers))


@pytest.mark.parametrize("task", TASKS)
def test_argilla_round_trip(task, tmp_path):
    """Records as written by `dataset.records.to_json`: responses by question, with value, user and status."""
    made, answers = given(task)
    records_file, settings = format_of("argilla").write(made, tmp_path)
    records = json.loads(records_file.read_text())
    names = {field["name"] for field in json.loads(settings.read_text())["fields"]}
    for record, item in zip(records, made.items, strict=True):
        assert set(record["fields"]) == names
        for who, mine in answers.items():
            one = mine[item.id]
            marked = [{**span_of(item, place), "label": "decides"} for place in one.marked]
            skipped = one.answer == "skip"
            value = None if skipped else marked or one.answer
            status = "discarded" if skipped else "submitted"
            record["responses"].setdefault("answer", []).append({"value": value, "user_id": who, "status": status})
        record["responses"]["answer"].append({"value": "yes", "user_id": "c", "status": "draft"})
    (tmp_path / "back").mkdir()
    (tmp_path / "back" / "records.json").write_text(json.dumps(records))
    assert without_time(format_of("argilla").read(made, [tmp_path / "back"])) == without_time(as_lists(answers))


@pytest.mark.parametrize("task", TASKS)
def test_potato_round_trip(task, tmp_path):
    """States as Potato keeps them, one folder for each annotator."""
    made, answers = given(task)
    config, items = format_of("potato").write(made, tmp_path)
    read = yaml.safe_load(config.read_text())
    assert read["data_files"] == [items.name]
    for who, mine in answers.items():
        labels, marked = {}, {}
        for item in made.items:
            one = mine[item.id]
            if task == "marking":
                marked[item.id] = {"answer": [{**span_of(item, place), "label": "decides"} for place in one.marked]}
            else:
                labels[item.id] = {"answer": {"labels": {one.answer: True}}}
        state = {"user_id": who, "instance_id_to_label_to_value": labels, "instance_id_to_span_to_value": marked}
        (tmp_path / "out" / who).mkdir(parents=True)
        (tmp_path / "out" / who / "user_state.json").write_text(json.dumps(state))
    assert without_time(format_of("potato").read(made, [tmp_path / "out"])) == without_time(as_lists(answers))


def test_potato_shows_words_and_never_runs_them(tmp_path):
    _, items = format_of("potato").write(studies.study(), tmp_path)
    assert "<b>été" not in items.read_text()
    assert "&lt;b&gt;" in items.read_text()


@pytest.mark.parametrize("task", TASKS)
def test_answers_as_a_table_round_trip(task, tmp_path):
    made, answers = given(task)
    path = write_answers(made, answers, tmp_path / "all.csv")
    assert format_of("csv").read(made, [path]) == as_lists(answers)


def test_a_table_that_was_filled_in_a_spreadsheet(tmp_path):
    made = studies.study()
    (path,) = format_of("csv").write(made, tmp_path)
    lines = path.read_text().splitlines()
    assert "«" in lines[1]
    filled = "\ufeffitem,answer\n" + "".join(f"{item.id},Yes\n" for item in made.items[:3]) + "item03,\n"
    (tmp_path / "carla.csv").write_text(filled)
    assert format_of("csv").read(made, [tmp_path / "carla.csv"]) == {
        "carla": [Answer(item.id, "yes") for item in made.items[:3]]
    }


@pytest.mark.parametrize(
    ("tool", "name", "text"),
    [
        ("label-studio", "x.json", "{}"),
        ("label-studio", "x.json", '[{"data": {}}]'),
        ("label-studio", "x.json", '[{"data": {"id": "item99"}}]'),
        (
            "label-studio",
            "x.json",
            '[{"data": {"id": "item00"}, "annotations": [{"completed_by": 1, "result": [{}]}]}]',
        ),
        ("doccano", "x.jsonl", '{"text": "a"}'),
        ("doccano", "x.jsonl", "[1"),
        ("doccano", "x.jsonl", '{"item": "item00", "cats": ["yes", "no"]}'),
        ("argilla", "x.json", '[{"fields": {}}]'),
        ("potato", "user_state.json", "{}"),
        ("csv", "x.csv", "a,b\n1,2\n"),
        ("csv", "x.csv", "item,answer,seconds\nitem00,yes,soon\n"),
        ("csv", "nothing.csv", None),
    ],
)
def test_files_of_another_shape_get_a_sentence(tool, name, text, tmp_path):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(BadData):
        format_of(tool).read(studies.study(), [tmp_path / name])


def test_marked_words_become_rationales_that_tables_hold(tmp_path):
    made, answers = given("marking")
    assert write_rationales(made, answers, tmp_path / "rationales.jsonl") == 8
    first = rationales(made, answers)[0]
    assert first["rationale"] == [False, True, *[False] * 7, True]  # both marked the second and the last word
    examples = read_table(tmp_path / "rationales.jsonl", Columns())["test"]
    assert [example.rationale for example in examples] == [tuple(row["rationale"]) for row in rationales(made, answers)]


def test_rationales_of_pairs_keep_the_second_text(tmp_path):
    made, answers = given("marking")
    pairs = replace(made, items=made.items[4:])
    assert write_rationales(pairs, answers, tmp_path / "rationales.jsonl") == 4
    assert {example.pair for example in read_table(tmp_path / "rationales.jsonl", Columns())["test"]} == {
        "is it good ?"
    }


def test_a_word_decides_if_half_of_the_annotators_marked_it(tmp_path):
    made = studies.study("marking", n=2)
    one, other = (Answer("item00", "marked", ((0, at),)) for at in (3, 4))
    third = Answer("item00", "marked", ((0, 4),))
    (row,) = rationales(made, {"a": {"item00": one}, "b": {"item00": other}, "c": {"item00": third}})
    assert [at for at, marked in enumerate(row["rationale"]) if marked] == [4]
    with pytest.raises(BadData, match="asks for relevance"):
        write_rationales(studies.study(), {}, tmp_path / "none.jsonl")


def test_imported_answers_are_kept_as_given_ones_are(tmp_path):
    made, answers = given("relevance")
    for name, mine in answers.items():
        AnswerFile(tmp_path, made, name).append(mine.values())
    assert read_answers(tmp_path, made) == answers
