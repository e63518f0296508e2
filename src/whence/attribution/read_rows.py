"""Which rows (queries) of an attention matrix an explainer reads; each attribution states its choice."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.core.errors import BadConfig, NoAttention
from whence.core.site import Kind
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

ROWS = ("auto", "first", "last", "mean", "prediction")


def refuse_row(row: int | str) -> None:
    """Refuse a row that is neither a known name nor a token's number."""
    if isinstance(row, str) and row not in ROWS:
        raise BadConfig(f"no row {row!r}; choose from: {', '.join(ROWS)}, or a token's number")


def refuse_unattending(subject: Subject) -> None:
    """Refuse a model without attention."""
    if not subject.sites:
        name = subject.name or type(subject.model).__name__
        raise NoAttention(
            f"{name} has no attention; methods that need none are gradient_x_input, gradient_squared,"
            " integrated_gradients and leave_one_out"
        )


def readable(subject: Subject) -> list[str]:
    """The sites whose keys are the input tokens: of an encoder-decoder the cross-attention, else all."""
    refuse_unattending(subject)
    sites = {name: site for name, site in subject.sites.items() if site.keys == "tokens"} or subject.sites
    if not subject.model.config.is_encoder_decoder:
        return list(sites)
    return [name for name, site in sites.items() if site.kind == "cross"] or list(sites)


def automatic(subject: Subject, batch: Batch, kind: Kind, row: int | str) -> int | str:
    """The row to read: with `auto`, where the model's prediction is read."""
    if row != "auto":
        return row
    if subject.task.name != "sequence-classification":
        return "mean" if subject.task.predicts_values else "prediction"
    if kind == "causal" or subject.model.config.is_encoder_decoder:
        return "last"
    config, cls = subject.model.config, subject.tokenizer.cls_token_id
    pooling = getattr(config, "classifier_pooling", getattr(config, "pool", None))  # ModernBERT, and ours
    if pooling is not None:
        return "mean" if pooling == "mean" else "first"
    if cls is None:
        return "mean"
    return "first" if bool((batch.inputs["input_ids"][:, 0] == cls).any()) else "last"  # XLNet has it at the end


def shares(batch: Batch, target: Target | None, row: int | str, n_query: int) -> Float[Tensor, "batch query"]:
    """The weight of each query row: one on a single row, or uniform over all tokens.

    A number counts the tokens of a text from 0, padding left out; below zero, from the end.
    """
    if n_query == 1:
        return torch.ones(len(batch), 1)
    if row == "prediction":
        assert target is not None
        return _one(target.positions, n_query)
    queries = asking(batch, "cross")
    if row != "first" and queries.shape[1] != n_query:
        raise BadConfig(f"this layer attends from {n_query} places, not from the tokens; choose row 'first'")
    if row == "mean":
        return queries / queries.sum(1, keepdim=True).clamp_min(1)  # a window may be padding
    return _one(_numbered(queries, {"first": 0, "last": -1}.get(str(row), row)), n_query)


def asking(batch: Batch, kind: Kind) -> Bool[Tensor, "batch query"]:
    """Which queries are tokens, not padding; in the decoder of a translator, which are target tokens."""
    translated = "labels" in batch.inputs and batch.window is None
    return (batch.predicted_positions if translated and kind != "self" else batch.mask).cpu()


def _numbered(queries: Tensor, number: int | str) -> Tensor:
    """The place of each text's token of this number."""
    count = queries.sum(1)  # [batch]
    at = torch.as_tensor(int(number)).expand_as(count)
    at = torch.where(at < 0, at + count, at)
    if bool((((at < 0) | (at >= count)) & (count > 0)).any()):
        least = int(count[count > 0].min())
        raise BadConfig(f"no token {number} in a text of {least} tokens; they are counted from 0")
    return (queries & (queries.cumsum(1) == at[:, None] + 1)).long().argmax(1)


def _one(places: Tensor, n_query: int) -> Float[Tensor, "batch query"]:
    return torch.nn.functional.one_hot(places.cpu(), n_query).float()
