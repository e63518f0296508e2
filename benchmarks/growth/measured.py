"""Measuring one explainer or experiment at several sizes, and keeping what was seen."""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.growth.cases import Case
from benchmarks.growth.counted import cost, growth, slope

LIMITS = {"examples": 1.1, "length": 2.1, "layers": 1.1}
HIDDEN = 1 / 3  # of memory, of which Python's own objects are a part, and grow in steps
FOLDER = Path(__file__).parent / "measured"


@dataclass(frozen=True)
class Along:
    """What runs cost at each size of an axis."""

    sizes: tuple[int, ...]
    work: tuple[float, ...]
    seconds: tuple[float, ...]
    memory: tuple[float, ...]

    @property
    def exponents(self) -> tuple[float, float]:
        """Of work and memory, which have limits."""
        return growth(self.work), growth(self.memory, HIDDEN)

    @property
    def time(self) -> float:
        """The slope of the processor's time at the last doubling."""
        return slope(self.seconds)


Measured = dict[str, Along]  # by axis


def kept(name: str) -> Path:
    """The file that keeps what was measured."""
    return FOLDER / f"{name.replace(' ', '-')}.json"


def measure(name: str, case: Case) -> Measured:
    """The costs along every axis of a case: kept ones of these sizes, or measured now and kept."""
    file, found = kept(name), read(name)
    for axis, sizes in case.sizes.items():
        if axis not in found or found[axis].sizes != sizes:
            found[axis] = along(case, axis)
            print(name, axis, [round(one, 2) for one in found[axis].exponents], file=sys.stderr, flush=True)
            FOLDER.mkdir(exist_ok=True)
            file.write_text(json.dumps({key: asdict(one) for key, one in found.items()}, indent=1) + "\n")
    return {axis: found[axis] for axis in case.sizes}


def read(name: str) -> Measured:
    """What is kept of a case."""
    known = json.loads(kept(name).read_text()) if kept(name).exists() else {}
    return {axis: Along(**{key: tuple(values) for key, values in one.items()}) for axis, one in known.items()}


def along(case: Case, axis: str) -> Along:
    """The costs at every size of one axis, after a run of the smallest: what is loaded once is nobody's cost."""
    with case.prepared(axis, case.sizes[axis][0]) as run:
        run()
    costs = []
    for size in case.sizes[axis]:
        with case.prepared(axis, size) as run:
            costs.append(cost(run))
    work, seconds, memory = zip(*costs, strict=True)
    return Along(case.sizes[axis], work, seconds, memory)
