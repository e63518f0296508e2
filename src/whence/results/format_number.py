"""Numbers as text: significant digits only, a true minus sign."""

import math
from collections.abc import Iterable

from whence.results.verdict import Effect


def number(value: float, scale: Iterable[float] = ()) -> str:
    """The value with two digits of the smallest size that matters in `scale` (an interval's width, a threshold)."""
    if not math.isfinite(value):
        return "not measurable"
    sizes = [abs(size) for size in scale if math.isfinite(size) and size] or [abs(value) or 1.0]
    decimals = min(max(1 - math.floor(math.log10(min(sizes))), 0), 6)
    shown = f"{value:.{decimals}f}"
    shown = shown.lstrip("-") if not float(shown) else shown  # −0.0 is 0.0
    return shown.replace("-", "−")


def describe_effect(effect: Effect) -> str:
    """'−1.2 points of accuracy, 95 % interval −2.0 to −0.4; the smallest effect of interest was 2.0; 400 examples'."""
    scale = (effect.smallest, effect.high - effect.low)
    value, low, high, smallest = (number(n, scale) for n in (effect.value, effect.low, effect.high, effect.smallest))
    if not math.isfinite(effect.value):
        return f"could not be measured; {_counted(effect)}"
    limit = f"the smallest effect of interest was {smallest}; " if effect.smallest else ""
    return f"{value} {effect.unit}, 95 % interval {low} to {high}; {limit}{_counted(effect)}"


def _counted(effect: Effect) -> str:
    examples = "1 example" if effect.n == 1 else f"{effect.n} examples"
    return f"{examples}, {'1 seed' if effect.seeds == 1 else f'{effect.seeds} seeds'}"
