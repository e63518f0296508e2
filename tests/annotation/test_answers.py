"""Answers on disk: what was acknowledged survives a kill, a cut line is dropped, the last answer counts."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from support import studies
from whence.annotation.answers import Answer, AnswerFile, read_answers
from whence.annotation.study import save_study
from whence.core.errors import BadConfig, BadData

WRITER = """
import sys
from pathlib import Path
from whence.annotation.answers import Answer, AnswerFile
from whence.annotation.study import read_study
folder = Path(sys.argv[1])
study = read_study(folder)
file = AnswerFile(folder, study, "ann")
for number in range(10_000):
    file.append([Answer(study.items[number % 8].id, "yes", seconds=float(number), at="now")])
    print(number, flush=True)
"""


def test_answers_are_read_back_and_the_last_one_counts(tmp_path):
    made = studies.study()
    file = AnswerFile(tmp_path, made, "ann")
    file.append(studies.answers(made, "ynynsyny").values())
    changed = Answer("item00", "no", (), 1.0, "later")
    file.append([changed])
    assert len(file.history()) == 9
    assert file.latest() == {**studies.answers(made, "ynynsyny"), "item00": changed}
    assert read_answers(tmp_path, made) == {"ann": file.latest()}


def test_marked_words_are_read_back(tmp_path):
    made = studies.study("marking")
    file = AnswerFile(tmp_path, made, "ann")
    file.append(studies.answers(made, "mmmmmmms").values())
    assert file.latest() == studies.answers(made, "mmmmmmms")


def test_kill_9_loses_no_acknowledged_answer(tmp_path):
    save_study(studies.study(), tmp_path)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(25)]
    writer.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout.read().split()]
    writer.wait()
    writer.stdout.close()
    kept = [one.seconds for one in AnswerFile(tmp_path, studies.study(), "ann").history()]
    assert kept[: len(acknowledged)] == acknowledged
    assert len(kept) <= len(acknowledged) + 1  # one may be on the disk whose acknowledgement was cut off


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_line_that_was_cut_off_is_dropped_and_writing_goes_on(cut, tmp_path):
    made = studies.study()
    file, given = AnswerFile(tmp_path, made, "ann"), list(studies.answers(made, "ynynynyn").values())
    file.append(given[:3])
    file.path.write_bytes(file.path.read_bytes()[:-cut])
    assert file.history() == given[:2]
    file.append(given[3:])
    assert file.history() == [*given[:2], *given[3:]]


def test_annotators_have_files_of_their_own(tmp_path):
    made = studies.study()
    for name in ("a", "b"):
        AnswerFile(tmp_path, made, name).append(
            studies.answers(made, "yyyyyyyy" if name == "a" else "nnnnnnnn").values()
        )
    found = read_answers(tmp_path, made)
    assert {name: {one.answer for one in given.values()} for name, given in found.items()} == {
        "a": {"yes"},
        "b": {"no"},
    }


def test_answers_to_another_study_are_refused(tmp_path):
    AnswerFile(tmp_path, studies.study(), "ann").append([Answer("item00", "yes")])
    other = studies.study(n=4)
    with pytest.raises(BadData, match="another study"):
        AnswerFile(tmp_path, other, "ann").append([Answer("item00", "yes")])
    with pytest.raises(BadData, match="another study"):
        read_answers(tmp_path, other)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer("item99", "yes"), "no item"),
        (Answer("item00", "maybe"), "expected one of yes, no, skip"),
        (Answer("item00", "yes", ((0, 0),)), "cannot be marked"),
        (Answer("item00", "yes", seconds=float("nan")), "seconds"),
        (Answer("item00", "yes", seconds=-1.0), "seconds"),
    ],
)
def test_what_is_no_answer_is_refused_and_nothing_is_written(answer, message, tmp_path):
    file = AnswerFile(tmp_path, studies.study(), "ann")
    with pytest.raises(BadData, match=message):
        file.append([Answer("item00", "yes"), answer])
    assert not file.path.exists()


def test_marks_outside_the_text_are_refused(tmp_path):
    file = AnswerFile(tmp_path, studies.study("marking"), "ann")
    with pytest.raises(BadData, match="cannot be marked"):
        file.append([replace(Answer("item00", "marked"), marked=((1, 0),))])


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a b", "x" * 41, "synthetic-1"])
def test_names_that_are_no_file_names_are_refused(name, tmp_path):
    with pytest.raises(BadConfig, match="name"):
        AnswerFile(tmp_path, studies.study(), name)
    assert list(tmp_path.iterdir()) == []
