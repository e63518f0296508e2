"""Many people at one workbench: 50 clients at once for two minutes, with texts, heads, scores and changes mixed.

The server is `whence serve` with MiniLM (6 layers of 12 heads, its real weights, a classifier that is not trained) in a
process of its own, on loopback. Every client asks again as soon as it is answered; after a 429 it waits as long as it
is told. Each answer is compared with the one that a single client got before: numbers within 1e-5, pictures byte for
byte. Memory is that of the server's process after a warm-up of all requests, and three seconds after the end; its
threads and open files, too. `python -m benchmarks.workbench_load --seconds 10` makes it short.
"""

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from httpx2 import Client

from benchmarks.measure import table

CLIENTS, SECONDS, TEXTS = 50, 120.0, 12
WORDS = "the film was a great slow story and its end fell flat while every actor shone in a dull bright scene"
EDITS: tuple[dict[str, Any], ...] = (
    {"override": "uniform"},
    {"override": "permuted", "options": {"seed": 1}, "layers": [3]},
    {"override": "temperature", "options": {"degrees": 2.0}, "heads": [0, 5]},
    {"override": "without", "options": {"tokens": [2]}},
)
CLOSE = 1e-5
Asked = tuple[str, str, str, Any]  # kind, method, path, body


@dataclass
class Seen:
    """What clients met: seconds of each answer by kind, wrong answers, and how often the queue was full."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    full: int = 0
    lock: Any = field(default_factory=threading.Lock)


def texts() -> list[str]:
    """Sentences of 8 to 40 words."""
    random = Random(0)
    return [" ".join(random.choices(WORDS.split(), k=random.randint(8, 40))) for _ in range(TEXTS)]


def save_minilm(folder: Path) -> Path:
    """MiniLM with a classifier, saved as a user would save it."""
    from transformers import AutoTokenizer

    from benchmarks.models import MINILM, minilm

    minilm().save_pretrained(folder)
    AutoTokenizer.from_pretrained(MINILM).save_pretrained(folder)
    return folder


class Server:
    """`whence serve` in a process of its own."""

    def __init__(self, model: Path, folder: Path) -> None:
        self.token = secrets.token_urlsafe(16)
        given = ["--port", "0", "--token", self.token, "--folder", str(folder)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "whence", "serve", str(model), *given], stdout=subprocess.PIPE, text=True
        )
        lines = (re.search(r"http://[^/]+", line) for line in self.process.stdout or ())
        self.address = next(found[0] for found in lines if found)

    def client(self) -> Client:
        """A client that knows the token."""
        return Client(base_url=self.address, headers={"Authorization": f"Bearer {self.token}"}, timeout=300.0)

    def status(self) -> dict[str, int]:
        """Memory in kB, threads, and open files of the process."""
        folder = Path(f"/proc/{self.process.pid}")
        lines = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
        numbers = {name: int(lines[name].split()[0]) for name in ("VmRSS", "VmHWM", "Threads")}
        return {**numbers, "files": len(list((folder / "fd").iterdir()))}

    def close(self) -> int:
        """End it as Ctrl-C does; its exit code."""
        self.process.send_signal(2)
        return self.process.wait(timeout=60)


def requests(ids: dict[str, str]) -> list[Asked]:
    """What clients ask about each text, by the id of its look."""
    asked: list[Asked] = []
    for text, name in ids.items():
        asked.append(("look", "POST", "/look", {"text": text}))
        asked += [("head", "GET", f"/weights/{name}/self/{layer}/{layer}?dtype=uint8", None) for layer in (0, 3, 5)]
        asked.append(("thumbnails", "GET", f"/thumbnails/{name}/self?size=24", None))
        asked.append(("scores", "POST", "/scores", {"id": name, "methods": ["raw_attention", "rollout"]}))
        asked += [("change", "POST", "/change", {"id": name, "edits": [{"stack": "self", **one}]}) for one in EDITS]
    return asked


def ask(client: Client, method: str, path: str, body: Any) -> Any:
    """The answer: JSON, or bytes; None if the queue was full."""
    answer = client.request(method, f"/api/v1{path}", json=body)
    if answer.status_code == 429:
        time.sleep(float(answer.headers["retry-after"]))
        return None
    answer.raise_for_status()
    return answer.json() if answer.headers["content-type"].startswith("application/json") else answer.content


def same(one: Any, other: Any) -> bool:
    """Whether two answers are the same, numbers within rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= CLOSE
    return bool(one == other)


def use(server: Server, number: int, asked: list[Asked], expected: list[Any], end: float, seen: Seen) -> None:
    """One client until the end."""
    random = Random(number)
    with server.client() as client:
        while time.monotonic() < end:
            which = random.randrange(len(asked))
            begin = time.monotonic()
            answer = ask(client, *asked[which][1:])
            taken = time.monotonic() - begin
            with seen.lock:
                if answer is None:
                    seen.full += 1
                    continue
                seen.seconds.setdefault(asked[which][0], []).append(taken)
                if not same(answer, expected[which]):
                    seen.wrong.append(" ".join(asked[which][:3]))


def measure(seconds: float, clients: int) -> str:
    """Run the server and the clients; tables of latency and memory."""
    with TemporaryDirectory() as place:
        server = Server(save_minilm(Path(place) / "minilm"), Path(place) / "audits")
        try:
            return _measured(server, seconds, clients)
        finally:
            if server.process.poll() is None:
                server.close()


def _measured(server: Server, seconds: float, clients: int) -> str:
    with server.client() as alone:
        ids = {text: alone.post("/api/v1/look", json={"text": text}).json()["id"] for text in texts()}
        asked = requests(ids)
        expected = [ask(alone, *one[1:]) for one in asked]  # also the warm-up: everything was computed once
    before, seen, busy = server.status(), Seen(), os.getloadavg()[0]
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(lambda number: use(server, number, asked, expected, end, seen), range(clients)))
    time.sleep(3)
    after, code = server.status(), server.close()
    every = [one for found in seen.seconds.values() for one in found]
    told = (
        f"{clients} clients for {seconds:g} s: {len(every)} answers, {len(seen.wrong)} wrong, {seen.full} times the"
        f" queue was full (429). Load of the machine before: {busy:.1f} on {os.cpu_count()} cores. The server"
        f" ended with code {code}."
    )
    told += f" WRONG: {json.dumps(seen.wrong[:10])}" if seen.wrong else ""
    rows = [[kind, *_quantiles(found)] for kind, found in (*sorted(seen.seconds.items()), ("all", every))]
    latency = table(["request", "answers", "median", "p95", "largest"], rows)
    held = table(["server", "after the warm-up", "3 s after the end"], _memory(before, after))
    return f"{told}\n\n{latency}\n\n{held}"


def _quantiles(seconds: list[float]) -> list[str]:
    median, high = np.quantile(seconds, [0.5, 0.95])
    return [str(len(seconds)), f"{1000 * median:.0f} ms", f"{1000 * high:.0f} ms", f"{1000 * max(seconds):.0f} ms"]


def _memory(before: dict[str, int], after: dict[str, int]) -> list[list[str]]:
    names = {"VmRSS": "memory", "VmHWM": "memory at its highest", "Threads": "threads", "files": "open files"}
    shown = {name: (lambda n: f"{n / 1024:.0f} MB") if name.startswith("Vm") else str for name in names}
    return [[words, shown[name](before[name]), shown[name](after[name])] for name, words in names.items()]


def report() -> str:
    return measure(SECONDS, CLIENTS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    given = parser.parse_args()
    print(measure(given.seconds, given.clients))
