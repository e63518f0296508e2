"""Watch and replace attention weights while a model runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TypeVar

import torch
from torch import Tensor, nn

from whence.core.checkpointing import recomputing
from whence.core.errors import CannotAttend, InvalidWeights, NoAttention, UnknownSite
from whence.core.hooks import remove_hooks
from whence.core.scope import undone
from whence.core.site import Attendance, AttentionSite, Call, Site, row_tolerance
from whence.core.tape import Tape

Rule = Callable[[Call], Tensor]  # an override: what the weights shall be
Watcher = Callable[[Call], None]
Item = TypeVar("Item")
Watch = str | Watcher | Sequence[str | Watcher] | Mapping[str, Watcher] | None

SITE_ATTRIBUTE = "attention_site"  # the child that adoption gives an attention module; not part of a site's name


@contextmanager
def attending(
    model: nn.Module,
    override: Rule | Mapping[str, Rule] | None = None,
    watch: Watch = "*",
    keep: Sequence[str] = (),
    copies: int = 1,
) -> Iterator[Tape]:
    """Watch and replace the attention of a model, for the length of a `with` block.

    `override`: a rule for all sites, or rules by site name or glob; where several match, each sees the result of the
    one before it. `watch`: which sites to record on the tape, by name or glob, or watchers that take each call as it
    comes. None records nothing: use it in a long loop, since the tape keeps all it records. `keep`: what to record
    besides the weights: `scores`, `values` or both. `copies`: how often the texts are repeated in the batch, all texts
    after all texts; an override with values per text needs it.

    Only sites that are watched or overridden become slower. Weights are those before dropout, and still on the graph.

    A block belongs to the thread, or the asyncio task, that opened it. Calls of the same model from other threads are
    neither overridden nor recorded, whether they attend themselves or not. A task that is started inside the block, and
    a function run by `asyncio.to_thread`, belong to it; a thread of `threading` or of an executor does not.
    """
    unknown = set(keep) - {"scores", "values"}
    if unknown:
        raise ValueError(f"keep takes 'scores' and 'values', not {sorted(unknown)}")
    tape = Tape(keep=keep)
    session = Attending(model, _by_site(override), _by_site_watch(watch, tape), copies)
    with session.active(), session.counted(), recomputing(model, session):
        yield tape


def sites(model: nn.Module) -> dict[str, Site]:
    """The attention sites of a model by name, in execution order."""
    return {site.name: site for described in _described(model).values() for site in described}


def site_module(model: nn.Module, name: str) -> tuple[AttentionSite, Site, int]:
    """The one site that matches a name or glob: its module, description, and which call of a shared module it is."""
    everywhere = [(m, site, call) for m, described in _described(model).items() for call, site in enumerate(described)]
    hits = [hit for hit in everywhere if hit[1].name == name or fnmatchcase(hit[1].name, name)]
    if len(hits) != 1:
        if hits:
            raise ValueError(f"expected one site; {name!r} matches {len(hits)}: {', '.join(h[1].name for h in hits)}")
        raise UnknownSite(name, sites(model))
    return hits[0]


class Attending:
    """One `attending` block: what is watched and overridden, and how often each site has been called."""

    def __init__(
        self,
        model: nn.Module,
        overrides: Mapping[str, Rule],
        watchers: Sequence[tuple[str, Watcher]],
        copies: int = 1,
    ) -> None:
        _refuse_unreachable(model)
        self.model, self.copies = model, copies
        self.described = _described(model)
        names = [site.name for described in self.described.values() for site in described]
        if not names and (overrides or watchers):
            raise NoAttention(
                f"{type(model).__name__} has no attention site; expected a model of Whence, or one that went through"
                " whence.adopt(model)"
            )
        self.overrides = _matched(overrides.items(), names)
        _refuse_missing_layers(self.overrides, {site.name: site for site in sites(model).values()})
        self.watchers = _matched(watchers, names)
        self.counts = dict.fromkeys(self.described, 0)
        self.recording = True
        self.recomputing = False  # inside a layer that gradient checkpointing runs again

    @contextmanager
    def active(self) -> Iterator[None]:
        """Attend at the sites that are watched or overridden; nothing of it remains afterwards."""
        asked = self.overrides.keys() | self.watchers.keys()
        attended = [m for m, described in self.described.items() if any(site.name in asked for site in described)]
        self.attendance = Attendance(self, attended)
        with self.attendance.entered():
            yield

    @contextmanager
    def counted(self) -> Iterator[None]:
        """A new forward pass begins with the first call of each site, also after a pass that raised."""
        with undone(lambda: remove_hooks(self.model, lambda hook: hook == self._begin_pass)):
            self.model.register_forward_pre_hook(self._begin_pass)
            yield

    def _begin_pass(self, model: nn.Module, args: object) -> None:
        if not torch.compiler.is_compiling() and self.attendance.here:  # the sites refuse to be compiled
            for site, count in self.counts.items():
                self.counts[site] = -(-count // site.calls) * site.calls

    def streams(self, site: AttentionSite) -> bool:
        names = [described.name for described in self.described[site]]
        watchers = [watcher for name in names for watcher in self.watchers.get(name, [])]
        return not any(name in self.overrides for name in names) and all(
            getattr(watcher, "streams_heads", False) for watcher in watchers
        )

    def override(self, site: AttentionSite, call: Call) -> Call:
        if torch._C._current_graph_task_id() != -1 and not self.recomputing:
            raise CannotAttend(
                "a layer is run again during backward, and its first run was not seen to be checkpointed; turn gradient"
                " checkpointing on before the `attending` block, through model.gradient_checkpointing_enable"
            )
        described, count = self.described[site], self.counts[site]
        here = described[count % len(described)]
        call = replace(call, site=here, step=count // len(described), copies=self.copies)
        for rule in self.overrides.get(call.site.name, []):
            weights = checked_weights(rule, call)
            if weights is not call.weights:
                call = replace(call, weights=weights, scores=None)  # the scores are no longer those of the weights
        return call

    def watch(self, site: AttentionSite, call: Call) -> None:
        described, count = self.described[site], self.counts[site]
        call = replace(call, site=described[count % len(described)], step=count // len(described))
        if call.heads[-1] == call.n_heads - 1:  # the last head of this call
            self.counts[site] += 1
        if self.recording:
            for watcher in self.watchers.get(call.site.name, []):
                watcher(call)

    def snapshot(self) -> Callable[[], None]:
        """Remember counts and random states, so that a recomputed layer meets the same overrides as at first."""
        counts = dict(self.counts)
        rules = [rule for rules in self.overrides.values() for rule in rules]
        generators = {getattr(rule, "generator", None) for rule in rules} - {None}
        states = {generator: generator.get_state() for generator in generators if generator is not None}

        def restore() -> None:
            self.counts.update(counts)
            for generator, state in states.items():
                generator.set_state(state)

        return restore


def _described(model: nn.Module) -> dict[AttentionSite, tuple[Site, ...]]:
    """Every site of the model with the name and layer of each of its calls, in execution order."""
    found = [(name, module) for name, module in model.named_modules() if isinstance(module, AttentionSite)]
    moments = [
        (module.order[call] if module.order else place, _name(path, call, module.calls), module)
        for place, (path, module) in enumerate(found)
        for call in range(module.calls)
    ]
    layers: dict[str, int] = {}
    described: dict[AttentionSite, tuple[Site, ...]] = {}
    for _, name, module in sorted(moments, key=lambda moment: moment[0]):
        site = Site(name, 0, module.kind, module.keys)
        layers[site.stack] = layers.get(site.stack, -1) + 1
        described[module] = (*described.get(module, ()), replace(site, layer=layers[site.stack]))
    return described


def _name(path: str, call: int, calls: int) -> str:
    path = path.removesuffix(SITE_ATTRIBUTE).removesuffix(".") or SITE_ATTRIBUTE
    return path if calls == 1 else f"{path}#{call}"


def _by_site(override: Rule | Mapping[str, Rule] | None) -> Mapping[str, Rule]:
    if override is None:
        return {}
    rules = override if isinstance(override, Mapping) else {"*": override}
    for site, rule in rules.items():
        if not callable(rule):
            raise InvalidWeights(
                f"the override for site {site!r} is a {type(rule).__name__}; expected a function from a call to"
                " weights, such as whence.uniform, or such functions by site name. To apply several, nest `attending`"
                " blocks."
            )
    return rules


def _by_site_watch(watch: Watch, tape: Tape) -> list[tuple[str, Watcher]]:
    if watch is None:
        return []
    if isinstance(watch, Mapping) and not isinstance(watch, Tape):
        return list(watch.items())
    wanted: Sequence[str | Watcher] = list(watch) if isinstance(watch, list | tuple) else [watch]  # type: ignore[list-item]
    if not all(isinstance(item, str) or callable(item) for item in wanted):
        raise ValueError(f"watch takes names or globs of sites, watchers, or None; came {watch!r}")
    return [(item, tape) if isinstance(item, str) else ("*", item) for item in wanted]


def _matched(wanted: Iterable[tuple[str, Item]], names: list[str]) -> dict[str, list[Item]]:
    """What belongs to which site, each glob resolved; an error lists the sites of the model."""
    matched: dict[str, list[Item]] = {}
    for glob, item in wanted:
        hits = [name for name in names if name == glob or fnmatchcase(name, glob)]
        if not hits:
            raise UnknownSite(glob, names)
        for name in hits:
            if not any(item is other for other in matched.setdefault(name, [])):
                matched[name].append(item)
    return matched


def _refuse_missing_layers(overrides: Mapping[str, Sequence[Rule]], described: Mapping[str, Site]) -> None:
    """An override confined to layers in which it has no site would silently do nothing."""
    for rule in {id(rule): rule for rules in overrides.values() for rule in rules}.values():
        wanted = getattr(getattr(rule, "where", None), "layers", None)
        there = {described[name].layer for name, rules in overrides.items() if any(rule is r for r in rules)}
        missing = sorted(set(wanted or ()) - there)
        if missing:
            raise ValueError(f"no layer {missing} among the sites to override; there are: {sorted(there)}")


def checked_weights(rule: Rule, call: Call) -> Tensor:
    """What an override returns, if it is a distribution over the permitted keys; else an error that names the site."""
    weights = rule(call)
    if getattr(rule, "trusted", False):
        return weights
    where = f"the override {getattr(rule, '__name__', rule)!s} at site {call.site.name!r}"
    if not isinstance(weights, Tensor) or weights.shape != call.weights.shape:
        came = list(weights.shape) if isinstance(weights, Tensor) else type(weights).__name__
        raise InvalidWeights(
            f"{where} returned {came}; expected weights {list(call.weights.shape)} [batch head query key]"
        )
    own = call.weights
    if weights.dtype != own.dtype or weights.device != own.device:
        raise InvalidWeights(
            f"{where} returned weights of {weights.dtype} on {weights.device}; expected {own.dtype} on {own.device}:"
            " return weights.to(call.weights)"
        )
    values = weights.detach()
    if not bool(torch.isfinite(values).all()):
        raise InvalidWeights(f"{where} returned NaN or infinite weights; expected a distribution over the keys")
    if bool((values < 0).any()):
        raise InvalidWeights(f"{where} returned negative weights; expected a distribution over the keys")
    if bool(values.masked_fill(call.mask, 0.0).any()):
        raise InvalidWeights(f"{where} put weight on forbidden keys; call.mask is True where a key may be attended")
    sums, permitted = values.float().sum(-1), call.mask.any(-1).expand(values.shape[:-1])
    off = float((sums - 1).abs().masked_fill(~permitted, 0.0).max())
    if off > row_tolerance(call.weights):
        raise InvalidWeights(
            f"{where} returned rows that do not sum to one (off by up to {off:.3g}); divide each row by its sum"
        )
    return weights


def _refuse_unreachable(model: nn.Module) -> None:
    for name, module in model.named_modules():
        if isinstance(module, nn.DataParallel) and len(module.device_ids) > 1:
            raise CannotAttend(
                "DataParallel runs copies of the model in threads of their own, which a block in this thread does not"
                " see; attend to the model inside it: attending(model.module)"
            )
        if hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None:
            raise CannotAttend(
                f"{name or type(model).__name__} is compiled by torch.compile; its attention can be neither watched nor"
                " replaced. Use the model as it was before compiling."
            )
