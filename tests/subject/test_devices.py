"""Devices by name. This machine has none but its processor: what is said of others is what can be said without them."""

import pytest
import torch

from whence.core.errors import BadConfig, is_out_of_memory
from whence.subject.devices import device_named, environments


def test_auto_is_the_best_there_is(monkeypatch):
    if not torch.cuda.is_available() and not torch.backends.mps.is_available():
        assert device_named("auto") == torch.device("cpu")
    assert device_named("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["cuda:99", "nowhere", "cpu:x"])
def test_a_device_that_is_not_there_gets_a_sentence(name):
    with pytest.raises(BadConfig, match=r"cannot be used here: .*; expected one of: auto"):
        device_named(name)


def test_each_worker_sees_one_of_several_devices():
    assert environments("cuda", 3) == [{"CUDA_VISIBLE_DEVICES": str(number)} for number in range(3)]
    assert environments("auto", 2)[1] == {"CUDA_VISIBLE_DEVICES": "1"}
    assert environments("cuda:1", 3) == environments("cpu", 3) == environments("cuda", 1) == [{}]


def test_an_allocator_that_refuses_is_out_of_memory():
    with pytest.raises(RuntimeError) as refused:
        torch.empty(2**50, dtype=torch.uint8)
    assert is_out_of_memory(refused.value)
    assert is_out_of_memory(MemoryError())
    assert not is_out_of_memory(RuntimeError("shapes differ"))
    assert not is_out_of_memory(ValueError("out of memory"))
