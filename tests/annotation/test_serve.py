"""The annotators' part of the server: own links, no sight of others or of the key, answers on disk at once."""

import json

import pytest
from starlette.testclient import TestClient

from support import studies
from whence.annotation.answers import AnswerFile
from whence.annotation.study import read_study, save_study
from whence.core.errors import BadConfig
from whence.workbench.access import Access, secured
from whence.workbench.annotating import (
    LINKS,
    AnnotationOptions,
    ByAnnotator,
    annotator_app,
    annotator_tokens,
    without_key,
)

HOSTS = frozenset({"localhost"})


@pytest.fixture
def folder(tmp_path):
    save_study(studies.study(), tmp_path)
    return tmp_path


@pytest.fixture
def app(folder):
    study = without_key(read_study(folder))
    return ByAnnotator(
        {
            name: secured(annotator_app(folder, study, name), Access(f"token-of-{name}", HOSTS, 10_000, f"c-{name}"))
            for name in ("ada", "ben")
        }
    )


def client(app, name=None):
    made = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
    if name:
        answer = made.get(f"/a/{name}/?token=token-of-{name}")
        assert answer.status_code == 200
        assert "token" not in str(answer.url)
    return made


def give(made, name, item, answer="yes", **more):
    return made.post(f"/a/{name}/api/answers", json={"item": item, "answer": answer, "seconds": 1.5, **more})


def test_each_annotator_sees_their_own_page_and_no_other(app):
    ada = client(app, "ada")
    assert ada.get("/a/ada/api/study").json()["annotator"] == "ada"
    assert ada.get("/a/ben/api/study").status_code == 401
    assert ada.get("/a/ben/?token=token-of-ada").status_code == 401
    assert client(app).get("/a/ada/").status_code == 401
    assert client(app).get("/a/carl/").status_code == 404
    assert client(app).get("/").status_code == 404


def test_nothing_that_is_served_tells_the_key_or_another_s_answers(app, folder):
    ada, ben = client(app, "ada"), client(app, "ben")
    give(ben, "ben", "item00", "no")
    seen = ada.get("/a/ada/api/study").text + "".join(ada.get(f"/a/ada/api/items/{n}").text for n in range(8))
    for word in ("raw_attention", "permuted", "correct", "conditions", "fingerprint", "ben", "repeats"):
        assert word not in seen
    assert ada.get("/a/ada/api/items/0").json()["given"] is None
    for path in ("key.json", "study.json", "../key.json", "static/../../key.json", "answers/ben.jsonl"):
        assert ada.get(f"/a/ada/{path}").status_code == 404


def test_an_answer_is_on_the_disk_when_it_is_acknowledged(app, folder):
    ada, study = client(app, "ada"), read_study(folder)
    for number, item in enumerate(study.items):
        assert give(ada, "ada", item.id, "no").json()["answered"] == number + 1
        assert list(AnswerFile(folder, study, "ada").latest()) == [one.id for one in study.items[: number + 1]]
    assert ada.get("/a/ada/api/study").json()["next"] is None
    assert give(ada, "ada", "item02", "skip").json() == {"total": 8, "answered": 8, "next": None}
    assert ada.get("/a/ada/api/items/2").json()["given"] == {"answer": "skip", "marked": []}


@pytest.mark.parametrize(
    "body",
    [
        {"item": "item99", "answer": "yes", "seconds": 1},
        {"item": "item00", "answer": "perhaps", "seconds": 1},
        {"item": "item00", "answer": "yes", "seconds": -1},
        {"item": "item00", "answer": "yes"},
        {"item": "item00", "answer": "yes", "seconds": 1, "marked": [[0, 1]]},
        {"item": "item00", "answer": "yes", "seconds": 1, "annotator": "ben"},
        {"item": "item00", "answer": "x" * 20_000, "seconds": 1},
    ],
)
def test_what_is_no_answer_is_refused_in_a_sentence(body, app, folder):
    ada = client(app, "ada")
    answer = ada.post("/a/ada/api/answers", json=body)
    assert answer.status_code in (400, 413, 422)
    assert answer.json()["error"]
    assert not (folder / "answers").exists()


def test_requests_from_elsewhere_are_refused(app):
    ada = client(app, "ada")
    body = {"item": "item00", "answer": "yes", "seconds": 1}
    assert ada.post("/a/ada/api/answers", json=body, headers={"Origin": "http://evil.example"}).status_code == 403
    assert ada.get("/a/ada/api/study", headers={"Host": "evil.example"}).status_code == 400
    policy = ada.get("/a/ada/").headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe-inline" not in policy


def test_items_that_are_not_there_get_a_sentence(app):
    ada = client(app, "ada")
    for number in (-1, 8, "x"):
        answer = ada.get(f"/a/ada/api/items/{number}")
        assert answer.status_code in (400, 422)
        assert "error" in answer.json()


def test_links_stay_the_same_and_are_secret(tmp_path):
    first = annotator_tokens(tmp_path, ["ada", "ben"])
    assert annotator_tokens(tmp_path, ["ben", "carl"])["ben"] == first["ben"]
    assert len({*first.values(), *json.loads((tmp_path / LINKS).read_text()).values()}) == 3
    assert min(map(len, first.values())) >= 32
    assert (tmp_path / LINKS).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("names", ["", "a,,b", "a/b", "synthetic-1", "a,../b"])
def test_names_that_cannot_be_are_refused(names):
    with pytest.raises(BadConfig, match="name"):
        AnnotationOptions(annotators=names).names()


def test_annotators_are_never_served_the_key(folder):
    with pytest.raises(BadConfig, match="without its key"):
        annotator_app(folder, read_study(folder), "ada")
