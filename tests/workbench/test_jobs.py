"""Long work and many clients: queues, cancelling, progress, and answers that do not depend on who else asks."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from starlette.testclient import TestClient

from support import saved_models
from whence.workbench import jobs as jobs_module
from whence.workbench.access import secured
from whence.workbench.application import application
from whence.workbench.jobs import Job, Jobs, Stopped, stepwise
from whence.workbench.opening import Opening, open_workbench
from whence.workbench.worker import Busy, Cancelled, Worker
from workbench.conftest import ACCESS, TOKEN, api

LONG = 30.0  # seconds, after which a test that waits has failed


def events(client, job):
    """All events of a job, until it ends."""
    found = []
    with client.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
        kind = ""
        for line in stream.iter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((kind, json.loads(line.removeprefix("data: "))))
    return found


def test_a_worker_does_one_thing_at_a_time_and_long_work_in_between():
    worker, order, inside = Worker("test"), [], []

    def step(name):
        inside.append(name)
        assert len(inside) == 1
        order.append(name)
        inside.remove(name)

    def asked(number, ticket):
        step(f"asked{number}")

    def long(name):
        for number in range(3):
            step(f"{name}{number}")
            yield

    gate = threading.Event()
    first = worker.ask(lambda _: gate.wait(LONG))
    worker.steps(long("a"))
    worker.steps(long("b"))
    tickets = [worker.ask(partial(asked, n)) for n in range(4)]
    gate.set()
    first.future.result(LONG)
    for ticket in tickets:
        ticket.future.result(LONG)
    worker.ask(lambda _: None).future.result(LONG)
    while len(order) < 10:
        time.sleep(0.01)
    worker.close()
    assert [name for name in order if name.startswith("asked")] == ["asked0", "asked1", "asked2", "asked3"]
    assert [name for name in order if name.startswith("a") and len(name) == 2] == ["a0", "a1", "a2"]
    assert order.index("asked1") < order.index("a2")  # nobody waited for the end of the long work


def test_a_full_queue_refuses_and_what_nobody_wants_never_begins():
    worker, gate, begun = Worker("test", waiting=2), threading.Event(), []
    running = worker.ask(lambda _: gate.wait(LONG))
    while worker._asked:
        time.sleep(0.01)
    waiting = [worker.ask(lambda _: begun.append(1)) for _ in range(2)]
    with pytest.raises(Busy, match="2 requests are waiting"):
        worker.ask(lambda _: None)
    waiting[0].cancel()
    gate.set()
    running.future.result(LONG)
    with pytest.raises(Cancelled):
        waiting[0].future.result(LONG)
    waiting[1].future.result(LONG)
    assert begun == [1]
    worker.close()


def test_work_that_fails_harms_nothing_else():
    worker = Worker("test")

    def fails(ticket):
        raise ZeroDivisionError("as it must")

    with pytest.raises(ZeroDivisionError):
        worker.ask(fails).future.result(LONG)
    assert worker.ask(lambda _: 7).future.result(LONG) == 7
    worker.close()


def test_a_job_tells_its_progress_its_error_and_its_end(caplog):
    def good():
        yield {"done": 1}
        yield {"result": {"found": 2}}

    def broken():
        yield {"done": 1}
        raise ZeroDivisionError("by zero")

    told = {}
    for work in (good, broken):
        job = Job(work.__name__, {}, lambda: None)
        list(stepwise(job, Stopped(), work()))
        told[work.__name__] = [(event.kind, event.data) for event in job.events]
    assert told["good"] == [("progress", {"done": 1}), ("result", {"found": 2})]
    assert told["broken"] == [("progress", {"done": 1}), ("error", {"error": "ZeroDivisionError: by zero"})]
    assert "by zero" in caplog.text


def test_a_job_that_nobody_watches_ends(monkeypatch):
    monkeypatch.setattr(jobs_module, "UNWATCHED", -1.0)

    def endless():
        while True:
            yield {"done": 0}

    tied, free = Job("tied", {}, lambda: None), Job("free", {}, lambda: None, tied=False)
    list(stepwise(tied, Stopped(), endless()))
    assert tied.events[-1].kind == "cancelled"
    steps = stepwise(free, stopped := Stopped(), endless())
    for _ in range(10):
        next(steps)
    assert not free.finished
    stopped.set()
    list(steps)
    assert free.events[-1].kind == "cancelled"


def test_old_jobs_are_forgotten(monkeypatch):
    monkeypatch.setattr(jobs_module, "KEPT", 2)
    every = Jobs()
    made = [every.add(Job(str(n), {}, lambda: None)) for n in range(5)]
    for job in made[:4]:
        job.tell("result")
    every.add(Job("last", {}, lambda: None))
    assert [job.name for job in every.all()] == ["2", "3", "4", "last"]


def test_many_clients_get_what_one_gets(bench):
    """Requests at the same time, of texts, changes and scores, are answered as they are one after another."""
    texts = [f"a {word} film and a {other} story" for word in ("great", "bad", "fine") for other in ("long", "dull")]
    override = [{"stack": "self", "override": "permuted", "options": {"seed": 1}}]

    def ask(client, text):
        seen = api(client, "POST", "/look", json={"text": text})
        changed = api(
            client, "POST", "/change", json={"id": seen["id"], "edits": override, "methods": ["raw_attention"]}
        )
        scores = api(client, "POST", "/scores", json={"id": seen["id"], "methods": ["gradient_x_input"]})
        picture = client.get(f"/api/v1/weights/{changed['after']['id']}/self/1/0?dtype=float16").content
        return seen, changed, scores, picture

    def fresh():
        opening = Opening(model=bench.model("").subject.name, folder=bench.folder)
        return open_workbench(opening)

    alone, together = fresh(), fresh()
    together.looks.held = 1  # weights are dropped at once, and computed again while others ask
    with TestClient(secured(application(alone), ACCESS), base_url="http://localhost") as one:
        one.headers["Authorization"] = f"Bearer {TOKEN}"
        serial = [ask(one, text) for text in texts]
    with TestClient(secured(application(together), ACCESS), base_url="http://localhost") as many:
        many.headers["Authorization"] = f"Bearer {TOKEN}"
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda text: ask(many, text), texts * 3))
    for number, (seen, changed, scores, picture) in enumerate(answers):
        assert seen == serial[number % len(texts)][0]
        assert changed == serial[number % len(texts)][1]
        assert scores == serial[number % len(texts)][2]
        assert picture == serial[number % len(texts)][3]
    subject = together.model("").subject
    assert not any(getattr(module, "attended", []) for module in subject.model.modules())  # nothing is left open
    assert not any(thread.name.startswith("whence ") and not thread.daemon for thread in threading.enumerate())


def test_a_full_queue_is_answered_with_429(bench, tmp_path):
    own = open_workbench(Opening(model=bench.model("").subject.name, folder=tmp_path, waiting=1))
    gate, served = threading.Event(), own.model("")
    with TestClient(secured(application(own), ACCESS), base_url="http://localhost") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        served.worker.ask(lambda _: gate.wait(LONG))
        while served.worker._asked:
            time.sleep(0.01)
        waiting = served.worker.ask(lambda _: None)
        answer = client.post("/api/v1/look", json={"text": "a film"})
        gate.set()
        assert answer.status_code == 429
        assert answer.headers["retry-after"] == "1"
        assert "waiting" in answer.json()["error"]
        waiting.future.result(LONG)
        assert client.post("/api/v1/look", json={"text": "a film"}).status_code == 200


@pytest.fixture(scope="module")
def adversary(client):
    seen = api(client, "POST", "/look", json={"text": "the film was truly great"})
    job = api(client, "POST", "/adversary", json={"id": seen["id"], "epsilon": 0.05, "steps": 30, "restarts": 2})["job"]
    return seen, events(client, job)


def test_an_adversary_keeps_the_prediction_and_is_imposed_as_an_edit(client, adversary):
    seen, told = adversary
    kinds = [kind for kind, _ in told]
    assert kinds[-1] == "result"
    assert kinds.count("progress") > 5
    done = [data["done"] for kind, data in told if kind == "progress"]
    assert done == sorted(done)
    found = told[-1][1]
    assert found["met"]
    assert 0 < found["jsd"] <= 0.6932
    assert found["tvd"] <= 0.05
    answer = api(client, "POST", "/change", json={"id": seen["id"], "edits": found["edits"]})
    assert answer["tvd"] == pytest.approx(found["tvd"], abs=1e-4)
    before, after = answer["before"]["prediction"], answer["after"]["prediction"]
    assert before["predicted"] == after["predicted"]


def test_an_adversary_is_what_the_experiment_finds(bench, adversary):
    from whence.core.seeds import stream
    from whence.data.examples import Example
    from whence.evaluation.exclusivity.attention_importance import importance_shares
    from whence.evaluation.exclusivity.attention_search import search_within_limits
    from whence.evaluation.exclusivity.editable_attention import EditableAttention, single_site
    from whence.experiments.instance_adversary import Config

    subject = bench.model("").subject
    given = {"max_output_change": (0.05,), "steps": 30, "restarts": 2, "probabilities": "model"}
    config = Config(model="m", data="d", **given)
    batch = subject.encode([Example("the film was truly great")])
    there = EditableAttention(subject, batch, single_site(subject, "auto"), "read", False, "free")
    there = there.weighted(importance_shares(there))
    (own,) = search_within_limits(there, config, 30, [stream(0, "adversary 0")])
    assert adversary[1][-1][1]["jsd"] == pytest.approx(float(own.jsd[0]), abs=1e-6)


def test_a_search_is_stopped(client):
    seen = api(client, "POST", "/look", json={"text": "the film was truly bad"})
    job = api(client, "POST", "/adversary", json={"id": seen["id"], "steps": 2000, "restarts": 5})["job"]
    api(client, "DELETE", f"/jobs/{job}")
    assert events(client, job)[-1][0] == "cancelled"
    assert job in [one["job"] for one in api(client, "GET", "/jobs")["jobs"]]
    assert client.get("/api/v1/jobs/nothing/events").status_code == 404


def test_a_translator_has_no_adversary(tmp_path):
    own = open_workbench(Opening(model=str(saved_models.translator()), folder=tmp_path))
    with TestClient(secured(application(own), ACCESS), base_url="http://localhost") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        seen = api(client, "POST", "/look", json={"text": "a film", "target_text": "a fine film"})
        job = api(client, "POST", "/adversary", json={"id": seen["id"]})["job"]
        kind, data = events(client, job)[-1]
        assert kind == "error"
        assert "one prediction per text" in data["error"]
