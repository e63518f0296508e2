"""The law of threads: a block belongs to the thread or task that opened it, on one and the same model."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.testing import assert_close

from support import zoo
from support.subjects import outputs, subject
from whence import Replay, attending, random, sites, uniform
from whence.core.scope import ANYWHERE
from whence.core.site import AttentionSite

representatives = pytest.mark.parametrize("name", zoo.representatives(zoo.EVERY))
ROUNDS = 4


@pytest.fixture(autouse=True)
def threads_take_turns_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def together(*works: Callable[[], list[torch.Tensor]]) -> list[list[torch.Tensor]]:
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


@representatives
def test_threads_on_one_model_see_their_own_overrides_and_tapes(name):
    model, inputs = subject(name)
    plain = outputs(model, inputs)
    site = list(sites(model))[-1]
    with attending(model) as alone:
        watched = outputs(model, inputs)
    with attending(model, override=uniform, watch=None):
        overridden = outputs(model, inputs)
    calls = len(alone.calls())

    def attends_not() -> list[torch.Tensor]:
        return [outputs(model, inputs) for _ in range(2 * ROUNDS)]

    def overrides() -> list[torch.Tensor]:
        results = []
        for _ in range(ROUNDS):
            with attending(model, override=uniform, watch=None):
                results.append(outputs(model, inputs))
        return results

    def watches() -> list[torch.Tensor]:
        results = []
        for _ in range(ROUNDS):
            with attending(model) as tape:
                results.append(outputs(model, inputs))
            assert len(tape.calls()) == calls
            assert_close(tape.joined(site).weights, alone.joined(site).weights, atol=0.0, rtol=0.0)
        return results

    found = together(attends_not, overrides, watches)
    for results, expected in zip(found, (plain, overridden, watched), strict=True):
        for result in results:
            assert_close(result, expected, atol=0.0, rtol=0.0)
    assert not ANYWHERE
    assert not any("forward" in module.__dict__ for module in model.modules())
    assert not any(module.attended for module in model.modules() if isinstance(module, AttentionSite))


@representatives
def test_a_replay_in_one_thread_does_not_show_in_another(name):
    model, inputs = subject(name)
    plain, site = outputs(model, inputs), next(iter(sites(model)))
    expected = Replay(model, site, inputs)(uniform)

    def replays() -> list[torch.Tensor]:
        return [Replay(model, site, inputs)(uniform) for _ in range(2)]

    def runs() -> list[torch.Tensor]:
        return [outputs(model, inputs) for _ in range(2 * ROUNDS)]

    replayed, ran = together(replays, runs)
    for result in replayed:
        assert_close(result, expected, atol=1e-6, rtol=1e-6)
    for result in ran:
        assert_close(result, plain, atol=0.0, rtol=0.0)


@pytest.mark.parametrize("name", ["bert", "deberta-v2"])
def test_tasks_that_take_turns_see_their_own_blocks(name):
    """Two tasks of one thread, each inside a block while the other runs the model; a third attends to nothing."""
    model, inputs = subject(name)
    plain = outputs(model, inputs)
    expected = {}
    for key, override in (("uniform", uniform), ("random", random(0))):
        with attending(model, override=override, watch=None):
            expected[key] = outputs(model, inputs)

    async def attend(override) -> torch.Tensor:
        with attending(model, override=override, watch=None):
            await asyncio.sleep(0)
            result = outputs(model, inputs)
            await asyncio.sleep(0)
        return result

    async def attend_not() -> list[torch.Tensor]:
        results = []
        for _ in range(4):
            results.append(outputs(model, inputs))
            await asyncio.sleep(0)
        return results

    async def all_of_them():
        return await asyncio.gather(attend(uniform), attend(random(0)), attend_not())

    first, second, unattended = asyncio.run(all_of_them())
    assert_close(first, expected["uniform"], atol=0.0, rtol=0.0)
    assert_close(second, expected["random"], atol=0.0, rtol=0.0)
    for result in unattended:
        assert_close(result, plain, atol=0.0, rtol=0.0)


def test_a_task_that_outlives_the_block_it_was_started_in_is_not_overridden_any_more():
    model, inputs = subject("bert")
    plain = outputs(model, inputs)

    async def runs(begin: asyncio.Event) -> torch.Tensor:
        await begin.wait()
        return outputs(model, inputs)

    async def starts() -> torch.Tensor:
        begin = asyncio.Event()
        with attending(model, override=uniform, watch=None):
            task = asyncio.create_task(runs(begin))
            inside = await asyncio.to_thread(outputs, model, inputs)  # takes the block along
        assert not torch.allclose(inside, plain)
        begin.set()
        return await task

    assert_close(asyncio.run(starts()), plain, atol=0.0, rtol=0.0)
