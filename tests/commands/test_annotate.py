"""`whence annotate`: a whole study from the command line, and sentences for what cannot be."""

import json

import pytest

from support import saved_models, studies
from support.command import whence
from whence.annotation.answers import AnswerFile
from whence.annotation.study import read_study, save_study


def test_a_study_from_prepared_items_to_a_verdict(tmp_path, capsys):
    folder, data = tmp_path / "study", saved_models.labelled()
    given = (
        "--model",
        saved_models.additive(),
        "--data",
        data,
        "--out",
        folder,
        "--items",
        "5",
        "--checks",
        "2",
        "--quiet",
    )
    said = whence(capsys, "annotate", "prepare", *map(str, given))
    assert said.code == 0, said.err
    assert "12 items (relevance)" in said.out
    assert "raw_attention: 5 texts" in said.out
    assert whence(capsys, "annotate", "prepare", *map(str, given)).code == 2  # never overwritten
    exported = whence(capsys, "annotate", "export", str(folder), "--to", "csv", "--out", str(tmp_path))
    assert exported.out.strip() == str(tmp_path / "items.csv")
    study = read_study(folder)
    filled = "item,answer\n" + "".join(f"{name},{secret.check or 'no'}\n" for name, secret in study.key().items())
    (tmp_path / "ada.csv").write_text(filled)
    other = next(name for name, secret in study.key().items() if not secret.check)
    (tmp_path / "ben.csv").write_text(filled.replace(f"{other},no", f"{other},yes"))
    files = (str(tmp_path / "ada.csv"), str(tmp_path / "ben.csv"))
    read = whence(capsys, "annotate", "import", str(folder), *files, "--source", "csv")
    assert read.out.splitlines() == ["ada: 12 answers", "ben: 12 answers"]
    found = whence(capsys, "annotate", "analyse", str(folder), "--out", str(tmp_path / "analysis"))
    assert found.code == 0, found.err
    assert "6. Is it plausible? UNDECIDED" in found.out
    assert {path.name for path in (tmp_path / "analysis").iterdir()} >= {"answers.csv", "human-evaluation.png"}
    as_json = json.loads(whence(capsys, "annotate", "analyse", str(folder), "--json").out)
    assert as_json["verdict"]["answer"] == "undecided"


def test_synthetic_annotators_are_named_in_everything_that_is_printed(tmp_path, capsys):
    save_study(studies.study(n=60), tmp_path)
    said = whence(capsys, "annotate", "simulate", str(tmp_path), "--annotators", "3")
    assert said.out.startswith("Answers of synthetic annotators, no people")
    assert sorted(path.name for path in (tmp_path / "answers").glob("*.jsonl")) == [
        f"synthetic-{n}.jsonl" for n in (1, 2, 3)
    ]
    assert "Simulated annotators, no people" in whence(capsys, "annotate", "analyse", str(tmp_path)).out
    power = whence(capsys, "annotate", "simulate", "--items", "20", "--times", "3", "--quiet")
    assert power.out.startswith("Simulated annotators, no people")


def test_marked_words_are_exported_as_rationales(tmp_path, capsys):
    made = studies.study("marking")
    save_study(made, tmp_path)
    AnswerFile(tmp_path, made, "ada").append(studies.answers(made, "mmmmmmmm").values())
    said = whence(capsys, "annotate", "export", str(tmp_path), "--rationales", "--out", str(tmp_path / "r.jsonl"))
    assert said.out.startswith("8 texts with marked words")
    table = whence(capsys, "annotate", "export", str(tmp_path), "--answers", "--out", str(tmp_path / "a.csv"))
    assert table.code == 0
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 9


def test_one_wrong_answer_keeps_all_of_an_import_out(tmp_path, capsys):
    save_study(studies.study(), tmp_path)
    (tmp_path / "ada.csv").write_text("item,answer\nitem00,yes\nitem01,perhaps\n")
    said = whence(capsys, "annotate", "import", str(tmp_path), str(tmp_path / "ada.csv"), "--source", "csv")
    assert said.code == 2
    assert "perhaps" in said.err
    assert not (tmp_path / "answers").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("guess",), "choose from: prepare"),
        (("analyse", "nothing"), "holds no study"),
        (("export", "nothing"), "holds no study"),
        (("simulate", "--times", "0"), "times must be 1 or more"),
        (("simulate", "--method", "2"), "a share from 0 to 1"),
        (("simulate", "--sensitivity", "2"), "a probability from 0 to 1"),
        (("serve", "nothing", "--annotators", "a"), "holds no study"),
        (("prepare", "--model", "nothing", "--data", "reviews"), "nothing"),
    ],
)
def test_what_cannot_be_gets_a_sentence(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = whence(capsys, "annotate", *arguments)
    assert said.code == 2
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["prepare", "serve", "export", "import", "simulate", "analyse"])
def test_every_verb_has_help(verb, capsys):
    said = whence(capsys, "annotate", verb, "--help")
    assert (said.code, said.err) == (0, "")
    assert f"whence annotate {verb}" in said.out
