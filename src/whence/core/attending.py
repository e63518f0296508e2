"""Watch and replace attention weights while a model runs."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TypeVar

import torch
from torch import Tensor, nn

from whence.core.checkpointing import modules_checkpointed, recomputing
from whence.core.errors import CannotAttend, InvalidWeights, NoAttention, UnknownSite
from whence.core.hooks import remove_hooks
from whence.core.model_sites import calls_of_sites, refuse_changed, sites
from whence.core.scope import undone
from whence.core.site import Attendance, AttentionSite, Call, Site, row_tolerance
from whence.core.tape import Tape

Rule = Callable[[Call], Tensor]  # an override: the weights to use instead
Watcher = Callable[[Call], None]
Item = TypeVar("Item")
Watch = str | Watcher | Sequence[str | Watcher] | Mapping[str, Watcher] | None


@contextmanager
def attending(
    model: nn.Module,
    override: Rule | Mapping[str, Rule] | None = None,
    watch: Watch = "*",
    keep: Sequence[str] = (),
    copies: int = 1,
    recompute: bool = False,
) -> Iterator[Tape]:
    """Watch and replace the attention of a model, for the length of a `with` block.

    `override`: a rule for all sites, or rules by site name or glob; where several match, each sees the result of the
    one before it. `watch`: which sites to record on the tape, by name or glob, or watchers that take each call as it
    comes. None records nothing: use it in a long loop, since the tape keeps all it records. `keep`: what to record
    besides the weights: `scores`, `values` or both. `copies`: how often the texts are repeated in the batch, all texts
    after all texts; an override with values per text needs it. `recompute`: for gradients by weights of long texts; the
    attention of each attended site is computed again during backward (gradient checkpointing, inside the block), so
    that the weights of one site, or of one head, are held at a time.

    Only sites that are watched or overridden become slower. Weights are those before dropout, and still on the graph.

    A block belongs to the thread, or the asyncio task, that opened it. Calls of the same model from other threads are
    neither overridden nor recorded, whether they attend themselves or not. A task that is started inside the block, and
    a function run by `asyncio.to_thread`, belong to it; a thread of `threading` or of an executor does not.
    """
    unknown = set(keep) - {"scores", "values"}
    if unknown:
        raise ValueError(f"keep takes 'scores' and 'values', not {sorted(unknown)}")
    tape = Tape(keep=keep)
    session = Attending(model, _by_site(override), _by_site_watch(watch, tape), copies, recompute)
    with session.active(), session.counted(), recomputing(model, session), session.recomputed():
        yield tape


class Attending:
    """One `attending` block: what is watched and overridden, and how often each site has been called."""

    def __init__(
        self,
        model: nn.Module,
        overrides: Mapping[str, Rule],
        watchers: Sequence[tuple[str, Watcher]],
        copies: int = 1,
        recompute: bool = False,
    ) -> None:
        _refuse_unreachable(model)
        refuse_changed(model)
        self.model, self.copies, self.recompute = model, copies, recompute
        self.described = calls_of_sites(model)
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

    @contextmanager
    def recomputed(self) -> Iterator[None]:
        """Checkpoint the modules around the attended sites, if that was asked for; the model itself is left out."""
        around = {site: module for module in self.model.modules() for site in module.children()}
        modules = (
            {around[site] for site in self.attendance.sites if not site.checkpoints_heads} if self.recompute else ()
        )
        with modules_checkpointed(module for module in modules if module is not self.model):
            yield

    def _begin_pass(self, model: nn.Module, args: object) -> None:
        if not torch.compiler.is_compiling() and self.attendance.here:  # the sites refuse to be compiled
            for site, count in self.counts.items():
                self.counts[site] = -(-count // site.calls) * site.calls

    def streams(self, site: AttentionSite) -> bool:
        names = [described.name for described in self.described[site]]
        given: list[Sequence[object]] = [self.watchers.get(name, []) for name in names]
        given += [self.overrides.get(name, []) for name in names]
        return all(getattr(one, "streams_heads", False) for some in given for one in some)

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
        raise ValueError(f"watch takes names or globs of sites, watchers, or None; got {watch!r}")
    return [(item, tape) if isinstance(item, str) else ("*", item) for item in wanted]


def _matched(wanted: Iterable[tuple[str, Item]], names: list[str]) -> dict[str, list[Item]]:
    """What belongs to which site, each glob resolved; an error lists the sites of the model."""
    matched: dict[str, list[Item]] = {}
    known = set(names)
    for glob, item in wanted:  # a name is looked up, so that a rule for each of many layers costs no more than its own
        plain = glob in known and not re.search(r"[*?\[]", glob)
        hits = [glob] if plain else [name for name in names if name == glob or fnmatchcase(name, glob)]
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
            raise ValueError(f"no layer {missing} among the sites to override; choose from: {sorted(there)}")


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
