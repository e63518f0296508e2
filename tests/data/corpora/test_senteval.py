"""SentEval's files, as they are written, in made ones."""

import pytest

from support.corpora import written
from whence.core.errors import BadConfig, BadData
from whence.data.corpora.senteval import TASKS, in_order
from whence.data.registry import load

MADE = "tr\tPAST\tHe slept .\ntr\tPRES\tHe sleeps\t.\nva\tPAST\tShe left .\nte\tPRES\tShe leaves .\n\n"


def test_splits_labels_and_words(tmp_path):
    """The sentence is the last field, whatever else stands before it."""
    written(tmp_path / "senteval", "past_present.txt", MADE.replace("He sleeps\t.", "extra\tHe sleeps ."))
    corpus = load("senteval:past_present", data_dir=tmp_path)
    assert {split: len(examples) for split, examples in corpus.splits.items()} == {"train": 2, "dev": 1, "test": 1}
    assert corpus["train"][1].words == ("He", "sleeps", ".")
    assert [e.label for e in corpus["train"]] == ["PAST", "PRES"]
    assert (corpus.name, corpus.labels) == ("senteval:past_present", ("PAST", "PRES"))
    assert load("senteval", data_dir=tmp_path).name == "senteval:past_present"


def test_every_task_has_its_file_also_gzipped_and_numbers_are_in_order(tmp_path):
    for task in TASKS:
        written(tmp_path / "senteval", f"{task}.txt.gz", "".join(f"tr\t{n}\ta b c\n" for n in (10, 9, 1)))
        assert load(f"senteval:{task}", data_dir=tmp_path).labels == ("1", "9", "10")
    assert sorted(["10", "O", "9", "I"], key=in_order) == ["9", "10", "I", "O"]


@pytest.mark.parametrize("line", ["tr\tPAST", "xx\tPAST\tHe slept", "tr\t\tHe slept", "tr\tPAST\t ", "tr PAST He"])
def test_a_wrong_line_is_said_with_its_number(tmp_path, line):
    written(tmp_path / "senteval", "past_present.txt", MADE.strip() + "\n" + line + "\n")
    with pytest.raises(BadData, match=r"line 5: a split \(tr, va or te\), a label and a sentence were expected"):
        load("senteval:past_present", data_dir=tmp_path)


def test_what_is_not_there_is_said(tmp_path):
    written(tmp_path / "senteval", "past_present.txt", MADE)
    with pytest.raises(BadData, match=r"senteval is not in .* \(no tree_depth.txt in .*whence data get senteval"):
        load("senteval:tree_depth", data_dir=tmp_path)
    with pytest.raises(BadData, match="no variant senteval:tense"):
        load("senteval:tense", data_dir=tmp_path)
    with pytest.raises(BadConfig, match="'tense' is none of them"):
        load("senteval", data_dir=tmp_path, task="tense")
