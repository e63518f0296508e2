"""Named random streams: every draw comes from a generator that a seed and a name determine."""

import hashlib

import torch


def stream(seed: int, name: str) -> torch.Generator:
    """A generator for one purpose: the same seed and name give the same numbers, other names independent ones."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)


def generator_from(seed: "int | torch.Generator", name: str) -> torch.Generator:
    """The generator itself if one is given, else the stream of that seed and name."""
    if not isinstance(seed, int | torch.Generator):
        raise ValueError(f"the seed of {name} must be a whole number or a torch.Generator; it is {seed!r}")
    return seed if isinstance(seed, torch.Generator) else stream(seed, name)
