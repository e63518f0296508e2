"""What the rows and columns of attention are: tokens, target tokens, sentences, or the one query that reads a text."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from whence.core.site import Site
from whence.data.examples import Example
from whence.subject.batch import Batch
from whence.subject.subject import Subject

Matrix = Float[ndarray, "head query key"]
Shown = Float[ndarray, "head row column"]  # as it is shown: perhaps cut, or in another layout
TOKENS, TARGETS, INPUTS, SENTENCES, SUMMARY, SINK = "tokens", "targets", "inputs", "sentences", "summary", "+sink"


@dataclass(frozen=True)
class Token:
    """One entry of an axis: its text, the number and spelling of its word, and whether it is special."""

    text: str
    word: int = -1
    special: bool = False
    segment: int = 0
    spelled: str = ""


Axes = dict[str, tuple[Token, ...]]


def axes_of(subject: Subject, batch: Batch, example: Example) -> Axes:
    """The axes that a text has, before any attention was seen."""
    length = int(batch.mask[0].sum())  # a batch of one text: no padding but for a predicted next token
    spelled = subject.encoder.spelled(batch, [example])[0] if batch.window is None else [""] * length
    rows = (batch.tokens[0], batch.word[0].tolist(), batch.special[0].tolist(), batch.segment[0].tolist(), spelled)
    axes: Axes = {TOKENS: tuple(Token(*one) for one in list(zip(*rows, strict=True))[:length])}
    if "labels" in batch.inputs and batch.window is None:
        axes |= _decoder_axes(subject, batch.labels[0][batch.predicted_positions[0]].tolist())
    elif subject.model.config.is_encoder_decoder:  # a classifier whose decoder reads the text, shifted by one
        axes[INPUTS] = (Token("", special=True), *axes[TOKENS][:-1])
    return axes


def _decoder_axes(subject: Subject, labels: Sequence[int]) -> Axes:
    """What each step of a decoder writes, and what it has read before."""
    start = getattr(subject.model.config, "decoder_start_token_id", None)
    special = set(subject.tokenizer.all_special_ids) - {subject.tokenizer.unk_token_id}

    def token(number: int) -> Token:
        return Token(str(subject.tokenizer.convert_ids_to_tokens(number)), special=number in special)

    targets = tuple(token(number) for number in labels)
    first = token(start) if start is not None else Token("", special=True)
    return {TARGETS: targets, INPUTS: (first, *targets[:-1])}


def placed(
    subject: Subject, batch: Batch, site: Site, weights: Matrix, sinks: int, axes: Axes
) -> tuple[Shown, str, str]:
    """A site's weights [head query key], and the names of their axes, which are added to `axes` where they are new."""
    if site.keys == "parts" and hasattr(subject.model, "sentence_layout"):
        weights = _sentences_as_rows(subject, batch, weights, axes)
    decodes = INPUTS in axes and site.kind in ("causal", "cross")
    written = TARGETS if TARGETS in axes else INPUTS
    queries = _axis([written] if decodes else [TOKENS, SENTENCES], weights.shape[1], site, axes)
    keys = weights.shape[2] - sinks
    key_axis = _axis([INPUTS] if decodes and site.kind == "causal" else [TOKENS, SENTENCES], keys, site, axes)
    if sinks:
        axes.setdefault(key_axis + SINK, (*axes[key_axis][:keys], *[Token("(sink)", special=True)] * sinks))
        key_axis += SINK
    n_query, n_key = len(axes[queries]), len(axes[key_axis])
    return weights[:, :n_query, :n_key] if not sinks else weights[:, :n_query], queries, key_axis


def _axis(candidates: Sequence[str], size: int, site: Site, axes: Axes) -> str:
    """The first of these axes that fits, else one of numbers; one query more is the place of a predicted next token."""
    if size == 1 and site.kind == "pool" and all(len(axes.get(name, ())) != 1 for name in candidates):
        axes.setdefault(SUMMARY, (Token("the text", special=True),))
        return SUMMARY
    for name in candidates:
        if name in axes and (len(axes[name]) == size or (name == TOKENS and len(axes[name]) == size - 1)):
            return name
    axes.setdefault(f"{size} places", tuple(Token(str(number)) for number in range(size)))
    return f"{size} places"


def _sentences_as_rows(subject: Subject, batch: Batch, weights: Matrix, axes: Axes) -> Shown:
    """Of a model of words within sentences: each sentence's weights over the tokens of the whole text."""
    model: Any = subject.model
    layout = model.sentence_layout(**batch.inputs)
    number = (layout.place[0] // layout.words).tolist()  # the sentence of each token
    names = [" ".join(batch.tokens[0][t] for t, s in enumerate(number) if s == one) for one in range(layout.sentences)]
    axes.setdefault(SENTENCES, tuple(Token(name) for name in names))
    if weights.shape[1:] != (layout.sentences, layout.words):
        return weights
    laid = torch.from_numpy(weights.astype(np.float32))  # [head sentence word]
    by_token = torch.stack([layout.back(head[None])[0] for head in laid])  # [head token]
    own = torch.tensor(number)[None, None] == torch.arange(layout.sentences)[None, :, None]  # [1 sentence token]
    return (by_token[:, None] * own).numpy().astype(weights.dtype)


def as_plain(axes: Axes) -> dict[str, list[dict[str, Any]]]:
    """The axes for JSON."""
    return {name: [asdict(token) for token in tokens] for name, tokens in axes.items()}


def special_places(axes: Axes, axis: str) -> list[int]:
    """The places of special tokens on an axis."""
    return [place for place, token in enumerate(axes[axis]) if token.special]
