import zlib

import pytest

from support.corpora import packed, written
from whence.core.errors import BadConfig, BadData
from whence.data.corpora import cnn
from whence.data.registry import load


def asked(answer: str = "@entity2", question: str = "@placeholder won the cup", number: int = 0) -> str:
    passage = f"( @entity{number} ) -- @entity2 beat @entity10 , says @entity10"
    return f"http://x/{number}\n\n{passage}\n\n{question}\n\n{answer}\n\n@entity2:Spain\n@entity10:Italy"


QUESTIONS = {
    f"cnn/questions/{folder}/{number:04x}.question": asked(number=number)
    for folder, count in (("training", 40), ("validation", 2), ("test", 3))
    for number in range(count)
}


@pytest.fixture(params=["archive", "tar.gz", "unpacked", "questions"])
def made(request, tmp_path):
    (tmp_path / "cnn").mkdir()
    if request.param in ("archive", "tar.gz"):
        name = "cnn.tgz" if request.param == "archive" else "cnn.tar.gz"
        (tmp_path / "cnn" / name).write_bytes(packed(dict(reversed(QUESTIONS.items()))))
    else:
        for name, text in QUESTIONS.items():
            written(tmp_path / "cnn", name.removeprefix("" if request.param == "unpacked" else "cnn/"), text)
    return tmp_path


def test_passage_question_and_answer(made):
    corpus = load("cnn", data_dir=made)
    assert {split: len(e) for split, e in corpus.splits.items()} == {"train": 40, "dev": 2, "test": 3}
    first = corpus["test"][0]
    assert first.words[:4] == ("(", "@entity0", ")", "--")
    assert (first.pair, first.label) == ("@placeholder won the cup", "@entity2")
    assert corpus["dev"][1].words[1] == "@entity1"
    assert corpus.labels == tuple(f"@entity{number}" for number in range(40)), "in the order of their numbers"
    assert any("an answer is always one of those in its own passage" in note for note in corpus.notes)


def test_a_share_of_the_training_questions_does_not_depend_on_the_container(made):
    corpus = cnn.load(made, share=0.5)
    chosen = [e.words[1] for e in corpus["train"]]
    names = [f"{number:04x}.question".encode() for number in range(40)]
    assert chosen == [f"@entity{i}" for i, name in enumerate(names) if zlib.crc32(name) / 2**32 < 0.5]
    assert 5 < len(chosen) < 35
    assert len(corpus["test"]) == 3
    with pytest.raises(BadConfig, match="above 0 and at most 1; it is 0"):
        cnn.load(made, share=0.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (asked(answer="Spain"), r"0000\.question, line 7: an answer like @entity3 was expected; got 'Spain'"),
        (asked(question="who won ?"), "line 5: a passage and a question with @placeholder"),
        ("http://x\n\npassage", "address, passage, question and answer were expected in lines 1, 3, 5 and 7"),
        ("", "there are 1 lines"),
        (b"http://x\n\n\xe9", r"0000\.question is not UTF-8"),
    ],
)
def test_a_damaged_question_is_said_with_its_file(tmp_path, text, says):
    (tmp_path / "cnn").mkdir()
    (tmp_path / "cnn" / "cnn.tgz").write_bytes(packed({**QUESTIONS, "cnn/questions/test/0000.question": text}))
    with pytest.raises(BadData, match=says):
        cnn.load(tmp_path)


def test_a_folder_that_lacks_questions_is_said(tmp_path):
    written(tmp_path / "cnn", "questions/test/0.question", asked())
    with pytest.raises(BadData, match=r"lacks questions \(0 of train, 0 of dev, 1 of test\)"):
        cnn.load(tmp_path)
    with pytest.raises(BadData, match=r"cnn is not in .*no cnn\.tgz"):
        load("cnn", data_dir=tmp_path / "elsewhere")
