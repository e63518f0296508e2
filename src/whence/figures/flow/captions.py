"""The captions of a flow diagram: its heading, how to read it, and what it leaves out."""

from whence.figures.flow.layout import Lines
from whence.figures.flow.model import Flow
from whence.figures.token_shading import score_text, visible

HOW_TO_READ = (
    "How to read: each column is one attention head, each row one layer; the dots of a row are the tokens, in their"
    " order. Attention is followed from the prediction at the top down to the tokens it came from: a dot is as dark as"
    " the attention that has arrived there, a line as dark as what goes along it. At the bottom all heads are added up:"
    " the darker a token, the more attention has arrived at it. This shows where the model attends, not what its"
    " prediction depends on."
)


def heading(flow: Flow) -> str:
    """The heading of the diagram."""
    prediction = f"; the model predicts: {visible(flow.prediction)}" if flow.prediction else ""
    return f"Flow of attention through {_some(flow.depth, 'layer')} of {_some(flow.heads, 'head')}{prediction}"


def scales(flow: Flow, drawn: Lines, dot: float) -> str:
    """The scale of the shades, and which lines are left out."""
    merged = f"{flow.note} " if flow.note else ""
    method = f"{merged}Scores of tokens: {visible(flow.method)}. " if flow.method else merged
    least, most = flow.extremes
    darkest = (
        f"Full blue stands for {_share(drawn.darkest)} of a head's attention in lines and {_share(dot)} in dots; tokens"
        f" go from {_score(least)} in grey to {_score(most)} in black."
    )
    if not drawn.left_out:
        return f"{method}{darkest} All lines are drawn."
    every = drawn.left_out + len(drawn.alpha)
    if not len(drawn.alpha):
        return f"{method}{darkest} No line is drawn: each of the {every} carries less than {_share(drawn.least)}."
    return (
        f"{method}{darkest} Of {every} lines the {len(drawn.alpha)} strongest are drawn; they carry"
        f" {_share(drawn.carried)} of the attention. Each of the others carries less than {_share(drawn.least)}."
    )


def describe_flow(flow: Flow, most: int = 5) -> str:
    """A text alternative of the diagram: the tokens with most attention, and the heads that carried it."""
    ranked = sorted(range(len(flow.tokens)), key=lambda token: -flow.scores[token])[:most]
    described = []
    for token in ranked:
        head = int(flow.nodes[0, :, token].argmax())
        described.append(
            f"{visible(flow.tokens[token])} (score {_score(flow.scores[token])}, most of it by head {head})"
        )
    return f"Tokens with most attention: {', '.join(described)}."


def _score(score: float) -> str:
    return score_text(float(score), signed=False)


def _share(amount: float) -> str:
    """A share in per cent, with two significant digits."""
    return f"{float(f'{100 * amount:.2g}'):g}\u00a0%"


def _some(number: int, word: str) -> str:
    return f"{number} {word}" + "s" * (number != 1)
