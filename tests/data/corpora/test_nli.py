import json

import pytest

from support.corpora import labels, real, written
from whence.core.errors import BadData
from whence.data.corpora import multinli, snli
from whence.data.registry import load


def row(label: str, parsed: bool = True, second: str = "( He ( sleeps . ) )") -> str:
    parses = {"sentence1_binary_parse": "( ( A man ) ( -LRB- tall -RRB- ) )", "sentence2_binary_parse": second}
    return json.dumps(
        {
            "gold_label": label,
            "sentence1": "A man (tall)",
            "sentence2": "He sleeps.",
            "pairID": "1",
            **(parses if parsed else {}),
        }
    )


LINES = "\n".join([row("entailment"), row("-"), row("neutral", parsed=False), row("contradiction", second="( )"), ""])


@pytest.fixture
def made(tmp_path):
    for split in ("train", "dev", "test"):
        written(tmp_path / "snli", f"snli_1.0_{split}.jsonl" + (".gz" if split == "dev" else ""), LINES)
    return tmp_path


def test_words_come_from_the_parse_where_there_is_one(made):
    corpus = snli.load(made)
    first, second = corpus["dev"]
    assert first.words == ("A", "man", "(", "tall", ")")
    assert first.text == "A man ( tall )"
    assert first.pair_words == ("He", "sleeps", ".")
    assert (second.text, second.pair, second.words, second.label) == ("A man (tall)", "He sleeps.", None, "neutral")


def test_what_is_skipped_is_counted(made):
    assert "skipped 1 pairs without an agreed label in snli_1.0_dev.jsonl.gz" in snli.load(made).notes
    assert "skipped 1 pairs without words on one side in snli_1.0_test.jsonl" in snli.load(made).notes


def test_parts_stand_in_for_the_whole(made):
    (made / "snli" / "snli_1.0_train.jsonl").rename(made / "snli" / "snli_1.0_train.first100k.jsonl")
    corpus = load("snli", data_dir=made)
    assert len(corpus["train"]) == 2
    assert corpus.notes[0] == "snli_1.0_train.jsonl is missing; read snli_1.0_train.first100k.jsonl instead"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            row("entails"),
            r"dev\.jsonl, line 2: the label must be entailment, neutral, contradiction or -; it is 'entails'",
        ),
        ('{"sentence1": "a"}', "line 2: sentence1, sentence2, gold_label or premise, hypothesis, label were expected"),
        ("{", "line 2: not JSON"),
        ("3", "line 2: a JSON object was expected"),
    ],
)
def test_a_damaged_line_is_said_with_its_number(made, line, says):
    (made / "snli" / "snli_1.0_dev.jsonl.gz").unlink()
    written(made / "snli", "snli_1.0_dev.jsonl", row("neutral") + "\n" + line)
    with pytest.raises(BadData, match=says):
        snli.load(made)


@pytest.mark.parametrize(
    ("text", "says"), [("", "is empty"), ("\n", "no labelled pairs"), (row("-"), "no labelled pairs")]
)
def test_a_file_without_pairs_is_refused(made, text, says):
    written(made / "snli", "snli_1.0_test.jsonl", text)
    with pytest.raises(BadData, match=says):
        snli.load(made)


def test_a_missing_corpus_is_said(tmp_path):
    with pytest.raises(BadData, match=r"no snli_1\.0_train\.jsonl, snli_1\.0_dev\.jsonl.*licence: CC BY-SA 4\.0"):
        load("snli", data_dir=tmp_path)


def test_multinli_draws_a_dev_set_and_tests_on_the_official_ones(tmp_path):
    written(tmp_path / "multinli", "multinli_1.0_train.jsonl", "\n".join([row("neutral")] * 40))
    for kind in ("matched", "mismatched"):
        written(tmp_path / "multinli", f"multinli_1.0_dev_{kind}.jsonl", LINES)
    corpus = load("multinli", data_dir=tmp_path)
    assert {split: len(e) for split, e in corpus.splits.items()} == {
        "train": 38,
        "dev": 2,
        "test": 2,
        "test_mismatched": 2,
    }
    assert "drew 2 of 40 training pairs as dev" in corpus.notes


def test_multinli_reduced_to_three_fields(tmp_path):
    line = json.dumps({"premise": "Rights are nice", "hypothesis": "All like them ", "label": "neutral"})
    written(tmp_path / "multinli", "dev_matched.reduced.jsonl.gz", line)
    corpus = multinli.load(tmp_path)
    assert list(corpus.splits) == ["test"]
    assert [(e.text, e.pair, e.words) for e in corpus["test"]] == [("Rights are nice", "All like them", None)]
    assert "multinli_1.0_train.jsonl is missing" in corpus.notes


def test_the_real_pairs_of_snli():
    folder = real("snli")
    if not (folder / "snli" / "snli_1.0_dev.part2566.jsonl.gz").exists():
        pytest.skip("WHENCE_DATA has other files of snli than those whose counts are known here")
    corpus = load("snli", data_dir=folder)
    assert labels(corpus, "train") == (33385, 33194, 33311)
    assert labels(corpus, "dev") == (838, 850, 839)
    assert labels(corpus, "test") == (3368, 3219, 3237)
    assert "skipped 176 pairs without an agreed label in snli_1.0_test.jsonl.gz" in corpus.notes
    assert all(e.words and e.pair_words and "(" not in e.text.replace("( ", "") for e in corpus["test"][:500])


def test_the_real_pairs_of_multinli():
    corpus = load("multinli", data_dir=real("multinli"))
    assert labels(corpus, "test") == (3479, 3123, 3213)
