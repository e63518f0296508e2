import errno
import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.results.errors import CannotSave, DamagedResult
from whence.results.result import Result
from whence.results.store import Store, table_bytes

CACHE_KEY = {"config": {"permutations": 100, "rate": 0.1}, "seed": 0, "corpus": "réviews"}


def result(n=5):
    table = pd.DataFrame({"example": np.arange(n), "token": ["é<b>"] * n, "score": np.linspace(0, 1, n)})
    return Result("permutation", table, {"seed": 0, "notes": ["a"], "seconds": 1.5})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def everything(root):
    return sorted(str(path.relative_to(root)) for path in Path(root).rglob("*") if path.is_file())


def test_the_key_is_a_hash_of_sorted_json(store):
    text = '{"config":{"permutations":100,"rate":0.1},"corpus":"r\\u00e9views","seed":0}'
    assert store.key(CACHE_KEY) == hashlib.sha256(text.encode()).hexdigest()[:12]
    assert store.key(dict(reversed(CACHE_KEY.items()))) == store.key(CACHE_KEY)
    assert store.key(CACHE_KEY | {"seed": 1}) != store.key(CACHE_KEY)


@pytest.mark.parametrize(
    "wrong", [{"a": Path("x")}, {"a": {1: 2}}, {"a": [float("nan")]}, {"a": np.int64(3)}, {"a": {1}}]
)
def test_what_json_cannot_hold_is_refused_by_place(store, wrong):
    with pytest.raises(BadData, match=r"cache_key\['a'\]"):
        store.key(wrong)


def test_what_was_put_is_got(store):
    folder = store.put(result(), CACHE_KEY)
    assert folder == store.root / "results" / "permutation" / store.key(CACHE_KEY)
    got = store.get("permutation", CACHE_KEY)
    pd.testing.assert_frame_equal(got.table, result().table)
    assert got.manifest == result().manifest | {"cache_key": CACHE_KEY}
    assert got.experiment == "permutation"
    assert store.get("permutation", {"other": 1}) is None
    assert [found.experiment for found in store.all()] == ["permutation"]


def test_what_was_got_can_be_put_elsewhere_with_the_same_bytes(store, tmp_path):
    first = store.put(result(), CACHE_KEY)
    second = Store(tmp_path / "other").put(store.load(first), CACHE_KEY)
    assert (first / "table.parquet").read_bytes() == (second / "table.parquet").read_bytes()
    assert (first / "manifest.json").read_bytes() == (second / "manifest.json").read_bytes()


def test_the_same_data_are_the_same_bytes():
    first = table_bytes(result().table)
    time.sleep(0.01)
    assert table_bytes(result().table.copy()) == first


def test_a_second_put_keeps_the_first(store):
    folder = store.put(result(5), CACHE_KEY)
    assert store.put(result(9), CACHE_KEY) == folder
    assert len(store.load(folder).table) == 5


def test_a_faster_process_wins(store, monkeypatch):
    """The folder appears between our look and our renaming."""
    rename = Path.rename

    def late(self, target):
        monkeypatch.setattr(Path, "rename", rename)
        Store(store.root).put(result(7), CACHE_KEY)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", late)
    folder = store.put(result(5), CACHE_KEY)
    assert len(store.load(folder).table) == 7
    assert len(everything(store.root)) == 2


def test_manifests_with_arrays_and_nan_are_saved(store):
    manifest = {
        "mean": np.float32(0.5),
        "shape": np.array([1, 2]),
        "bad": float("nan"),
        "path": Path("a"),
        "set": {2, 1},
    }
    got = store.load(store.put(Result("x", result().table, manifest), CACHE_KEY)).manifest
    assert got == {"mean": 0.5, "shape": [1, 2], "bad": None, "path": "a", "set": [1, 2], "cache_key": CACHE_KEY}


def test_half_a_surrogate_pair_in_a_manifest_comes_back(store):
    folder = store.put(Result("x", result().table, {"notes": ["a\ud800"]}), CACHE_KEY)
    assert store.load(folder).manifest["notes"] == ["a\ud800"]


@pytest.mark.parametrize("name", ["../up", "", ".hidden", "a/b"])
def test_names_that_leave_the_folder_are_refused(store, name):
    with pytest.raises(BadData, match="rename it"):
        store.folder(name, CACHE_KEY)


@pytest.mark.parametrize("moment", ["fsync", "rename"])
def test_a_full_disk_leaves_nothing(store, monkeypatch, moment):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*{"fsync": (os, "fsync"), "rename": (Path, "rename")}[moment], full)
    with pytest.raises(CannotSave, match=r"No space left on device\. Nothing was left there\. Make room"):
        store.put(result(), CACHE_KEY)
    assert everything(store.root) == []
    monkeypatch.undo()
    assert store.get("permutation", CACHE_KEY) is None
    assert store.put(result(), CACHE_KEY).exists()


def test_a_root_that_is_a_file_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotSave, match="choose another folder"):
        Store(tmp_path / "file").put(result(), CACHE_KEY)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_gets_a_sentence(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(CannotSave, match="Permission denied"):
        Store(tmp_path).put(result(), CACHE_KEY)
    tmp_path.chmod(0o700)


DAMAGES = {
    "truncated": lambda folder: (folder / "table.parquet").write_bytes((folder / "table.parquet").read_bytes()[:-9]),
    "no table": lambda folder: (folder / "table.parquet").unlink(),
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "half a manifest": lambda folder: (folder / "manifest.json").write_text('{"table": {'),
    "another manifest": lambda folder: (folder / "manifest.json").write_text("[]"),
    "empty manifest": lambda folder: (folder / "manifest.json").write_text("{}"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_named(store, damage):
    folder = store.put(result(), CACHE_KEY)
    DAMAGES[damage](folder)
    with pytest.raises(DamagedResult, match=rf"{folder.name} is damaged: .*Delete that folder and run again"):
        store.get("permutation", CACHE_KEY)


PUT_AND_DIE = """
    import os, signal, sys
    from pathlib import Path
    import pandas as pd
    from whence.results.result import Result
    from whence.results.store import Store
    die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    {moment} = die
    Store(sys.argv[1]).put(Result("permutation", pd.DataFrame({{"a": [1]}}), {{}}), {{"seed": 0}})
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
@pytest.mark.parametrize("moment", ["os.fsync", "Path.rename"])
def test_a_killed_process_leaves_nothing_that_counts(store, moment):
    script = textwrap.dedent(PUT_AND_DIE).format(moment=moment)
    died = subprocess.run([sys.executable, "-c", script, str(store.root)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert everything(store.root)  # its folder under way
    assert store.get("permutation", {"seed": 0}) is None
    assert store.all() == []
    store.put(result(), CACHE_KEY)
    assert len(everything(store.root)) == 2  # cleared away


def test_a_living_process_is_left_alone_for_an_hour(store):
    parent = store.put(result(), CACHE_KEY).parent
    ours = parent / f".0123456789ab.elsewhere.{os.getpid()}.01234567"
    ours.mkdir()
    store.put(result(), {"seed": 1})
    assert ours.exists()
    os.utime(ours, (time.time() - 4000,) * 2)
    store.put(result(), {"seed": 2})
    assert not ours.exists()
