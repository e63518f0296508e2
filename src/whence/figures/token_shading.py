"""What every view of token scores shares: a scale for the shades, and characters made visible."""

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from whence.core.errors import BadData

FOR, AGAINST = (0, 114, 178), (213, 94, 0)  # blue and vermilion, distinct to the colour-blind
DEEPEST = 0.6  # the strongest shade still leaves the text readable
Shading = Literal["strongest", "range"]
Scores = Iterable[float] | Mapping[str, Iterable[float]]


@dataclass(frozen=True)
class Line:
    """One method's scores over the tokens, as shades from −1 to 1: none for `weakest`, the deepest for `strongest`."""

    method: str
    tokens: tuple[str, ...]
    scores: tuple[float, ...]
    strongest: float
    signed: bool
    weakest: float = 0.0

    @property
    def shades(self) -> list[float]:
        """Where scores lie between the weakest and the strongest; no shade for what is not a number."""
        wide = self.strongest - self.weakest
        return [(score - self.weakest) / wide if wide and math.isfinite(score) else 0.0 for score in self.scores]

    @property
    def scale(self) -> str:
        """The scale, in words."""
        least, most = score_text(self.weakest, self.signed), score_text(self.strongest, self.signed)
        if self.weakest == self.strongest:
            known = not self.scores or any(math.isfinite(score) for score in self.scores)
            return f"all scores are {most if self.strongest else 'zero'}" if known else "none of the scores is a number"
        if self.weakest:
            return f"no shade = {least}, deepest shade = {most}"
        hues = "blue for, orange against; " if self.signed else ""
        return f"{hues}deepest shade = {'±' if self.signed else ''}{self.strongest:.3g}"


def lines(tokens: Sequence[str], scores: Scores, shading: Shading = "strongest") -> list[Line]:
    """A line for each method, each on its own scale: methods score in different units.

    Shades go from zero to the `strongest` score, or over the `range` of a text, from its least score to its largest, as
    in the highlights of Wu et al. 2020.
    """
    named = scores if isinstance(scores, Mapping) else {"": scores}
    return [_line(method, tokens, [float(score) for score in row], shading) for method, row in named.items()]


def _line(method: str, tokens: Sequence[str], scores: Sequence[float], shading: Shading) -> Line:
    if len(tokens) != len(scores):
        where = f" of {method}" if method else ""
        raise BadData(f"every token needs one score; there are {len(tokens)} tokens and {len(scores)} scores{where}")
    finite = [score for score in scores if math.isfinite(score)]
    strongest = max((abs(score) for score in finite), default=0.0)
    shown, signed = tuple(visible(token) for token in tokens), any(score < 0 for score in finite)
    if shading == "range" and finite:
        return Line(visible(method), shown, tuple(scores), max(finite), signed, min(finite))
    return Line(visible(method), shown, tuple(scores), strongest, signed)


def visible(text: str) -> str:
    """The text with invisible characters, and those that change the direction of writing, as ‹U+200B›."""
    return "".join(character if _can_be_seen(character) else f"‹U+{ord(character):04X}›" for character in text)


def _can_be_seen(character: str) -> bool:
    return character == " " or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}


def right_to_left(text: str) -> bool:
    """Whether some character is written from right to left."""
    return any(unicodedata.bidirectional(character) in {"R", "AL", "AN"} for character in text)


def blend(shade: float) -> tuple[int, int, int]:
    """The shade's colour on white, as red, green, blue from 0 to 255."""
    hue, depth = (FOR if shade >= 0 else AGAINST), DEEPEST * min(abs(shade), 1.0)
    red, green, blue = (round(255 + (part - 255) * depth) for part in hue)
    return red, green, blue


def score_text(score: float, signed: bool) -> str:
    """A score with three digits, signed where scores have signs; a dash if it is not a number."""
    if not math.isfinite(score):
        return "–"
    return (f"{score:+.3g}" if signed and score else f"{score:.3g}").replace("-", "−")
