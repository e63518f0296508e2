"""What is refused before the model runs: not a model, not an input, or a model that the probe would change."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from whence.core.errors import CannotAdopt


def adoptable(model: nn.Module) -> PreTrainedModel:
    """The model, if it is one that can be adopted at all."""
    if hasattr(model, "_orig_mod"):
        raise CannotAdopt("this model is compiled by torch.compile; adopt the model as it was before compiling")
    if not isinstance(model, PreTrainedModel):
        raise CannotAdopt(
            f"adopt takes a Hugging Face model (a transformers.PreTrainedModel); this is a {type(model).__name__}. In a"
            " model of your own, put a whence.core.site.AttentionSite where scores become weights."
        )
    return model


def refuse_blocks(model: PreTrainedModel) -> None:
    """BigBird attends in blocks until it meets a text as short as the probe, and from then on never again."""
    if any(getattr(module, "attention_type", None) == "block_sparse" for module in model.modules()):
        raise CannotAdopt(
            f"{type(model).__name__} attends in blocks (attention_type 'block_sparse'), which have no row over all"
            ' keys; load it with attention_type="original_full", or say so in its config.json'
        )


def refuse_no_inputs(example: Any) -> None:
    """An example must be something that a model can be called with."""
    if not isinstance(example, Mapping) or not any(isinstance(value, torch.Tensor) for value in example.values()):
        raise CannotAdopt(
            "an example is the keyword arguments of the model, tensors by name, as tokenizer(texts,"
            f" return_tensors='pt') gives them; came a {type(example).__name__} without tensors"
        )
