"""Studies as files: what is written is read back, what was changed is refused, and the key stays apart."""

import json

import pytest

from support import studies
from whence.annotation.study import KEY, STUDY, read_study, save_study
from whence.core.errors import BadData


@pytest.mark.parametrize("task", ["relevance", "preference", "marking"])
def test_what_is_saved_is_read_back(task, tmp_path):
    made = studies.study(task)
    save_study(made, tmp_path)
    read = read_study(tmp_path)
    assert (read.task, read.items, read.about) == (made.task, made.items, made.about)
    assert (read.key(), read.design) == (made.key(), made.design)
    assert read.checksum == made.checksum


def test_a_study_is_never_overwritten(tmp_path):
    save_study(studies.study(), tmp_path)
    with pytest.raises(BadData, match="holds a study already"):
        save_study(studies.study(n=4), tmp_path)
    assert len(read_study(tmp_path).items) == 8


@pytest.mark.parametrize("file", [STUDY, KEY])
def test_a_changed_file_is_refused(file, tmp_path):
    save_study(studies.study(), tmp_path)
    text = (tmp_path / file).read_text()
    (tmp_path / file).write_text(text.replace("été", "ete").replace('"raw_attention"\n', '"permuted"\n'))
    with pytest.raises(BadData, match="changed since it was prepared"):
        read_study(tmp_path)


def test_without_the_key_items_are_read_and_the_analysis_is_refused(tmp_path):
    save_study(studies.study(), tmp_path)
    (tmp_path / KEY).unlink()
    read = read_study(tmp_path)
    assert len(read.items) == 8
    with pytest.raises(BadData, match=r"key\.json is missing"):
        read.key()


@pytest.mark.parametrize("text", ["", "[]", '{"format": 1}', "{"])
def test_a_damaged_study_gets_a_sentence(text, tmp_path):
    (tmp_path / STUDY).write_text(text)
    with pytest.raises(BadData, match="damaged"):
        read_study(tmp_path)


def test_a_folder_without_a_study_gets_a_sentence(tmp_path):
    with pytest.raises(BadData, match="annotate prepare"):
        read_study(tmp_path / "nothing")


def test_a_highlight_outside_the_text_is_damage(tmp_path):
    save_study(studies.study(), tmp_path)
    saved = json.loads((tmp_path / STUDY).read_text())
    saved["items"][0]["panels"][0][0] = [0, 99]
    (tmp_path / STUDY).write_text(json.dumps(saved))
    with pytest.raises(BadData, match="damaged"):
        read_study(tmp_path)
