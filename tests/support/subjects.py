"""Models of the zoo, adopted, with inputs to run them on; built once a process."""

from functools import cache
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from support import zoo
from whence.huggingface import adopt
from whence.huggingface.probe import probe_inputs, run

Inputs = dict[str, Any]


@cache
def subject(name: str, dtype: torch.dtype = torch.float32) -> tuple[PreTrainedModel, Inputs]:
    """A model with sites and a batch for it: two texts, the second padded (or two pictures, or two sounds)."""
    family = zoo.BY_NAME[name]
    model = family.build(dtype)
    inputs = {
        key: value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value
        for key, value in probe_inputs(model).items()
    }
    return (model if family.ours else adopt(model)), inputs


def outputs(model: PreTrainedModel, inputs: Inputs) -> Tensor:
    """The logits of one forward pass, without gradient."""
    with torch.no_grad():
        return model(**inputs).logits


__all__ = ["Inputs", "outputs", "run", "subject"]
