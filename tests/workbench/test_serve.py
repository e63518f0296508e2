"""`whence serve` as a user runs it: a process, an address, Ctrl-C; and what it refuses."""

import asyncio
import re
import signal
import socket
import subprocess
import sys
import threading
from http.client import HTTPConnection
from types import SimpleNamespace

import pytest

from support import saved_models
from whence.cli import main
from whence.core.errors import BadConfig
from whence.workbench.routes.shared import run
from whence.workbench.server import bound_socket
from whence.workbench.worker import Cancelled, Worker

LONG = 60


def test_it_serves_until_it_is_interrupted(tmp_path):
    command = [sys.executable, "-m", "whence", "serve", str(saved_models.additive()), "--port", "0"]
    process = subprocess.Popen(
        [*command, "--folder", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        found = next(m for line in process.stdout if (m := re.search(r"http://127.0.0.1:(\d+)/\?token=(\S+)", line)))
        port, token = int(found[1]), found[2]
        assert len(token) >= 32
        asked = HTTPConnection("127.0.0.1", port, timeout=LONG)
        for headers, status in (
            ({}, 401),
            ({"Authorization": f"Bearer {token}"}, 200),
            ({"Host": "evil.example"}, 400),
        ):
            asked.request("GET", "/api/v1/info", headers=headers)
            answer = asked.getresponse()
            body = answer.read()
            assert (answer.status, bool(body)) == (status, True)
        asked.request("GET", f"/?token={token}")
        answer = asked.getresponse()
        answer.read()
        assert (answer.status, answer.headers["location"]) == (303, "/")
        assert f"whence-token-{port}=" in answer.headers["set-cookie"]
        asked.close()
    finally:
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=LONG)
    assert process.returncode in (0, 130)
    assert "Traceback" not in complaints


def test_it_refuses_a_host_for_others_before_anything_is_loaded(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "no-such-model", "--host", "0.0.0.0"])
    assert ended.value.code == 2
    assert "--token" in capsys.readouterr().err


def test_a_port_that_is_taken_gets_a_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(BadConfig, match="choose another"):
            bound_socket("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(BadConfig, match="no address"):
        bound_socket("no such host", None)


def test_what_a_client_that_has_gone_asked_for_never_begins():
    worker, gate, begun = Worker("test"), threading.Event(), []

    async def is_disconnected():
        return True

    worker.ask(lambda _: gate.wait(LONG))
    gone, served = SimpleNamespace(is_disconnected=is_disconnected), SimpleNamespace(worker=worker)
    with pytest.raises(Cancelled):
        asyncio.run(run(gone, served, lambda _: begun.append(1)))
    gate.set()
    worker.ask(lambda _: None).future.result(LONG)
    assert begun == []
    worker.close()
