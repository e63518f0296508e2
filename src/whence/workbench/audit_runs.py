"""The process of an audit, and what it tells, as a job of the workbench."""

import json
import subprocess
import sys
import threading
from typing import Any

from whence.auditing.settings import Settings
from whence.results.store import Store
from whence.workbench.bench import Served
from whence.workbench.jobs import Job


def run_process(settings: Settings, name: str, served: Served) -> Job:
    """Start the process of an audit; what it tells becomes the events of a job, which nobody needs to watch."""
    process = subprocess.Popen(
        [sys.executable, "-m", "whence.workbench.audit_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    process.stdin.write(settings.model_dump_json())
    process.stdin.close()
    stopped = threading.Event()

    def stop() -> None:
        stopped.set()
        process.terminate()

    job = Job("audit", {"name": name, "model": served.id, "budget": settings.minutes}, stop, tied=False)
    threading.Thread(target=_follow, args=(process, settings, job, stopped), name=f"audit {name}", daemon=True).start()
    return job


def _follow(process: "subprocess.Popen[str]", settings: Settings, job: Job, stopped: threading.Event) -> None:
    """Turn the lines of the process into events."""
    assert process.stdout is not None
    complaints: list[str] = []
    outcome: dict[str, Any] = {}
    with process:  # closes its pipes
        reader = threading.Thread(target=lambda: complaints.extend(process.stderr or ()), daemon=True)
        reader.start()
        for line in process.stdout:
            event = json.loads(line)
            if event.pop("kind") == "message":
                job.tell("message", **event)
                job.tell("progress", **progress(settings, event["message"]))
            else:
                outcome = event
        reader.join()
    if stopped.is_set():
        job.tell("cancelled", name=job.about["name"])
    elif process.returncode == 0:
        job.tell("result", name=job.about["name"], **outcome)
    else:
        last = complaints[-1].strip() if complaints else f"it ended with code {process.returncode}"
        job.tell("error", error=outcome.get("error", f"the audit failed: {last}"))


def progress(settings: Settings, words: str) -> dict[str, Any]:
    """How many steps of the plan are done, and the plan itself, once it is made."""
    steps = []
    for path in sorted((settings.out / "plans").glob("*.json")):
        steps += json.loads(path.read_text(encoding="utf-8"))["steps"]
    plan = [{"experiment": s["experiment"], "why": s["why"], "seconds": s["seconds"]} for s in steps]
    done = sum(1 for _ in (Store(settings.out).root / "results").glob("*/[0-9a-f]*"))
    return {"stage": "audit", "done": min(done, len(plan)), "total": len(plan), "message": words, "plan": plan}
