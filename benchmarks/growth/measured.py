"""Measuring one explainer or experiment at several sizes, and keeping what was seen."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from benchmarks.growth.cases import Case
from benchmarks.growth.counted import Run, cost, growth

LIMITS = {"examples": 1.1, "length": 2.1, "layers": 1.1}
GRID = np.arange(0.0, 3.55, 0.05)
NEGLIGIBLE = 0.1  # what the largest size takes more than the smallest: it does not grow
ROUNDS = 6
LONG = 1.0  # seconds of all rounds, after which no other is made
FOLDER = Path(__file__).parent / "measured"


@dataclass(frozen=True)
class Along:
    """What runs cost at each size of an axis."""

    sizes: tuple[int, ...]
    work: tuple[float, ...]
    seconds: tuple[float, ...]
    memory: tuple[float, ...]

    @property
    def exponents(self) -> tuple[float, float, float]:
        """Of work, time and memory."""
        return growth(self.work), exponent(self.sizes, self.seconds), exponent(self.sizes, self.memory)


Measured = dict[str, Along]  # by axis


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """k of a + b · size^k, a and b not negative, with the least relative errors; the smallest k among equals."""
    relative = np.asarray(values, float)
    if relative.max() <= (1 + NEGLIGIBLE) * relative.min():
        return 0.0
    errors = []
    for k in GRID:
        terms = np.stack([np.ones(len(sizes)), (np.asarray(sizes, float) / max(sizes)) ** k], axis=1)
        errors.append(nnls(terms / relative[:, None], np.ones(len(sizes)))[1])
    return float(GRID[int(np.argmin(np.round(errors, 6)))])


def kept(name: str) -> Path:
    """The file that keeps what was measured."""
    return FOLDER / f"{name.replace(' ', '-')}.json"


def measure(name: str, case: Case) -> Measured:
    """The costs along every axis of a case: kept ones of these sizes, or measured now and kept."""
    file, found = kept(name), read(name)
    for axis, sizes in case.sizes.items():
        if axis not in found or found[axis].sizes != sizes:
            found[axis] = along(case, axis)
            exponents = [round(one, 2) for one in found[axis].exponents]
            print(name, axis, exponents, file=sys.stderr, flush=True)
            FOLDER.mkdir(exist_ok=True)
            file.write_text(json.dumps({key: asdict(one) for key, one in found.items()}, indent=1) + "\n")
    return {axis: found[axis] for axis in case.sizes}


def read(name: str) -> Measured:
    """What is kept of a case."""
    known = json.loads(kept(name).read_text()) if kept(name).exists() else {}
    return {axis: Along(**{key: tuple(values) for key, values in one.items()}) for axis, one in known.items()}


def along(case: Case, axis: str) -> Along:
    """The costs at every size of one axis."""
    asked = [{**case.fixed, axis: size} for size in case.sizes[axis]]
    runs = [case.make(one["examples"], one["length"], one["layers"]) for one in asked]
    rounds = [[seconds(run) for run in runs]]
    costs = [cost(run) for run in runs]
    while len(rounds) < ROUNDS and len(rounds) * sum(rounds[0]) < LONG:
        rounds.append([seconds(run) for run in runs])
    least = tuple(min(of_size) for of_size in zip(*rounds, strict=True))
    return Along(case.sizes[axis], tuple(one.work for one in costs), least, tuple(one.memory for one in costs))


def seconds(run: Run) -> float:
    """The processor's time for a run."""
    start = time.process_time()
    run()
    return time.process_time() - start
