"""The tape: what the sites did, in the order they did it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import torch

from whence.core.errors import UnknownSite
from whence.core.site import Call, Kind


class Tape(Mapping[str, list[Call]]):
    """A mapping from a site's name to the list of its calls (shared layers and decoding steps call a site often)."""

    def __init__(self, calls: Mapping[str, list[Call]] | None = None, keep: Sequence[str] = ()) -> None:
        self._calls: dict[str, list[Call]] = dict(calls or {})
        self._dropped = {field: None for field in ("scores", "values") if field not in keep}

    def __call__(self, call: Call) -> None:
        """Record a call. Scores and values are dropped unless requested: they double the memory."""
        self._calls.setdefault(call.site.name, []).append(replace(call, mix=None, **self._dropped))  # type: ignore[arg-type]

    def __getitem__(self, name: str) -> list[Call]:
        if name not in self._calls:
            raise UnknownSite(name, self._calls)
        return self._calls[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._calls)

    def __len__(self) -> int:
        return len(self._calls)

    def calls(self) -> list[Call]:
        """All calls, site by site."""
        return [call for calls in self._calls.values() for call in calls]

    def only(self, site: str = "*") -> Call:
        """The one call of the one site that matches; an error if there is none or more than one."""
        calls = self.select(site).calls()
        if len(calls) != 1:
            counts = ", ".join(f"{name} ({len(calls)} calls)" for name, calls in self.select(site).items())
            raise ValueError(
                f"expected one call at {site!r}, there are {len(calls)}: {counts}; name the site, or take"
                " a call from the list tape[site]"
            )
        return calls[0]

    def joined(self, site: str = "*") -> Call:
        """All calls of the one site that matches, joined along the query axis: the steps of a decoder as one call.
        Values are those of the first call.
        """
        (name, calls), *others = self.select(site).items()
        if others:
            raise ValueError(f"expected one site; {site!r} matches {', '.join([name, *dict(others)])}")
        first = calls[0]
        if len(calls) == 1:
            return first
        shapes = {(*call.weights.shape[:2], call.weights.shape[3], call.sinks, call.heads) for call in calls}
        if len(shapes) > 1:
            raise ValueError(
                f"the {len(calls)} calls of {name!r} differ in batch, heads or keys and cannot be joined;"
                " take them from the list tape[site]"
            )
        masks = [call.mask.expand(-1, -1, call.weights.shape[2], -1) for call in calls]
        scores = [call.scores for call in calls if call.scores is not None]
        return replace(
            first,
            weights=torch.cat([call.weights for call in calls], dim=2),
            mask=torch.cat(masks, dim=2),
            scores=torch.cat(scores, dim=2) if len(scores) == len(calls) else None,
        )

    def select(
        self,
        site: str = "*",
        *,
        layer: int | Sequence[int] | None = None,
        head: int | Sequence[int] | None = None,
        kind: Kind | None = None,
    ) -> "Tape":
        """The calls whose site matches the glob, layer and kind, cut down to the given heads."""
        layers, heads = _as_tuple(layer), _as_tuple(head)
        chosen = {
            name: [call if heads is None else _only_heads(call, heads) for call in calls]
            for name, calls in self._calls.items()
            if fnmatchcase(name, site)
            and (layers is None or calls[0].site.layer in layers)
            and (kind is None or calls[0].site.kind == kind)
        }
        if not chosen:
            raise UnknownSite(_describe_selection(site, layers, kind), self._calls)
        return Tape(chosen)

    def __repr__(self) -> str:
        lines = [f"  {name}: {len(calls)} × {list(calls[0].weights.shape)}" for name, calls in self._calls.items()]
        return "\n".join([f"Tape of {len(self)} sites [batch head query key]", *lines])


def _as_tuple(number: int | Sequence[int] | None) -> tuple[int, ...] | None:
    return (number,) if isinstance(number, int) else None if number is None else tuple(number)


def _describe_selection(site: str, layers: tuple[int, ...] | None, kind: Kind | None) -> str:
    wanted = [site] + [f"layer {layers}"] * (layers is not None) + [f"kind {kind}"] * (kind is not None)
    return ", ".join(wanted)


def _only_heads(call: Call, heads: tuple[int, ...]) -> Call:
    missing = [head for head in heads if head not in call.heads]
    if missing:
        raise ValueError(f"no head {missing} at site {call.site.name!r}; choose from: {list(call.heads)}")
    return pick_heads(call, [call.heads.index(head) for head in heads])


def pick_heads(call: Call, places: Sequence[int]) -> Call:
    """The heads at these places of a call, in this order; `heads` says which they are."""
    at = list(places)
    return replace(
        call,
        weights=call.weights[:, at],
        mask=call.mask if call.mask.shape[1] == 1 else call.mask[:, at],
        scores=None if call.scores is None else call.scores[:, at],
        values=call.values if call.values is None or call.values.shape[1] == 1 else call.values[:, at],
        heads=tuple(call.heads[place] for place in at),
        mix=None,
    )
