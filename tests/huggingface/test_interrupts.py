"""Ctrl-C at any point of `adopt` and `attending` leaves nothing behind."""

import contextlib
import copy
import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
import torch
from torch import nn
from torch.overrides import _get_current_function_mode_stack
from torch.testing import assert_close

from support import zoo
from support.subjects import outputs
from whence import adopt, attending, release, sites, uniform
from whence.core.model_sites import ADOPTED
from whence.core.scope import ANYWHERE, HERE
from whence.core.site import AttentionSite
from whence.huggingface.probe import all_configs, probe_inputs

POINTS = {False: 15, True: 100}  # of each action on each of two models; more with `--all-families`
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a generator interrupted
FILES = ("whence/core/", "whence/huggingface/", "contextlib.py")


class Interrupting:
    """Raises KeyboardInterrupt at the n-th event (a line, call or return) in our files; counts them without n."""

    def __init__(self, at: int | None = None) -> None:
        self.at, self.count = at, 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        path = frame.f_code.co_filename
        if not any(part in path for part in FILES):
            return None
        self.count += 1
        if self.count == self.at:
            raise KeyboardInterrupt
        return self

    def run(self, action: Callable[[], object]) -> None:
        sys.settrace(self)
        try:
            action()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)


def state(model: nn.Module) -> object:
    """All that adoption and attending could leave in a model."""
    return (
        {
            name: (
                set(module.__dict__),
                module.training,
                list(module._modules),
                len(module._forward_hooks) + len(module._forward_pre_hooks),
            )
            for name, module in model.named_modules()
        },
        [config._attn_implementation for config in all_configs(model)],
    )


def assert_nothing_is_left() -> None:
    assert HERE.get() == ()
    assert ANYWHERE == []
    # torch itself may put a mode back that it had taken off when it was interrupted; such a tap is closed
    assert not any(mode.live for mode in _get_current_function_mode_stack())


@pytest.fixture(params=["bert", "deberta-v2"])
def tiny(request):
    family = zoo.BY_NAME[request.param]
    return family.build().train()


@pytest.fixture
def points(request) -> Callable[[Callable[[], object], int], list[int]]:
    """Random moments of an action."""

    def drawn(action: Callable[[], object], seed: int) -> list[int]:
        counting = Interrupting()
        counting.run(action)
        return random.Random(seed).sample(range(1, counting.count + 1), POINTS[request.config.option.all_families])

    return drawn


def test_an_interrupted_adoption_did_not_happen(tiny, points):
    inputs = probe_inputs(tiny)
    outputs(tiny, inputs)  # some models keep things from a forward pass
    before, clean = state(tiny), copy.deepcopy(tiny)
    for point in points(lambda: adopt(copy.deepcopy(clean), inputs), seed=1):
        Interrupting(point).run(lambda: adopt(tiny, inputs))
        assert_nothing_is_left()
        if ADOPTED in tiny.__dict__:  # the interrupt came when all was done
            assert sites(tiny)
            release(tiny)
        assert state(tiny) == before, point
    adopt(tiny, inputs)
    assert len(sites(tiny)) == 2


def test_an_interrupted_block_leaves_the_model_as_it_was(tiny, points):
    model, inputs = adopt(tiny.eval()), probe_inputs(tiny)
    expected, before = outputs(model, inputs), state(model)

    def attend() -> None:
        with attending(model, override=uniform):
            outputs(model, inputs)

    for point in points(attend, seed=2):
        Interrupting(point).run(attend)
        assert_nothing_is_left()
        assert state(model) == before, point
        assert not any(site.attended for site in model.modules() if isinstance(site, AttentionSite))
    assert_close(outputs(model, inputs), expected, atol=0.0, rtol=0.0)


def test_a_part_that_was_released_is_adopted_again_with_the_whole():
    model = zoo.BY_NAME["bert"].build()
    adopt(model.bert)
    adopt(model)
    names = list(sites(model))
    release(model.bert)
    assert sites(model) == {}
    adopt(model)
    assert list(sites(model)) == names
    adopt(model.bert)
    assert list(sites(adopt(model))) == names
    copied = copy.deepcopy(model)
    assert adopt(copied) is copied
    assert list(sites(copied)) == names


def test_release_mends_what_it_finds():
    """A session that never ended (its block's generator was lost) does not keep the model from being released."""
    model = adopt(zoo.BY_NAME["deberta-v2"].build())
    inputs = probe_inputs(model)
    block = attending(model, override=uniform)
    block.__enter__()
    with contextlib.suppress(KeyboardInterrupt):
        block.gen.throw(KeyboardInterrupt)
    assert sites(release(model)) == {}
    assert not any("forward" in module.__dict__ for module in model.modules())
    with torch.no_grad():
        assert_close(model(**inputs).logits, zoo.BY_NAME["deberta-v2"].build()(**inputs).logits)
