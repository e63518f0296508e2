"""Partial recomputation: re-run only what lies after an overridden site, for many overrides at once."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from whence.core.attending import Rule, checked_weights
from whence.core.errors import CannotReplay
from whence.core.model_sites import site_module
from whence.core.overrides import uniform
from whence.core.read_rows import Rows, equally_many, fill_rows, last_layer_around, rows_read, take_rows
from whence.core.replaced import Replaced
from whence.core.replay.copies import (
    EachStep,
    Once,
    Recorder,
    as_queries,
    call_of_rows,
    repeat_batch,
    repeat_call,
    session_at,
)
from whence.core.replay.recorded_pass import Pass, recorded_outputs
from whence.core.site import Call

Strategy = Literal["queries", "rows", "context", "batch", "full"]
BUDGET = 96 * 2**20  # bytes
TRIAL = uniform  # an override that draws nothing, so that two strategies can be compared


class Replay:
    """A recorded forward pass that can be run again from one site on.

    `replay(permuted(0), times=100)` gives the model's outputs under 100 permutations, [100 batch ...], computing only
    what lies after the site, as many overrides in one batch as fit `budget` bytes. `inputs` are the model's keyword
    arguments; put the model in evaluation mode first. `read` takes what is wanted from the model's output (by default
    its logits, or its first tensor).

    `strategy` says how the overrides run. `queries`: as queries of a terminal site, so that K overrides are one
    contraction. `rows`: through the last layer's read-out rows only. `context`: the new weights are mixed with the
    recorded values, and the rest of the model sees K copies of the batch. `batch`: the same, but the site's scores are
    computed again. `full`: the whole model sees K copies. The fastest that reproduces the recorded output is used.
    Where one pass calls the site at each of its `steps` (a recurrent decoder), every step is overridden, as in
    `attending`; then the strategies are `batch` and `full`.
    """

    def __init__(
        self,
        model: nn.Module,
        site: str,
        inputs: Mapping[str, Any],
        *,
        read: Callable[[Any], Tensor] | None = None,
        budget: int = BUDGET,
    ) -> None:
        self.model, self.inputs, self.budget = model, dict(inputs), budget
        self.read = read or _logits
        self.site, self.described, self.ordinal = site_module(model, site)
        self.call, self.passed, self.output, self.steps = self._record()
        self.batch, _, self.n_query, _ = self.call.weights.shape
        self.layer: nn.Module | None = None
        self.rows: Rows | None = None
        self.strategy: Strategy = self._fastest_strategy()

    def __call__(self, override: Rule, times: int = 1) -> Tensor:
        """The model's outputs under an override, applied `times` times: [times batch ...].

        They are on the graph if the override's weights are (`from_logits` of a parameter, say). Keys that differ from
        one time to the next are given as truth values [times batch key]: `replay(without(keys), times=len(keys))`.
        """
        if times < 1:
            raise ValueError(f"times must be 1 or more, it is {times}")
        chunk = max(1, self.budget // self._bytes_each())
        firsts = range(0, times, chunk)
        return torch.cat([self._run(self.strategy, override, min(chunk, times - first), first) for first in firsts])

    def _record(self) -> tuple[Call, Pass, Tensor, int]:
        passed = Pass(self.model)
        recorder = Recorder(self.ordinal, passed.reach)
        with torch.no_grad(), passed.followed(), session_at(self.site, recorder):
            output = self.read(self.model(**self.inputs))
        if recorder.call is None:
            raise CannotReplay(f"the forward pass never reached site {self.described.name!r}; nothing to re-run")
        return replace(recorder.call, site=self.described), passed, output, -(-recorder.count // self.site.calls)

    def _fastest_strategy(self) -> Strategy:
        once = self.steps == 1
        possible: dict[Strategy, bool] = {
            "queries": self.site.terminal and once,
            "rows": self.call.mix is not None and once,
            "context": self.call.mix is not None and once,
            "batch": True,
            "full": True,
        }
        self.rejected: list[str] = []  # the faster strategies, and why they do not work for this model
        for strategy in (strategy for strategy, there in possible.items() if there):
            try:
                if strategy == "rows" and not self._find_rows():
                    continue
                off = self._distance(strategy)
            except (RuntimeError, IndexError) as error:  # the model cannot be run like that
                self.rejected.append(f"{strategy}: {type(error).__name__}: {error}")
                continue
            if off <= _tolerance(self.output):
                return strategy
            self.rejected.append(f"{strategy}: off by {off:.2g}")
        raise CannotReplay(
            f"running {type(self.model).__name__} again from site {self.described.name!r} does not reproduce what was"
            f" recorded ({'; '.join(self.rejected)}). Is it in evaluation mode? If so, use full forward passes."
        )

    def _distance(self, strategy: Strategy) -> float:
        """The error of a strategy: against the recorded output, and for `rows` also against the `context` strategy."""
        with torch.no_grad():
            off = (self._run(strategy, lambda call: call.weights, 2) - self.output).abs().max()
            if strategy == "rows":
                by_rows, by_all = self._run("rows", TRIAL, 1), self._run("context", TRIAL, 1)
                off = torch.maximum(off, (by_rows - by_all).abs().max())
            return float(off / self.output.abs().max().clamp_min(1.0))

    def _find_rows(self) -> bool:
        """Find the rows that are read out after the layer around the site, if it is the last of its stack."""
        self.layer = layer = last_layer_around(self.passed.path, self.model)
        for_every_row = self.output.dim() > 2 and self.output.shape[1] == self.n_query
        if layer is None or for_every_row or any(module is layer for module, _ in self.passed.finished):
            return False
        inside = set(layer.modules())
        before = [(module, output) for module, output in self.passed.finished if module not in inside]

        def after_layer(layer_output: Any) -> Tensor:
            copies = tree_leaves(layer_output)[0].shape[0] // self.batch
            with (
                recorded_outputs(before, lambda _, output: self._copied(output, copies)),
                recorded_outputs([(layer, layer_output)], lambda _, output: output),
            ):
                return self.read(self.model(**self._copied(self.inputs, copies)))

        with torch.no_grad():
            at_once = max(1, min(32, self.budget // self._bytes_each()))
            self.rows = equally_many(rows_read(self.passed.outputs[layer], after_layer, self.n_query, at_once))
        return self.rows is not None

    def _run(self, strategy: Strategy, override: Rule, copies: int, first: int = 0) -> Tensor:
        if self.steps > 1:
            return self._run_steps(strategy, override, copies, first)
        call = self.call
        if strategy == "rows" and self.rows is not None:
            call = call_of_rows(call, self.rows)
        call = repeat_call(call, copies, first)
        weights = checked_weights(override, call)
        inputs = self.inputs if strategy == "queries" else self._copied(self.inputs, copies, real=True)
        with torch.set_grad_enabled(weights.requires_grad), self._overridden(strategy, weights, copies):
            output = self.read(self.model(**inputs))
        if strategy == "queries":
            return output.unflatten(0, (self.batch, copies)).transpose(0, 1)
        return output.unflatten(0, (copies, self.batch))

    def _run_steps(self, strategy: Strategy, override: Rule, copies: int, first: int) -> Tensor:
        """Override every step as it comes: each depends on those before it."""
        each = EachStep(override, replace(self.call, copies=copies, first_copy=first), self.ordinal, self.site.calls)
        finished = [] if strategy == "full" else self.passed.finished
        with (
            recorded_outputs(finished, lambda _, output: self._copied(output, copies, real=True)),
            session_at(self.site, each),
        ):
            output = self.read(self.model(**self._copied(self.inputs, copies, real=True)))
        return (output if each.on_graph else output.detach()).unflatten(0, (copies, self.batch))

    @contextmanager
    def _overridden(self, strategy: Strategy, weights: Tensor, copies: int) -> Iterator[None]:
        """The prefix returns what it recorded, and the site the new weights, or the context that they give."""
        inside = set(self.layer.modules()) if strategy == "rows" and self.layer is not None else set()

        def adapt(module: nn.Module, output: Any) -> Any:
            if strategy == "queries":
                return output
            if module in inside and self.rows is not None:
                output = take_rows(output, self.rows, self.n_query)
            return self._copied(output, copies, real=strategy == "batch")

        given = {"batch": weights, "full": weights, "queries": as_queries(weights, copies)}.get(strategy)
        ready = self._context(weights, copies) if strategy in ("rows", "context") else None
        with (
            recorded_outputs([] if strategy == "full" else self.passed.finished, adapt),
            self._layer_by_rows(copies) if strategy == "rows" else nullcontext(),
            session_at(self.site, Once(given, ready)),
        ):
            yield

    def _context(self, weights: Tensor, copies: int) -> Tensor:
        """The context of the new weights over the recorded values, [copies·batch query ...]."""
        assert self.call.mix is not None
        context = self.call.mix(as_queries(weights, copies))  # [batch copies·query ...]
        return context.unflatten(1, (copies, -1)).transpose(0, 1).flatten(0, 1)

    def _layer_by_rows(self, copies: int) -> AbstractContextManager[None]:
        assert self.layer is not None
        assert self.rows is not None
        whole = self.passed.outputs[self.layer]
        rows, n_row = self.rows.repeat(copies, 1), self.n_query

        def by_rows(compute: Callable[..., Any]) -> Callable[..., Any]:
            def forward(*args: Any, **kwargs: Any) -> Any:
                parts = compute(*take_rows(args, rows, n_row), **take_rows(kwargs, rows, n_row))
                return fill_rows(whole, parts, rows, n_row)

            return forward

        return Replaced({self.layer: by_rows}).entered()

    def _copied(self, structure: Any, copies: int, real: bool = False) -> Any:
        """A structure with its batch repeated."""
        return repeat_batch(structure, self.batch, copies, real)

    def _bytes_each(self) -> int:
        """About how much memory one override takes: its weights, several times, and what a layer after it holds."""
        outputs = [leaf for _, output in self.passed.finished for leaf in tree_leaves(output)]
        largest = max((leaf.numel() for leaf in outputs if isinstance(leaf, Tensor)), default=0)
        weights, strategy = self.call.weights.numel() * self.steps, getattr(self, "strategy", "context")
        if strategy == "rows" and self.rows is not None:
            weights = weights * self.rows.shape[1] // self.n_query
        held = {"queries": 0, "rows": 3}.get(strategy, 12)
        return 4 * (4 * weights + held * largest)


def _tolerance(output: Tensor) -> float:
    return 1e-4 if output.dtype in (torch.float32, torch.float64) else 2e-2


def _logits(output: Any) -> Tensor:
    if isinstance(output, Tensor):
        return output
    logits = getattr(output, "logits", None)
    return logits if isinstance(logits, Tensor) else next(t for t in tree_leaves(output) if isinstance(t, Tensor))
