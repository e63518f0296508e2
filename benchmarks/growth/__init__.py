"""How work, time and memory grow with the number of examples, the length of texts, and the depth of the model.

Each explainer and experiment runs on a tiny model (width 16, two heads) at four sizes of one axis, each twice the one
before, the others fixed. *Work* is counted: the multiplications and elements of every operation on tensors, also during
backward. *Time* is that of the processor, one thread, the least of several rounds over all sizes, after a run that is
not counted. *Memory* is the most that tensors and arrays made during a run hold at once. Limits: an exponent of 1.1 in
examples and layers, 2.1 in length, where a model's own attention is quadratic.

The exponent of time and memory is k in a + b · size^k with a, b ≥ 0, fitted by least squares of relative errors; a is
what a run costs at any size, which would hide growth at small ones. Work is the same in every run: its exponent is log₂
of how much more the last doubling adds than the one before, so that what is the same at any size drops out; a test
keeps it within the limits. What is measured stays in benchmarks/growth/measured; `python -m benchmarks.growth
"explainer lat"` measures that again.
"""

import warnings

import torch

from benchmarks.growth.cases import cases
from benchmarks.growth.measured import LIMITS, Measured, measure
from benchmarks.measure import table

# where an exponent is above its limit for a reason that lies in the definition, by name and axis
REASONS: dict[tuple[str, str], str] = {}


def cell(found: float, limit: float) -> str:
    """An exponent, marked where it is above its limit."""
    return f"{found:.2f}" if found <= limit + 1e-9 else f"**{found:.2f}**"


def row(name: str, measured: Measured) -> list[str]:
    """The exponents of one explainer or experiment along every axis: work, time and memory."""
    cells = []
    for axis, limit in LIMITS.items():
        found = measured.get(axis)
        cells.append("" if found is None else " · ".join(cell(one, limit) for one in found.exponents))
    return [name, *cells]


def report() -> str:
    """The table of exponents, from what is kept; what is missing is measured."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with torch.enable_grad():
        found = {name: measure(name, case) for name, case in cases().items()}
    header = ["work · time · memory", *(f"{axis} (≤ {limit:g})" for axis, limit in LIMITS.items())]
    lines = [table(header, [row(name, measured) for name, measured in found.items()])]
    above = [
        f"{name}, {axis}"
        for name, measured in found.items()
        for axis, one in measured.items()
        if max(one.exponents) > LIMITS[axis] + 1e-9
    ]
    lines.append(f"Above the limit: {'; '.join(above) or 'none'}.")
    lines += [f"*{name}, {axis}*: {why}" for (name, axis), why in REASONS.items()]
    return "\n\n".join(lines)
