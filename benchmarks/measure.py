"""Measuring: times interleaved, memory in a process of its own."""

import ctypes
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import bootstrap

ROUNDS = 7  # at least
SECONDS = 60.0  # at least, so that fast variants get more rounds
LONGEST = 240.0  # seconds, after which rounds end though they have settled nothing


@dataclass(frozen=True)
class Times:
    """The seconds that each variant took, round by round."""

    seconds: dict[str, list[float]]

    def median(self, name: str) -> float:
        """The median seconds of a variant."""
        return statistics.median(self.seconds[name])

    def ratio(self, name: str, base: str) -> float:
        """How many times the base's time a variant took: the median over the rounds, each against its own."""
        return statistics.median(self._ratios(name, base))

    def interval(self, name: str, base: str) -> tuple[float, float]:
        """Where that median would lie in 95 of 100 such measurements: the percentile bootstrap over the rounds."""
        found = bootstrap((self._ratios(name, base),), np.median, method="percentile", rng=0).confidence_interval
        return float(found.low), float(found.high)

    def _ratios(self, name: str, base: str) -> list[float]:
        return [a / b for a, b in zip(self.seconds[name], self.seconds[base], strict=True)]


def interleaved(
    variants: Mapping[str, Callable[[], object]],
    rounds: int = ROUNDS,
    settled: Callable[[Times], bool] = lambda _: True,
) -> Times:
    """Run the variants in turn, round after round, so that a slow moment meets all alike.

    Each round has an order of its own, and each run that is timed follows one of the same variant that is not, so that
    it finds memory as it leaves it itself and does not pay for its neighbour's. After the least number of rounds and
    seconds more follow until what is asked is `settled`, or four minutes are over.
    """
    order, shuffle = list(variants), random.Random(0).shuffle
    for run in variants.values():
        run()
    times = Times({name: [] for name in variants})
    start = time.perf_counter()
    while not _enough(times, rounds, time.perf_counter() - start, settled):
        shuffle(order)
        for name in order:
            variants[name]()
            times.seconds[name].append(_seconds(variants[name]))
    return times


def _enough(times: Times, rounds: int, spent: float, settled: Callable[[Times], bool]) -> bool:
    if min(map(len, times.seconds.values())) < rounds or spent < SECONDS:
        return False
    return spent > LONGEST or settled(times)


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def peak_above_start(run: Callable[[], object]) -> float:
    """How many bytes a run takes at its highest above what the process held before (Linux)."""
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # what was freed before would be taken again unseen
    Path("/proc/self/clear_refs").write_text("5")  # start counting the highest anew
    before = _kilobytes("VmRSS")
    run()
    return 1024 * (_kilobytes("VmHWM") - before)


def _kilobytes(field: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0])


def in_own_process(module: str, *arguments: str) -> float:
    """The number that a benchmark module prints when run alone: memory that another run held is not counted.

    There every block of a MB or more goes back to the system when it is freed, so that what is measured is what was
    held, and not what the allocator kept for later.
    """
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": str(2**20)},
    )
    if done.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments)} failed: {done.stderr[-2000:]}")
    return float(json.loads(done.stdout.splitlines()[-1]))


def table(header: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows]]
    return "\n".join(lines)


def verdict(ratio: float, limit: float, at_least: bool = False) -> str:
    """A ratio with the limit it was set, and whether it kept to it."""
    kept = ratio >= limit if at_least else ratio <= limit
    return f"{ratio:.3g}× ({'≥' if at_least else '≤'} {limit:g}: {'yes' if kept else 'NO'})"
