import hashlib
import io
import re
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from whence.core.errors import BadConfig, BadData
from whence.data import registry
from whence.data.corpora import senteval
from whence.data.preview import counts, preview
from whence.data.registry import entries, find, get, load
from whence.data.tables.reader import Columns

TREES = b"(3 (2 It) (4 works))\n(1 (2 It) (0 fails))\n"
FILES = {name: hashlib.sha256(TREES).hexdigest() for name in ("train.txt", "dev.txt", "test.txt")}


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


WHOLE = zipped({"trees/": b"", **{f"trees/{name}": TREES for name in FILES}, "__MACOSX/trees/dev.txt": b"x"})


@pytest.fixture
def official(monkeypatch) -> Iterator[dict]:
    """An official place on this machine, which answers with what the test puts in."""
    answer = {"status": 200, "body": WHOLE, "asked": 0}

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer["asked"] += 1
            self.send_response(answer["status"])
            self.send_header("Content-Length", str(len(answer["body"])))
            self.end_headers()
            self.wfile.write(answer["body"])

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    where = f"http://127.0.0.1:{server.server_port}/trees.zip"
    monkeypatch.setattr("whence.data.corpora.sst.ENTRY", replace(find("sst"), url=where, files=FILES))
    yield answer
    server.shutdown()
    server.server_close()


def test_get_brings_the_files_and_load_finds_them(official, tmp_path, capsys):
    folder = get("sst", tmp_path / "new")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == dict.fromkeys(FILES, TREES)
    assert [path.name for path in folder.parent.iterdir()] == ["sst"], "nothing else may be left"
    assert "100%" in capsys.readouterr().err
    assert [e.label for e in load("sst", data_dir=tmp_path / "new")["dev"]] == ["positive", "negative"]
    get("sst", tmp_path / "new")
    assert official["asked"] == 1


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (404, b"gone", "answered 404"),
        (200, b"not a zip", "is neither a zip nor a tar archive"),
        (200, zipped({"trees/train.txt": TREES}), "holds no dev.txt; it holds: train.txt"),
        (200, zipped(dict.fromkeys(FILES, TREES + b"!")), "was expected: it was changed"),
    ],
)
def test_what_goes_wrong_is_said_and_leaves_nothing(official, tmp_path, status, body, says):
    official.update(status=status, body=body)
    with pytest.raises(BadData, match=says):
        get("sst", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_network_is_said(monkeypatch, tmp_path):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    url = f"http://127.0.0.1:{port}/trees.zip"
    monkeypatch.setattr("whence.data.corpora.sst.ENTRY", replace(find("sst"), url=url))
    with pytest.raises(BadData, match=r"cannot be reached .*is there a network"):
        get("sst", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_another_folder_of_that_name_is_not_touched(official, tmp_path):
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst" / "dev.txt").write_bytes(b"mine")
    with pytest.raises(BadData, match=r"train\.txt, test\.txt, dev\.txt are missing or not the official ones"):
        get("sst", tmp_path)
    assert (tmp_path / "sst" / "dev.txt").read_bytes() == b"mine"


def test_there_is_nothing_to_download_for_a_synthetic_corpus():
    with pytest.raises(BadData, match="stories is synthetic"):
        get("stories:2")


@pytest.mark.parametrize("way", ["argument", "environment", "cache"])
def test_native_corpora_are_looked_for_in_three_places(monkeypatch, tmp_path, way):
    import pooch

    places = {"argument": tmp_path / "a", "environment": tmp_path / "e", "cache": tmp_path / "c"}
    (places[way] / "sst").mkdir(parents=True)
    for name in FILES:
        (places[way] / "sst" / name).write_bytes(TREES)
    monkeypatch.setattr(pooch, "os_cache", lambda _: places["cache"])
    monkeypatch.setenv("WHENCE_DATA", str(places["environment"]) if way == "environment" else "")
    corpus = load("sst:fine", data_dir=places["argument"] if way == "argument" else None)
    assert [e.label for e in corpus["train"]] == ["positive", "negative"]
    assert "train.txt is not the official file, by its sha256" in corpus.notes


def test_a_missing_corpus_says_what_it_is_and_how_to_get_it(tmp_path):
    with pytest.raises(BadData, match=r"Stanford Sentiment Treebank.*licence: none stated.*`whence data get sst`"):
        load("sst", data_dir=tmp_path)


def test_synthetic_corpora_by_name():
    corpus = load("stories:2", seed=3, sizes={"test": 6})
    assert corpus.name == "stories:2"
    assert corpus.checksum == load("stories", seed=3, sizes={"test": 6}, facts=2).checksum
    assert load("reviews", seed=1, sizes={"a": 4}).checksum != load("reviews", seed=2, sizes={"a": 4}).checksum


def test_a_table_by_its_path(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("text,label,stars\na,x,5\n", encoding="utf-8")
    assert load(path)["test"][0].label == "x"
    assert load(str(path), columns=Columns(label="stars"))["test"][0].label == "5"
    with pytest.raises(BadConfig, match=r"only corpora with an Entry take options \(facts\)"):
        load(path, facts=2)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("review", r"no corpus 'review'.*Did you mean reviews\?.*Choose from: clauses, entailment"),
        ("nowhere.csv", r"no file of that name\. Choose from"),
        ("stories:7", "no variant stories:7; choose from: stories:1, stories:2, stories:3"),
        ("reviews:2", "no variant reviews:2; choose from: reviews:negated, reviews:plain"),
        ("numerals:2", "no variant numerals:2; choose from: numerals alone"),
    ],
)
def test_an_unknown_name_says_what_there_is(name, says):
    with pytest.raises(BadData, match=says):
        load(name)
    if "." not in name and ":" not in name:
        with pytest.raises(BadData, match=says):
            get(name)


def test_preview_and_counts():
    corpus = load("stories", sizes={"train": 12, "test": 6})
    assert counts(corpus) == {"train": dict.fromkeys(corpus.labels, 2), "test": dict.fromkeys(corpus.labels, 1)}
    rows = preview(corpus, n=2)
    assert [row["split"] for row in rows] == ["train", "train", "test", "test"]
    assert rows[0]["text"] == corpus["train"][0].text
    assert set(rows[0]) == {"split", "label", "text", "pair", "rationale"}


def test_preview_of_narratives_shows_their_first_windows():
    row = preview(load("narratives", sizes={"test": 1}), n=1)[0]
    example = load("narratives", sizes={"test": 1})["test"][0]
    lines = row["text"].splitlines()
    assert lines[1] == f"{example.values[1]:+.2f} {example.windows[1]}"
    assert lines[4:] == [f"... and {len(example.windows) - 4} windows more"]
    shown = " ".join(example.windows[:4]).split()
    decides = zip(shown, example.rationale, strict=False)
    assert row["rationale"] == " ".join(word for word, mark in decides if mark)


def test_entries_say_what_a_reader_must_know():
    for name, entry in entries().items():
        assert entry.name == name
        assert entry.about
        assert entry.licence
        assert entry.citation
        assert (entry.kind == "native") == bool(entry.url and entry.files)


def test_all_files_of_a_corpus_can_be_fetched_and_nearly_all_can_be_checked():
    unchecked = set()
    for entry in entries().values():
        fetched = {name: source.sha256 for source in entry.sources for name in (*source.files, source.keep) if name}
        if entry.sources:
            assert fetched.keys() == entry.files.keys(), entry.name
        assert {*entry.substitutes, *entry.optional} <= entry.files.keys(), entry.name
        known = [*entry.files.values(), *fetched.values()]
        assert all(not sha or re.fullmatch("[0-9a-f]{64}", sha) for sha in known), entry.name
        unchecked |= {name for name, sha in entry.files.items() if not sha and not fetched.get(name)}
    unpublished = {"review.json", "sentiment.train.0", "sentiment.train.1", "features", "ratings"}
    unpublished |= {f"{task}.txt" for task in senteval.TASKS}
    unpublished |= {"movies.tar.gz", "deu.txt", "dataset.json", "esnli_train_1.csv", "esnli_train_2.csv"}
    assert unchecked == unpublished, "nobody has published theirs"


def test_the_room_does_without_torch():
    rooms = "whence.data.registry, whence.data.planted, whence.data.lexical.vectors"
    code = f"import sys, {rooms}; assert 'torch' not in sys.modules"
    path = str(Path(registry.__file__).parents[2])
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": path})


def test_a_name_that_is_too_long_for_a_file_is_unknown():
    with pytest.raises(BadData, match="there is no corpus 'xxx"):
        registry.load("x" * 300)
