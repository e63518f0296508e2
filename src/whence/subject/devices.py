"""Where models run: a device by its name, `auto` for the best there is, and one worker for each of several."""

import torch

from whence.core.errors import BadConfig

DEVICES = "auto (the best there is), cpu, cuda, cuda:1, mps"


def device_named(name: str) -> torch.device:
    """The device of that name, if it can be used here; `auto` is CUDA, else Apple's MPS, else the processor."""
    if name == "auto":
        mps = torch.backends.mps.is_available()
        name = "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadConfig(f"the device {name!r} cannot be used here: {reason}; expected one of: {DEVICES}") from error
    return device


def environments(name: str, count: int | None = None) -> list[dict[str, str]]:
    """For workers on this machine in turn: each sees one of several CUDA devices, if no single one was named."""
    there = torch.cuda.device_count() if count is None else count
    if name not in ("auto", "cuda") or there < 2:
        return [{}]
    return [{"CUDA_VISIBLE_DEVICES": str(number)} for number in range(there)]
