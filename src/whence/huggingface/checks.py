"""What is refused before the model runs: not a model, not an input, or a model that the probe would change."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from whence.core.errors import CannotAdopt


def adoptable(model: nn.Module) -> PreTrainedModel:
    """The model, or the one inside a wrapper, if it is one that can be adopted at all."""
    model = _unwrapped(model)
    if hasattr(model, "_orig_mod"):
        raise CannotAdopt("this model is compiled by torch.compile; adopt the model as it was before compiling")
    if not isinstance(model, PreTrainedModel):
        raise CannotAdopt(
            f"adopt takes a Hugging Face model (a transformers.PreTrainedModel); this is a {type(model).__name__}. In a"
            " model of your own, put a whence.core.site.AttentionSite where scores become weights."
        )
    return model


def _unwrapped(model: Any) -> nn.Module:
    """The model inside PEFT, DataParallel or DistributedDataParallel; they share it, so that both have its sites."""
    while True:
        if isinstance(model, nn.DataParallel | nn.parallel.DistributedDataParallel):
            model = model.module
        elif type(model).__module__.partition(".")[0] == "peft" and hasattr(model, "get_base_model"):
            _refuse_prompts(model)
            model = model.get_base_model()
        else:
            return model


def _refuse_prompts(model: nn.Module) -> None:
    configs = getattr(model, "peft_config", {})
    if any(getattr(config, "is_prompt_learning", False) for config in configs.values()):
        raise CannotAdopt(
            f"{type(model).__name__} puts a learned prompt before each text, outside the model that attends; adopt"
            " model.get_base_model() to look at the model without its prompt"
        )


def refuse_offloaded(model: PreTrainedModel) -> None:
    """Weights that are not in memory cannot be proven right."""
    away = [name for name, parameter in model.named_parameters() if parameter.is_meta]
    if away:
        raise CannotAdopt(
            f"{len(away)} weights of {type(model).__name__} are not in memory (the first is {away[0]}): the model is"
            " offloaded by accelerate or device_map, or was never loaded; load it onto one device, without"
            " cpu_offload or an offloading device_map, and adopt it then"
        )


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
            f" return_tensors='pt') gives them; got a {type(example).__name__} without tensors"
        )
