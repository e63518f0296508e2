"""How work and memory grow with the number of examples, the length of texts, and the depth of the model.

Each explainer and experiment runs on a tiny model (width 16, two heads) at three sizes of one axis, each twice the one
before, the others fixed. *Work* is counted: the multiplications and elements of every operation on tensors, also during
backward. It stands for time and is the same on every machine. *Memory* is the most that tensors, arrays and Python's
objects made during a run hold at once. The exponent is log₂ of how much more the last doubling adds than the one
before, so that what is the same at any size drops out; of memory that becomes less than half as large again by a
doubling, it is the slope. Limits: 1.1 in examples and layers, 2.1 in length, where a model's own attention is
quadratic. Behind them, without a limit, the slope of the processor's *time* at the last doubling: it also has what is
not done in tensors, and the noise of the machine.

What was measured is kept in benchmarks/growth/measured. `python -m benchmarks.growth` measures what is missing there,
and with a name (`"explainer lat"`) that again. `make test-all` counts everything anew and compares it with the limits.
"""

import warnings

import torch

from benchmarks.growth.cases import Sizes, cases
from benchmarks.growth.measured import LIMITS, Measured, measure, read
from benchmarks.measure import table

# where an exponent is above its limit for a reason that lies in the definition, by name and axis
REASONS: dict[tuple[str, str], str] = {
    ("experiment layers", "layers"): (
        "the table has a score for each of the 2L - 1 sets of layers that are shuffled from the bottom up or from the"
        " top down, and each set needs passes of its own through L layers. Passes that begin alike could share their"
        " beginning; that would halve the work, to L² layers for a shuffle, and leave the exponent at 2."
    ),
    ("experiment representation_erasure", "layers"): (
        "each of the L · H heads is erased by itself. A pass runs again only from the erased head on, so that"
        " L² · H / 2 layers run, which is the least: from there on, every erasure is a pass of its own."
    ),
}


def cell(found: float, limit: float) -> str:
    """An exponent, marked where it is above its limit."""
    return f"{found:.2f}" if found <= limit + 1e-9 else f"**{found:.2f}**"


def row(name: str, measured: Measured) -> list[str]:
    """What was measured of one explainer or experiment along every axis."""
    cells = []
    for axis, limit in LIMITS.items():
        found = measured.get(axis)
        judged = [] if found is None else [cell(one, limit) for one in found.exponents]
        cells.append("" if found is None else f"{' · '.join(judged)} · {found.time:.1f}")
    return [name, *cells]


def report() -> str:
    """The table of exponents, from what is kept, and what is above its limit or missing."""
    found = {name: kept_at(case.sizes, read(name)) for name, case in cases().items()}
    header = ["work · memory · time", *(f"{axis} (≤ {limit:g})" for axis, limit in LIMITS.items())]
    lines = [table(header, [row(name, measured) for name, measured in found.items() if measured])]
    above = [
        f"{name}, {axis} ({' · '.join(f'{one:.2f}' for one in along.exponents)})"
        for name, measured in found.items()
        for axis, along in measured.items()
        if max(along.exponents) > LIMITS[axis] + 1e-9
    ]
    missing = [f"{name}, {axis}" for name, case in cases().items() for axis in case.sizes if axis not in found[name]]
    lines.append(f"Above the limit: {'; '.join(above) or 'none'}.")
    lines += [f"Not measured: {'; '.join(missing)}."] if missing else []
    lines += [f"*{name}, {axis}*: {why}" for (name, axis), why in REASONS.items()]
    return "\n\n".join(lines)


def kept_at(sizes: Sizes, measured: Measured) -> Measured:
    """What was measured at these sizes."""
    return {axis: measured[axis] for axis, asked in sizes.items() if axis in measured and measured[axis].sizes == asked}


def measure_missing() -> None:
    """Measure everything that is not kept."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with torch.enable_grad():
        for name, case in cases().items():
            measure(name, case)
