import pytest

from support.corpora import real, written
from whence.core.errors import BadConfig, BadData
from whence.data.corpora import babi
from whence.data.registry import load

STORY = """1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Daniel went back to the hallway.
5 Where is Daniel? \thallway\t4
1 Sandra's cat slept.
2 Where is it?\tnowhere\t1
"""


@pytest.fixture
def made(tmp_path):
    for name in babi.FILES:
        written(tmp_path / "babi", name + ".gz", STORY * 10)
    return tmp_path


def test_a_question_comes_with_all_that_was_told_before(made):
    first, second, third = babi.load(made)["test"][:3]
    assert first.text == "Mary moved to the bathroom . John went to the hallway ."
    assert (first.pair_words, first.label) == (("Where", "is", "Mary", "?"), "bathroom")
    assert first.rationale == (True,) * 6 + (False,) * 6
    assert second.text == first.text + " Daniel went back to the hallway ."
    marked = [word for word, mark in zip(second.words, second.rationale, strict=True) if mark]
    assert " ".join(marked) == "Daniel went back to the hallway ."
    assert third.words == ("Sandra's", "cat", "slept", ".")


def test_the_questions_of_a_story_stay_together(made):
    corpus = babi.load(made)
    assert "drew 3 of 20 training stories, with all their questions, as dev" in corpus.notes
    assert len(corpus["train"]) + len(corpus["dev"]) == 30
    asked = [e.pair for e in corpus["dev"]]
    assert asked.count("Where is Mary ?") == asked.count("Where is Daniel ?")
    assert corpus.labels == ("bathroom", "hallway", "nowhere")


def test_the_small_set_stands_in_for_the_large_one(made):
    large = made / "babi" / f"{babi.FOLDER}/en-10k/qa3_three-supporting-facts_train.txt.gz"
    large.unlink()
    written(made / "babi", f"{babi.FOLDER}/en/qa3_three-supporting-facts_train.txt", STORY * 2)
    assert "read train from en-10k/qa2_two-supporting-facts_train.txt.gz" in load("babi:2", data_dir=made).notes
    corpus = load("babi:3", data_dir=made)
    assert corpus.name == "babi:3"
    assert "read train from en/qa3_three-supporting-facts_train.txt" in corpus.notes
    assert len(corpus["train"]) + len(corpus["dev"]) == 6


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2 Mary left.\n", r"train\.txt\.gz, line 1: a number and a sentence were expected, from 1 on"),
        (STORY + "Mary left.\n", "line 8: a number and a sentence"),
        (STORY + "3 Where?\tx\t9\n", "line 8: a question, its answer and the numbers of earlier statements"),
        (STORY + "3 Where?\tx\t2\n", "line 8: a question"),  # line 2 is a question, too
        (STORY + "3 Where?\tx\n", "line 8: a question"),
        (STORY + "3 Where?\t \t1\n", "line 8: a question"),
        ("1 Mary left.\n", "holds no questions"),
        ("", "is empty"),
    ],
)
def test_a_damaged_line_is_said_with_its_number(made, text, says):
    written(made / "babi", f"{babi.FOLDER}/en-10k/qa1_single-supporting-fact_train.txt.gz", text)
    with pytest.raises(BadData, match=says):
        babi.load(made)


def test_an_unknown_task_and_a_wrong_path_are_refused(made, tmp_path):
    with pytest.raises(BadConfig, match="babi has the tasks 1, 2, 3; 4 is none of them"):
        babi.load(made, 4)
    with pytest.raises(BadData, match="no variant babi:4; choose from: babi:1, babi:2, babi:3"):
        load("babi:4", data_dir=made)
    with pytest.raises(BadData, match="babi is not in"):
        load("babi", data_dir=tmp_path / "elsewhere")


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_real_questions(task):
    folder = real("babi")
    corpus = load(f"babi:{task}", data_dir=folder)
    large = any("read train from en-10k" in note for note in corpus.notes)
    held_out = any("en-valid-10k" in note for note in corpus.notes)
    assert len(corpus["train"]) + len(corpus["dev"]) == (10_000 if large else 2_000 if held_out else 1_000)
    assert len(corpus["dev"]) == (1_500 if large else 300 if held_out else 150)
    assert len(corpus["test"]) == 1_000
    assert corpus.labels == ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
    for e in corpus["test"]:
        marked = [word for word, mark in zip(e.words, e.rationale, strict=True) if mark]
        assert marked.count(".") == task, "as many sentences as the task says decide"
        assert e.label in marked
