"""A full disk, or a folder that cannot be written: one sentence, and nothing finished is lost."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from support import saved_models
from support.command import whence
from support.refusals import audit, refused, written
from whence.results.atomic_write import saving
from whence.results.store import Store


@pytest.mark.parametrize("below", [False, True])
def test_a_folder_that_cannot_be_written(below, capsys, tmp_path):
    out = written(tmp_path / "file", "mine") / "out" if below else Path("/proc/whence")
    sentence = refused(audit(capsys, saved_models.labelled(), out), f"could not write in {out}", "--out")
    assert "run again" in sentence
    if below:
        assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.usefixtures("no_files_of_figures")
def test_a_full_disk_loses_nothing_that_was_finished(capsys, out, monkeypatch):
    """The disk fills up while the second result is written: the first stays, the second leaves no trace."""
    synced, sync = [], os.fsync
    saved_models.with_the_plan(out)

    def full(handle):
        synced.append(handle)
        if len(synced) > 4:  # two files and two folders of the first result
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    with monkeypatch.context() as patch:
        patch.setattr("whence.results.store.os.fsync", full)
        said = audit(capsys, saved_models.labelled(), out)
    refused(said, "could not save a result of permutation", "No space left on device", "Make room")
    kept = {path: path.read_bytes() for path in out.glob("results/*/*/*")}
    assert {path.parent.parent.name for path in kept} == {"ablation"}
    assert not list(out.rglob(".*"))
    assert not (out / "report.html").exists()
    saved_models.with_finished_results(out, "faithfulness", "instance_adversary")
    assert audit(capsys, saved_models.labelled(), out).code == 0
    assert {path: path.read_bytes() for path in kept} == kept
    finished = {result.experiment for result in Store(out).all()}
    assert finished >= {"ablation", "permutation", "faithfulness", "instance_adversary"}  # others where time allows


def test_a_full_disk_while_the_report_is_written_keeps_the_old_one(capsys, out, finished, monkeypatch):
    shutil.copytree(finished, out)
    before = (out / "report.html").read_bytes()

    def full(self, *_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        refused(whence(capsys, "report", out), "No space left on device")
    assert (out / "report.html").read_bytes() == before
    assert not list(out.rglob(".*"))


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 183296 vs 183184"),
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    ],
)
def test_a_full_disk_while_a_model_is_trained(error, capsys, out, monkeypatch):
    def full(*_, **__):
        raise error

    monkeypatch.setattr("whence.training.train.fit", full)
    refused(whence(capsys, "train", "additive", "--out", out, "--quiet"), f"could not write in {out}", "Make room")


def test_a_mistake_of_ours_is_not_taken_for_a_full_disk(out, monkeypatch):
    with pytest.raises(RuntimeError, match="size mismatch"), saving(out):
        raise RuntimeError("size mismatch")
