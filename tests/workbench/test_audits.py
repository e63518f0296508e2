"""Audits through the interface: started, stopped, resumed, read; their verdicts beside the heads."""

import csv
import io
import json
import shutil
import time

import pytest
from starlette.testclient import TestClient

import whence
from support import saved_models
from whence.auditing.audited import read_audit
from whence.results.verdict import Effect
from whence.workbench.access import secured
from whence.workbench.application import application
from whence.workbench.findings import head_findings
from whence.workbench.opening import Opening, open_workbench
from workbench.conftest import ACCESS, TOKEN, api
from workbench.test_jobs import events


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    """A client of a workbench in whose folder is a finished audit."""
    folder = tmp_path_factory.mktemp("past")
    shutil.copytree(saved_models.audited(), folder / "before")
    opening = Opening(model=str(saved_models.bert()), data=str(saved_models.labelled()), folder=folder)
    with TestClient(secured(application(open_workbench(opening)), ACCESS), base_url="http://localhost") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield client


def test_past_audits_have_their_verdicts(past):
    (row,) = api(past, "GET", "/audits")["audits"]
    finished = read_audit(saved_models.audited())
    (part,) = finished.parts
    assert (row["name"], row["state"]) == ("before", "finished")
    assert row["answer"] == finished.answers[part.name].word
    assert {one["question"]: one["verdict"] for one in row["verdicts"]} == {
        number: one.answer for number, one in part.verdicts.items()
    }


def test_the_report_runs_nothing(past):
    answer = past.get("/api/v1/audits/before/report")
    assert answer.text == (saved_models.audited() / "report.html").read_text(encoding="utf-8")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox;")
    assert "script" not in policy
    assert past.get("/api/v1/audits/after/report").status_code == 404


def test_every_result_is_a_table_and_a_figure(past):
    results = api(past, "GET", "/results")["results"]
    (part,) = read_audit(saved_models.audited()).parts
    assert sorted(one["experiment"] for one in results) == sorted(one.experiment for one in part.results)
    for one in results[:2]:
        own = next(result for result in part.results if result.experiment == one["experiment"])
        assert one["verdict"]["verdict"] == own.verdict().answer
        rows = list(csv.reader(io.StringIO(past.get(f"/api/v1/results/{one['key']}/table.csv").text)))
        assert rows[0] == list(own.table.columns)
        assert len(rows) == len(own.table) + 1
        assert past.get(f"/api/v1/results/{one['key']}/figure.svg").text.startswith("<svg")


def test_a_model_without_an_audit_has_no_verdicts(client):
    assert api(client, "GET", "/verdicts") == {"overall": None, "questions": [], "heads": {}}


def test_the_verdicts_are_those_of_this_very_model(past):
    found = api(past, "GET", "/verdicts")
    finished = read_audit(saved_models.audited())
    (part,) = finished.parts
    assert found["overall"]["answer"] == finished.answers[part.name].word
    assert len(found["questions"]) == len(part.verdicts)
    assert [len(layer) for layer in found["heads"]["self"]] == [2, 2]


def test_what_is_lost_without_each_head_stands_beside_it():
    result = whence.run(
        "representation_erasure", str(saved_models.bert()), str(saved_models.labelled()), what="heads", limit=24
    )
    sites = list(whence.load(saved_models.bert()).sites)
    found = head_findings([result], [{"id": "self", "sites": sites, "heads": [2, 2]}])
    for layer, site in enumerate(sites):
        for head in range(2):
            rows = result.table
            (row,) = rows[(rows["place"] == site) & (rows["part"] == head) & (rows["label"] == "")].to_dict("records")
            shown = found["self"][layer][head]
            assert (shown["effect"], shown["low"], shown["high"]) == (row["lost"], row["lost_low"], row["lost_high"])
            effect = Effect("k", "l", row["lost"], row["lost_low"], row["lost_high"], "nats", 0.05, row["texts"])
            assert shown["verdict"] == effect.judge("y", "n", "u")[0]


def test_an_audit_is_started_stopped_and_resumed(tmp_path):
    opening = Opening(model=str(saved_models.bert()), data=str(saved_models.labelled()), folder=tmp_path)
    request = {"budget": 0.05, "force": True, "skip": ["controls", "faithfulness", "identifiability"]}
    with TestClient(secured(application(open_workbench(opening)), ACCESS), base_url="http://localhost") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        started = api(client, "POST", "/audits", json=request)
        again = client.post("/api/v1/audits", json=request)
        assert again.status_code == 409
        assert "under way" in again.json()["error"]
        while not any(one["state"] == "running" for one in api(client, "GET", "/audits")["audits"]):
            time.sleep(0.05)
        api(client, "DELETE", f"/jobs/{started['job']}")
        assert events(client, started["job"])[-1][0] == "cancelled"
        (row,) = api(client, "GET", "/audits")["audits"]
        assert row["state"] == "interrupted"
        resumed = api(client, "POST", "/audits", json=request)
        assert resumed["name"] == started["name"]
        told = events(client, resumed["job"])
        assert told[-1][0] == "result", told[-1]
        plans = [data["plan"] for kind, data in told if kind == "progress" and data["plan"]]
        assert {"experiment", "why", "seconds"} <= set(plans[-1][0])
        (row,) = api(client, "GET", "/audits")["audits"]
        assert row["state"] == "finished"
        assert client.get(f"/api/v1/audits/{row['name']}/report").status_code == 200
        settings = json.loads((tmp_path / row["name"] / "audit.json").read_text())["settings"]
        assert settings["budget"] == 0.05


def test_an_audit_needs_a_corpus(tmp_path):
    own = open_workbench(Opening(model=str(saved_models.additive()), folder=tmp_path))
    with TestClient(secured(application(own), ACCESS), base_url="http://localhost") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        for method, path, body in (("POST", "/audits", {}), ("GET", "/examples", None), ("POST", "/find", FIND)):
            answer = client.request(method, f"/api/v1{path}", json=body)
            assert answer.status_code == 400
            assert "no corpus is open" in answer.json()["error"]
        assert api(client, "GET", "/info")["data"] is None


FIND = {"stack": "pool", "layer": 0, "head": 0}
