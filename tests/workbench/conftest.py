"""A workbench with small models, behind its checks, and clients for it."""

import pytest
from starlette.testclient import TestClient

from support import saved_models
from whence.workbench.access import Access, secured
from whence.workbench.application import application
from whence.workbench.opening import Opening, open_workbench

TOKEN = "a-token-for-tests"
ACCESS = Access(TOKEN, frozenset({"localhost", "testserver"}), body=200_000)


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    """A BERT that was trained on reviews, and their table."""
    folder = tmp_path_factory.mktemp("bench")
    opening = Opening(model=str(saved_models.bert()), data=str(saved_models.labelled()), folder=folder)
    made = open_workbench(opening)
    yield made
    made.close()


@pytest.fixture(scope="session")
def client(bench):
    """A client that knows the token."""
    with TestClient(secured(application(bench), ACCESS), base_url="http://localhost") as made:
        made.headers["Authorization"] = f"Bearer {TOKEN}"
        yield made


@pytest.fixture
def stranger(client):
    """A client that does not."""
    return TestClient(client.app, base_url="http://localhost", raise_server_exceptions=False)


def api(client, method, path, **given):
    """What the interface answers; an error if it refuses."""
    answer = client.request(method, f"/api/v1{path}", **given)
    assert answer.status_code == 200, answer.text
    return answer.json()
