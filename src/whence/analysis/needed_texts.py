"""About how many texts would decide what is undecided."""

from collections.abc import Sequence

from whence.measures.intervals.decisions import needed
from whence.results.verdict import Effect

MOST = 10_000  # more are not suggested


def texts_that_would_decide(undecided: Sequence[Effect]) -> str:
    """A sentence with the number of texts at which every interval would leave its limit, from the observed variance.

    Where an estimate lies so near its limit that no sensible number would do, it says so.
    """
    measured = [effect for effect in undecided if effect.value == effect.value]
    texts = [needed(effect.interval, effect.n, effect.smallest) for effect in measured]
    known = [n for n in texts if n is not None and n <= MOST]
    if not measured:
        return ""
    if len(known) < len(texts):
        return "The effect lies so near its limit that more texts would hardly decide it."
    return (
        f"About {round_up(max(known)):,} texts would decide it (there were {max(effect.n for effect in measured):,})."
    )


def round_up(n: int) -> int:
    """A number of texts in two digits."""
    step = 10 ** max(len(str(n)) - 2, 0)
    return -(-n // step) * step
