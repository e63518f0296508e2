"""The probe: one small forward pass that shows where a model attends, and whether its sites are right."""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves
from transformers import PreTrainedConfig, PreTrainedModel

from whence.core.errors import CannotAdopt
from whence.core.scope import undone
from whence.huggingface.companions import companions, noise, picture

Inputs = dict[str, Any]
LENGTH, TARGET_LENGTH, PADDING = 11, 7, 3  # odd lengths, so that no axis is taken for another


def probe_inputs(model: PreTrainedModel) -> Inputs:
    """Inputs the model runs on: two texts, one padded; or one text; or pictures or sound, as the model takes them."""
    failures: dict[str, str] = {}  # the names of the inputs, and why the model did not run on them
    for inputs in _candidates(model):
        try:
            run(model, inputs)
        except Exception as error:  # a model may refuse an input with any exception at all; the reasons are passed on
            failures.setdefault(", ".join(sorted(inputs)), f"{type(error).__name__}: {error}")
        else:
            return inputs
    reasons = {reason: names for names, reason in reversed(failures.items())}  # each reason once
    tried = "; ".join(f"{names} ({reason})" for reason, names in reversed(reasons.items()))
    tried = tried or f"nothing, since its main input is {model.main_input_name!r}"
    raise CannotAdopt(
        f"could not make up an input for {type(model).__name__}; pass one that it runs on: adopt(model, example=...)."
        f" Tried: {tried}"
    )


def _candidates(model: PreTrainedModel) -> Iterator[Inputs]:
    takes = inspect.signature(model.forward).parameters
    config, name = model.config, model.main_input_name
    text_config = config.get_text_config()
    common: Inputs = {"use_cache": False} if "use_cache" in takes else {}
    if name == "input_ids":
        for batch in (2, 1):
            inputs = common | _text(text_config, batch, "attention_mask" in takes)
            if "bbox" in takes:  # also where boxes may be left out: attention may depend on them
                for others in companions(config, ["bbox"], batch, LENGTH):
                    yield inputs | others
            if config.is_encoder_decoder and "decoder_input_ids" in takes:
                targets = _text(text_config, batch, False, TARGET_LENGTH)["input_ids"]
                yield inputs | {"decoder_input_ids": targets}
            yield inputs  # a classifier with a decoder gives it the source text itself
            if "token_type_ids" in takes:  # a model that reads pairs alone
                second = torch.arange(LENGTH) >= LENGTH // 2
                yield inputs | {"token_type_ids": second.long().repeat(batch, 1)}
            for others in companions(config, list(takes), batch, LENGTH):
                yield inputs | others
    elif name == "pixel_values":
        yield common | {name: picture(config, 2)}
    elif name == "input_features":
        frames = 2 * getattr(config, "max_source_positions", 50)
        inputs = common | {name: noise(2, getattr(config, "num_mel_bins", 80), frames)}
        if config.is_encoder_decoder:
            inputs["decoder_input_ids"] = _text(text_config, 2, False, TARGET_LENGTH)["input_ids"]
        yield inputs
    elif name == "input_values":
        yield common | {name: noise(2, 4000)}


def _text(config: PreTrainedConfig, batch: int, with_mask: bool, length: int = LENGTH) -> Inputs:
    """Random ids that are no special token, but for the end of text, which some heads read; the last text padded."""
    special = {v for k, v in vars(config).items() if k.endswith("_token_id") and isinstance(v, int)}
    vocabulary = getattr(config, "vocab_size", 200)  # CANINE has none: any character will do
    ordinary = [i for i in range(min(vocabulary, 200)) if i not in special] or list(range(vocabulary))
    chosen = torch.randint(len(ordinary), (batch, length), generator=torch.Generator().manual_seed(0), device="cpu")
    ids = torch.tensor(ordinary, device="cpu")[chosen]
    mask = torch.ones(batch, length, dtype=torch.long, device="cpu")
    padding = PADDING if with_mask and batch > 1 else 0
    eos, pad = getattr(config, "eos_token_id", None), getattr(config, "pad_token_id", None)
    for row in range(batch):
        end = length - padding if row == batch - 1 else length
        if isinstance(eos, int) and eos < vocabulary:
            ids[row, end - 1] = eos
        if isinstance(pad, int) and 0 <= pad < vocabulary:
            ids[row, end:] = pad
        mask[row, end:] = 0
    return {"input_ids": ids} | ({"attention_mask": mask} if with_mask else {})


def run(model: nn.Module, inputs: Mapping[str, Any]) -> list[Tensor]:
    """The floating-point outputs of one forward pass, without gradient, on the model's own device and dtype."""
    weight = next(model.parameters())
    placed = {
        name: value.to(weight.device, weight.dtype if value.is_floating_point() else None)
        if isinstance(value, Tensor)
        else value
        for name, value in inputs.items()
    }
    with torch.no_grad():
        output = model(**placed)
    leaves = tree_leaves(tuple(output.values()) if isinstance(output, Mapping) else output)
    return [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.is_floating_point()]


def batch_of(inputs: Mapping[str, Any]) -> int:
    """How many examples the inputs hold."""
    return next(int(value.shape[0]) for value in inputs.values() if isinstance(value, Tensor) and value.dim())


def difference(ours: list[Tensor], theirs: list[Tensor]) -> float:
    """The largest difference between two runs, in units of the output's size where that is above one."""
    if [t.shape for t in ours] != [t.shape for t in theirs]:
        return float("inf")
    pairs = zip(ours, theirs, strict=True)
    return max(
        (float((a - b).abs().max()) / max(1.0, float(b.abs().max())) for a, b in pairs if b.numel()), default=0.0
    )


@contextmanager
def natively_eager(model: nn.Module) -> Iterator[None]:
    """The model as transformers runs it with eager attention: our oracle."""
    configs = all_configs(model)
    before = [config._attn_implementation for config in configs]

    def put_back() -> None:
        for config, implementation in zip(configs, before, strict=True):
            config.__dict__["_attn_implementation_internal"] = implementation

    with undone(put_back):
        for config in configs:
            config.__dict__["_attn_implementation_internal"] = "eager"
        yield


def all_configs(model: nn.Module) -> list[PreTrainedConfig]:
    """Every config object in the model, sub-configs included, once each."""
    waiting: list[Any] = [m.config for m in model.modules() if isinstance(getattr(m, "config", None), PreTrainedConfig)]
    found: dict[int, PreTrainedConfig] = {}
    while waiting:
        config = waiting.pop()
        if id(config) not in found:
            found[id(config)] = config
            parts = [getattr(config, name, None) for name in config.sub_configs]
            waiting += [part for part in parts if isinstance(part, PreTrainedConfig)]
    return list(found.values())


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode for every module, and each back to its own mode afterwards."""
    modes = [(module, module.training) for module in model.modules()]

    def put_back() -> None:
        for module, mode in modes:
            module.training = mode

    with undone(put_back):
        model.eval()
        yield
