"""What a run costs, counted rather than timed: the operations of its tensors, and the bytes that it holds."""

import gc
import math
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Run = Callable[[], object]
aten = torch.ops.aten
PRODUCTS: dict[Any, tuple[int, int]] = {  # where the two factors are among the arguments
    aten.mm: (0, 1),
    aten.bmm: (0, 1),
    aten.addmm: (1, 2),
    aten.baddbmm: (1, 2),
}
FACTORISATIONS = {aten._linalg_svd, aten.linalg_qr, aten._linalg_eigh}
FUSED = {aten._scaled_dot_product_flash_attention_for_cpu, aten._scaled_dot_product_attention_math}


class Cost(NamedTuple):
    """Operations of a run, the processor's seconds for it, and the most bytes that it held in tensors and in arrays."""

    work: float
    seconds: float
    memory: float


class Counting(TorchDispatchMode):
    """Counts operations and living bytes of every tensor that is made while it is open, also during backward."""

    def __init__(self) -> None:
        super().__init__()
        self.work = 0
        self.alive: dict[int, tuple[StorageWeakRef, int]] = {}
        self.now = self.most = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        tensors = [tensor for tensor in tree_leaves(made) if isinstance(tensor, Tensor)]
        self.work += operations(function, args, tensors)
        for tensor in tensors:
            self._hold(tensor)
        if self.now > self.most:  # only then it matters what has been freed
            self.alive = {key: one for key, one in self.alive.items() if not one[0].expired()}
            self.now = sum(size for _, size in self.alive.values())
            self.most = max(self.most, self.now)
        return made

    def _hold(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        known = self.alive.get(storage._cdata)
        if known is None or known[0].expired():  # an address is used again
            self.now += storage.nbytes() - (known[1] if known else 0)
            self.alive[storage._cdata] = StorageWeakRef(storage), storage.nbytes()


def operations(function: Any, args: Sequence[Any], made: Sequence[Tensor]) -> int:
    """Multiplications of a product, of attention or of a factorisation; else the largest number of elements touched."""
    packet = function.overloadpacket
    if packet in PRODUCTS:
        left, right = (args[place] for place in PRODUCTS[packet])
        return int(left.numel() * right.shape[-1])
    if packet in FUSED:
        query, key, value = args[:3]
        return int(query.numel() * key.shape[-2] + query.numel() // query.shape[-1] * value.shape[-1] * key.shape[-2])
    if packet in FACTORISATIONS:
        return int(args[0].numel() * min(args[0].shape[-2:]))
    if function.is_view:
        return 0
    given = [tensor for tensor in tree_leaves(list(args)) if isinstance(tensor, Tensor)]
    if packet in (aten.embedding, aten.index, aten.index_select, aten.gather, aten.slice):
        given = []  # what is picked from is not read whole
    return max((tensor.numel() for tensor in (*given, *made)), default=0)


def cost(run: Run) -> Cost:
    """The cost of one run. Garbage is not collected meanwhile, since when that happens depends on everything else."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    before, start = tracemalloc.get_traced_memory()[0], time.process_time()
    with Counting() as counting:
        run()
    seconds, arrays = time.process_time() - start, tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    gc.enable()
    return Cost(float(counting.work), seconds, float(counting.most + arrays))


def growth(values: Sequence[float], hidden: float = 0.02) -> float:
    """The exponent at sizes that double: how much more the last doubling adds than the one before.

    What is the same at any size drops out of differences. Where the last doubling adds no more than the share `hidden`,
    what is the same hides the rest: then the slope itself, which is small.
    """
    before, last = values[-2] - values[-3], values[-1] - values[-2]
    if last <= hidden * values[-1]:
        return max(0.0, slope(values))
    return math.log2(last / before) if before > 0 else math.inf


def slope(values: Sequence[float]) -> float:
    """How often what the last doubling has left behind doubles: the exponent, if nothing is the same at any size."""
    return math.log2(values[-1] / values[-2])
