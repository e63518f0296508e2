"""The prefix of a forward pass: what a model has finished when it reaches a site.

Partial recomputation runs the model again with everything that was finished replaced by what it returned. That needs no
knowledge of the architecture: the model's own code runs, but the modules of the prefix return what they recorded.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import nn

from whence.core.hooks import remove_hooks
from whence.core.replaced import Replaced
from whence.core.scope import Scope, undone

Finished = list[tuple[nn.Module, Any]]  # modules and what they returned, in order


class Pass:
    """Follows a forward pass. `finished` holds the outermost calls that ended before the site was reached; `path` the
    modules that were still at work then, from the model down to the site; `outputs` what those returned in the end.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.finished: Finished = []
        self.path: list[nn.Module] = []
        self.outputs: dict[nn.Module, Any] = {}
        self._begun: list[int] = []
        self._scope = Scope()
        self._reached = False

    def reach(self) -> None:
        """The site is reached: what is finished now is the prefix."""
        self._reached = True

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Listen to every module for the length of a block."""
        with undone(lambda: remove_hooks(self.model, lambda hook: hook in (self._enter, self._leave))):
            for module in self.model.modules():
                module.register_forward_pre_hook(self._enter)
                module.register_forward_hook(self._leave)
            with self._scope.entered():
                yield

    def _enter(self, module: nn.Module, args: Any) -> None:
        if self._scope.here and not self._reached:
            self.path.append(module)
            self._begun.append(len(self.finished))

    def _leave(self, module: nn.Module, args: Any, output: Any) -> None:
        if not self._scope.here:
            return
        if not self._reached:
            self.path.pop()
            del self.finished[self._begun.pop() :]  # a finished module stands for all it called
            self.finished.append((module, output))
        elif module in self.path and module not in self.outputs:
            self.outputs[module] = output


@contextmanager
def recorded_outputs(finished: Finished, adapt: Callable[[nn.Module, Any], Any]) -> Iterator[None]:
    """While the block lasts, the next calls of these modules return what they returned before, adapted.

    A module is in the list once for each call it had finished; when those are used up, it computes again.
    """
    recorded: dict[nn.Module, deque[Any]] = {}
    for module, output in finished:
        recorded.setdefault(module, deque()).append(output)

    def from_memory(module: nn.Module, compute: Callable[..., Any]) -> Callable[..., Any]:
        def forward(*args: Any, **kwargs: Any) -> Any:
            return adapt(module, recorded[module].popleft()) if recorded[module] else compute(*args, **kwargs)

        return forward

    with Replaced({module: partial(from_memory, module) for module in recorded}).entered():
        yield
