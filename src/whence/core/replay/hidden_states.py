"""Running a model again from one of its modules on, with what that module returned edited, many edits at once.

`Replay` overrides the weights of an attention site; this edits hidden states. In both, the modules
that had finished return what they recorded, and the model's own code does the rest.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from whence.core.errors import CannotReplay
from whence.core.replay.copies import repeat_batch
from whence.core.replay.recorded_pass import Pass, recorded_outputs

BUDGET = 96 * 2**20  # bytes
HELD = 12  # how often the largest output stands in memory while a layer runs
States = Float[Tensor, "copies batch *places width"]
Edit = Callable[[States, range], States]  # hidden states, and the numbers of the copies that these are


class Resume:
    """A recorded forward pass that can be run again from where a module returned, the `ordinal`-th time it did.

    `resume(edit, times=100)` gives what is `read` of the model's output under 100 edits, [100 batch ...], as
    many in one batch as fit `budget` bytes. `edit` gets the module's hidden states, [copies batch ... width], and
    which of the edits the copies are, and returns others of the same shape. `hidden` is what was recorded,
    `inputs` are the model's keyword arguments; put the model in evaluation mode first. If the model cannot be run from
    there on with the rest returned from memory, all of it runs (`partial` is False).
    """

    def __init__(
        self,
        model: nn.Module,
        module: nn.Module,
        inputs: Mapping[str, Any],
        read: Callable[[Any], Tensor],
        *,
        ordinal: int = 0,
        budget: int = BUDGET,
    ) -> None:
        self.model, self.module, self.inputs, self.read = model, module, dict(inputs), read
        self.ordinal, self.budget = ordinal, budget
        self.passed = Pass(model)
        self.output = self._record()
        self.batch = len(self.output)
        self.returned = self.passed.finished[-1][1]
        self.hidden = self._states(self.returned, 1)[0]  # [batch ... width]
        self.partial = True
        if not self._same_again():
            self.partial = False
            if not self._same_again():
                raise CannotReplay(
                    f"running {type(model).__name__} again from a {type(module).__name__} does not reproduce what was"
                    " recorded. Is it in evaluation mode?"
                )

    @torch.no_grad()
    def __call__(self, edit: Edit, times: int) -> Float[Tensor, "times batch *rest"]:
        """The outputs under `times` edits."""
        leaves = tree_leaves([output for _, output in self.passed.finished])
        largest = max(leaf.numel() for leaf in leaves if isinstance(leaf, Tensor))
        chunk = max(1, self.budget // (4 * HELD * largest))
        firsts = range(0, times, chunk)
        return torch.cat([self._run(edit, range(first, min(first + chunk, times))) for first in firsts])

    @torch.no_grad()
    def _record(self) -> Tensor:
        calls = 0

        def reached(module: nn.Module, args: Any, output: Any) -> None:
            nonlocal calls
            if calls == self.ordinal:
                self.passed.reach()  # its own output is the last that was finished
            calls += 1

        with self.passed.followed():
            hook = self.module.register_forward_hook(reached)
            try:
                output = self.read(self.model(**self.inputs))
            finally:
                hook.remove()
        if calls <= self.ordinal:
            raise CannotReplay(f"the forward pass called a {type(self.module).__name__} {calls} times; nothing to edit")
        return output

    def _same_again(self) -> bool:
        """Whether two unedited copies give what was recorded, and whether what is edited is what is run on."""
        try:
            again = self._run(lambda states, _: states, range(2))
        except (RuntimeError, IndexError, ValueError):  # the model cannot be run in that way
            return False
        off = (again - self.output).abs().max() / self.output.abs().max().clamp_min(1.0)
        return bool(off <= (1e-4 if self.output.dtype in (torch.float32, torch.float64) else 2e-2))

    @torch.no_grad()
    def _run(self, edit: Edit, numbers: range) -> Float[Tensor, "copies batch *rest"]:
        copies = len(numbers)
        inputs = repeat_batch(self.inputs, self.batch, copies)
        with self._from_memory(edit, numbers) if self.partial else self._during_the_pass(edit, numbers):
            return self.read(self.model(**inputs)).unflatten(0, (copies, self.batch))

    def _from_memory(self, edit: Edit, numbers: range) -> Any:
        def adapt(module: nn.Module, output: Any) -> Any:
            given = repeat_batch(output, self.batch, len(numbers))
            return self._edited(given, edit, numbers) if output is self.returned else given

        return recorded_outputs(self.passed.finished, adapt)

    @contextmanager
    def _during_the_pass(self, edit: Edit, numbers: range) -> Iterator[None]:
        calls = 0

        def change(module: nn.Module, args: Any, output: Any) -> Any:
            nonlocal calls
            calls += 1
            return self._edited(output, edit, numbers) if calls == self.ordinal + 1 else output

        hook = self.module.register_forward_hook(change)
        try:
            yield
        finally:
            hook.remove()

    def _edited(self, output: Any, edit: Edit, numbers: range) -> Any:
        """The module's output with other hidden states: its first tensor of numbers."""
        leaves, structure = tree_flatten(output)
        place = _first(leaves)
        states = edit(self._states(output, len(numbers)), numbers).flatten(0, 1)
        leaves[place] = states.movedim(0, self._axis(leaves[place], len(numbers))).contiguous()
        return tree_unflatten(leaves, structure)

    def _states(self, output: Any, copies: int) -> States:
        leaves = tree_leaves(output)
        states = leaves[_first(leaves)]
        return states.movedim(self._axis(states, copies), 0).unflatten(0, (copies, self.batch))

    def _axis(self, states: Tensor, copies: int) -> int:
        """Where the batch is: the first axis, or with XLNet the second."""
        return list(states.shape[:2]).index(copies * self.batch)


def _first(leaves: list[Any]) -> int:
    """The place of the first tensor of numbers with a fraction."""
    return next(n for n, leaf in enumerate(leaves) if isinstance(leaf, Tensor) and leaf.is_floating_point())
