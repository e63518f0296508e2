"""Where a model attends, found by watching one forward pass; upstream's own declarations do not always name it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedModel

from whence.core.errors import CannotAdopt, NoAttention
from whence.core.hooks import remove_hooks
from whence.core.scope import undone
from whence.huggingface.base_site import AdoptedSite
from whence.huggingface.eager_site import EagerSite
from whence.huggingface.fused_site import FusedSite
from whence.huggingface.interface import Listener
from whence.huggingface.interface_site import InterfaceSite
from whence.huggingface.probe import Inputs, run
from whence.huggingface.softmax_tap import FUSED, Tap


@dataclass(frozen=True)
class Attended:
    """A module attended during the forward pass, by one of three routes."""

    host: nn.Module
    route: type[AdoptedSite]
    shape: tuple[int, ...]


class Discovery:
    """Records which modules attend: a listener at the attention interface, and a tap around the whole forward pass."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model, self.stack, self.log = model, list[nn.Module](), list[Attended]()
        self.lengths: dict[nn.Module, set[int]] = {}

    def on_interface(self, module: nn.Module, query: Tensor, key: Tensor) -> None:
        self.log.append(Attended(module, InterfaceSite, (*query.shape[:3], key.shape[2])))

    def on_softmax(self, weights: Tensor, scores: Tensor) -> Tensor:
        if weights.dim() > 2:  # also of five axes and more: such attention is refused below
            self.log.append(Attended(self._host(), EagerSite, tuple(weights.shape)))
        return weights

    def on_fused(self, *args: Any, **kwargs: Any) -> Tensor:
        query, key = args[0], args[1] if len(args) > 1 else kwargs["key"]
        self.log.append(Attended(self._host(), FusedSite, (*query.shape[:-1], key.shape[-2])))
        return FUSED(*args, **kwargs)

    def _host(self) -> nn.Module:
        """The innermost module at work that has parameters: nn.Softmax is not a host, the attention around it is."""
        owners = [module for module in self.stack if next(module.parameters(), None) is not None]
        return owners[-1]

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Follow which module is at work, and how long the sequences are that it is given."""
        listener = Listener(self.on_interface)

        def enter(module: nn.Module, args: Any, kwargs: Any) -> None:
            if not listener.here:
                return
            self.stack.append(module)
            given = [t for t in (*args, *kwargs.values()) if isinstance(t, Tensor) and t.dim() == 3]
            self.lengths.setdefault(module, set()).update(size for t in given for size in t.shape)

        def leave(module: nn.Module, args: Any, output: Any) -> None:
            if listener.here:
                self.stack.pop()

        with undone(lambda: remove_hooks(self.model, lambda hook: hook in (enter, leave))):
            for module in self.model.modules():
                module.register_forward_pre_hook(enter, with_kwargs=True)
                module.register_forward_hook(leave, always_call=True)
            with listener.entered(), Tap(self.on_softmax, self.on_fused).active():
                yield


def discover(model: PreTrainedModel, inputs: Inputs) -> tuple[list[Attended], dict[str, nn.Module]]:
    """Run the probe once; return which modules attended, in order, and which attention did not run.

    An error for attention that has no rows over keys.
    """
    discovery = Discovery(model)
    with discovery.listening():
        run(model, inputs)
    asked = {event.host for event in discovery.log if event.route is InterfaceSite}
    log = [event for event in discovery.log if event.route is InterfaceSite or event.host not in asked]
    unreached = {n: m for n, m in model.named_modules() if _is_named_attention(m) and m not in discovery.lengths}
    return _supported(model, discovery, log), unreached


def _supported(model: PreTrainedModel, discovery: Discovery, log: list[Attended]) -> list[Attended]:
    names = {module: name for name, module in model.named_modules()}
    hidden = [m for m in discovery.lengths if isinstance(m, nn.MultiheadAttention)]
    if hidden:
        raise CannotAdopt(
            f"{names[hidden[0]]} is torch's own nn.MultiheadAttention, which hides its weights; Whence can adopt models"
            " whose attention is written in Python (transformers' eager or sdpa attention). Write this attention with"
            " torch.softmax, or put a whence.core.site.AttentionSite into it"
        )
    kept = []
    for event in log:
        lengths = discovery.lengths[event.host]
        if event.route is InterfaceSite or _rows_over_keys(event, lengths):
            kept.append(event)
        elif _is_named_attention(event.host):
            raise CannotAdopt(
                f"{names[event.host]} ({type(event.host).__name__}) attends in a form that has no row over all keys:"
                f" its weights are {list(event.shape)} for sequences of {sorted(lengths)}. Bands, blocks and hashes of"
                " keys are not supported; use a model with full attention."
            )
    attending = [m for m in discovery.lengths if _is_named_attention(m)]
    if not kept and attending:
        raise CannotAdopt(
            f"{names[attending[0]]} ({type(attending[0]).__name__}) attends, but not through the attention interface, a"
            " softmax over keys or fused attention: its weights are hashed, approximated or hidden in a kernel, and"
            f" have no row over all keys. {type(model).__name__} cannot be adopted; use a model with full attention."
        )
    if not kept:
        raise NoAttention(
            f"{type(model).__name__} has no attention that could be found: one forward pass called neither the"
            " attention interface, nor a softmax over keys, nor fused attention. Whence is for models with attention."
        )
    return kept


def _rows_over_keys(event: Attended, lengths: set[int]) -> bool:
    """Whether these can be axes [batch head query key], heads perhaps folded into the batch; one query may pool."""
    *_, n_query, n_key = event.shape
    axes = (3, 4) if event.route is EagerSite else (4,)
    return len(event.shape) in axes and n_key in lengths and n_query in {*lengths, 1}


def _is_named_attention(module: nn.Module) -> bool:
    """Whether a module's class says that it attends, and it has something to attend with."""
    named = re.search("attention|attn", type(module).__name__.lower())
    return named is not None and next(module.parameters(), None) is not None
