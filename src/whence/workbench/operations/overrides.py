"""Edits of attention as overrides, and as Python code that does the same."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from whence.core import overrides
from whence.core.attending import Rule
from whence.core.errors import BadConfig
from whence.core.overrides import Override
from whence.core.site import Call
from whence.evaluation.locations import sites_of_tokens
from whence.subject.subject import Subject
from whence.workbench.operations.axes import special_places
from whence.workbench.operations.looking import Look, Stack
from whence.workbench.operations.requests import Edit

KEEPS_SPECIAL = ("uniform", "permuted", "random", "temperature")  # by default


def overrides_for(subject: Subject, look: Look, edits: Sequence[Edit]) -> list[dict[str, Rule]]:
    """For each edit the overrides by site: to be applied one after another, as nested `attending` blocks."""
    return [_rules(subject, look, edit) for edit in edits]


def _rules(subject: Subject, look: Look, edit: Edit) -> dict[str, Rule]:
    stack = look.stack(edit.stack)
    layers = chosen_layers(stack, edit)
    if edit.override in ("row", "rows"):
        rule = replaced_rows(given_rows(stack, edit), edit.options.query, edit.heads)
        return {stack.sites[layer]: rule for layer in layers}
    rule = confined(made(look, stack, edit), edit)
    spares = spared(subject, look, stack, edit)
    if spares:
        rule = rule.sparing(spares)
    return {stack.sites[layer]: rule for layer in layers}


def made(look: Look, stack: Stack, edit: Edit) -> Override:
    """The override of an edit, for all layers, heads and rows."""
    options = edit.options
    if edit.override == "uniform":
        return overrides.uniform
    if edit.override in ("permuted", "random"):
        return getattr(overrides, edit.override)(options.seed)
    if edit.override == "temperature":
        return overrides.temperature(options.degrees)
    return overrides.without(erased_keys(look, stack, edit))


def confined(rule: Override, edit: Edit) -> Override:
    """The override in the heads and rows of an edit."""
    queries = edit.options.queries
    heads = None if edit.heads is None else list(edit.heads)
    if heads is None and queries is None:
        return rule
    return rule.only(heads=heads, queries=None if queries is None else list(queries))


def spared(subject: Subject, look: Look, stack: Stack, edit: Edit) -> list[int]:
    """The keys that keep their weight: special tokens, where the keys are the tokens of the text."""
    if edit.options.special or edit.override not in KEEPS_SPECIAL or stack.sites[0] not in sites_of_tokens(subject):
        return []
    return special_places(look.axes, stack.key_axis)


def erased_keys(look: Look, stack: Stack, edit: Edit) -> list[int]:
    """The keys that lose their weight."""
    named, n_key = set(edit.options.tokens), len(look.axes[stack.key_axis])
    _refuse_words(stack)
    wrong = sorted(place for place in named if not 0 <= place < n_key)
    if wrong or not named:
        raise BadConfig(f"{edit.override} takes the places of keys, from 0 to {n_key - 1}; got {wrong or 'none'}")
    return sorted(named if edit.override == "without" else set(range(n_key)) - named)


def given_rows(stack: Stack, edit: Edit) -> Float[Tensor, "head row key"]:
    """The given weights of one row, or of all rows; each divided by its sum."""
    _refuse_words(stack)
    n_head, n_query, n_key = stack.weights[chosen_layers(stack, edit)[0]].shape
    given = _numbers(edit.options.weights)
    if edit.override == "row":
        if given.shape != (n_key,) or edit.options.query >= n_query:
            raise BadConfig(f"a row has {n_key} weights and a query below {n_query}; got {list(given.shape)} weights")
        given = given[None, None]
    rows = given.shape[1] if given.dim() == 3 else 0
    fits = 0 < rows <= n_query - edit.options.query and given.shape[0] in (1, n_head) and given.shape[2] == n_key
    if not fits:
        raise BadConfig(
            f"rows are [{n_head}, up to {n_query}, {n_key}] [head query key], from the query {edit.options.query} on;"
            f" got {list(given.shape)}"
        )
    return (given / given.sum(-1, keepdim=True).clamp_min(torch.finfo(given.dtype).tiny)).float()


def replaced_rows(rows: Float[Tensor, "head row key"], first: int = 0, heads: Sequence[int] | None = None) -> Rule:
    """An override that puts these rows in the place of those from query `first` on, in these heads."""

    def rule(call: Call) -> Tensor:
        weights = call.weights.clone()
        begin, n_key = first - call.step * weights.shape[2], rows.shape[2]  # a recurrent decoder has a step per query
        for row in range(rows.shape[1]):
            if 0 <= begin + row < weights.shape[2]:
                new = torch.zeros_like(weights[:, :, begin + row])  # [batch head key]
                new[..., :n_key] = rows[:, row].to(new)
                chosen = slice(None) if heads is None else list(heads)
                weights[:, chosen, begin + row] = new[:, chosen]
        return weights

    return rule


def chosen_layers(stack: Stack, edit: Edit) -> list[int]:
    """The layers of an edit."""
    layers = list(range(len(stack.sites))) if edit.layers is None else sorted(set(edit.layers))
    if not layers or not all(0 <= layer < len(stack.sites) for layer in layers):
        raise BadConfig(f"no layer {layers} in {stack.id}; there are {len(stack.sites)}, counted from 0")
    if edit.override in ("row", "rows") and len(layers) != 1:
        raise BadConfig("given weights are for one layer; name it")
    n_query = stack.weights[0].shape[1]
    for axis, size, named in (
        ("head", min(len(stack.weights[layer]) for layer in layers), edit.heads),
        ("query", n_query, edit.options.queries),
    ):
        if named is not None and (not named or not all(0 <= one < size for one in named)):
            raise BadConfig(f"no {axis} {list(named)} in {stack.id}; there are {size}, counted from 0")
    return layers


def _refuse_words(stack: Stack) -> None:
    if stack.query_axis == "sentences":
        raise BadConfig(
            "the words of each sentence are its own keys; single words cannot be chosen here. Expected uniform,"
            " permuted, random or temperature, or an edit of the attention over sentences"
        )


def _numbers(given: Any) -> Tensor:
    try:
        numbers = torch.tensor(given, dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise BadConfig("weights are numbers, as many in each row") from error
    if not bool(torch.isfinite(numbers).all()) or bool((numbers < 0).any()) or numbers.numel() == 0:
        raise BadConfig("weights are numbers of zero or more")
    return numbers
