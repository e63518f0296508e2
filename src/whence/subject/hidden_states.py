"""The hidden states of each layer as one vector per text: of Hugging Face encoders and decoders, and of ours."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from whence.core.errors import BadConfig
from whence.models import pooled
from whence.models.hierarchical import Level
from whence.models.parts import transformer_stacks as stacks
from whence.models.parts.disan_layers import DirectionalAttention
from whence.models.parts.encoders import AverageEncoder, CNNEncoder, GRUEncoder, LSTMEncoder
from whence.subject.batch import Batch
from whence.subject.subject import Subject

Read = Literal["mean", "first"]
OURS = (stacks.Layer, pooled.Layer, Level, LSTMEncoder, GRUEncoder, CNNEncoder, AverageEncoder, DirectionalAttention)


@torch.no_grad()
def bag(subject: Subject, batch: Batch) -> Float[Tensor, "batch embedding"]:
    """The mean of the word vectors of a text's tokens, before the model adds or changes anything."""
    table: Any = subject.model.get_input_embeddings()
    return averaged(table(batch.inputs["input_ids"]), batch.mask.to(subject.device))


@torch.no_grad()
def layer_vectors(subject: Subject, batch: Batch, read: Read = "mean") -> list[Float[Tensor, "batch width"]]:
    """A text's vector at the input of the first layer, and after each layer.

    `mean` is over the tokens, special ones included; `first` is the first token's vector ([CLS], where there is one).
    Of an encoder–decoder these are the encoder's layers. The second layer of a hierarchical model has one state for
    each sentence.
    """
    if subject.task.predicts_values:
        raise BadConfig(f"{subject.name} reads narratives window by window; a text of one window was expected")
    whole: Any = subject.model
    root = whole.get_encoder() if whole.config.is_encoder_decoder else whole.base_model
    inputs = {name: tensor for name, tensor in batch.inputs.items() if name != "labels"}
    mask = batch.mask.to(subject.device)
    made = _of_ours(root, inputs) or getattr(root(**inputs, output_hidden_states=True), "hidden_states", None)
    if not made:
        raise BadConfig(
            f"{subject.name or type(whole).__name__} does not return its hidden states; expected a model"
            " of Whence or one that supports output_hidden_states"
        )
    short = next((states for states in made if states.dim() == 3 and states.shape[:2] != mask.shape), None)
    if short is not None:
        raise BadConfig(
            f"{subject.name} has layers with other states than one for each token ({short.shape[1]} for"
            f" {mask.shape[1]} tokens); they cannot be read token by token"
        )
    return [_read(states, mask, read) for states in made]


def averaged(
    states: Float[Tensor, "batch token width"], mask: Bool[Tensor, "batch token"]
) -> Float[Tensor, "batch width"]:
    """The mean over the tokens of a text."""
    shares = mask.to(states) / mask.sum(1, keepdim=True).clamp_min(1)
    return torch.einsum("bt,btw->bw", shares, states)


def _read(states: Tensor, mask: Bool[Tensor, "batch token"], read: Read) -> Float[Tensor, "batch width"]:
    """One vector per text; states [batch sentence word width] are zero at padding."""
    if states.dim() == 4:  # [batch sentence word width]
        states = states.flatten(1, 2)
        mask = states.any(-1)
    if read == "mean":
        return averaged(states, mask)
    return states[torch.arange(len(states)), mask.to(torch.uint8).argmax(1)]  # padding may be on the left


def _of_ours(root: nn.Module, inputs: dict[str, Tensor]) -> list[Tensor]:
    """The input of the first layer of one of our models, and the output of each layer; empty for other models."""
    layers = [
        module
        for name, module in root.named_modules()
        if isinstance(module, OURS) and not name.startswith(("question", "decoder")) and not _inside(root, name)
    ]
    if not layers:
        return []
    with _recorded(layers) as (entered, left):
        root(**inputs)
    if all(isinstance(layer, DirectionalAttention) for layer in layers):  # both directions are one layer
        left = [torch.cat(left, -1)]
    return [entered[0], *left]


def _inside(root: nn.Module, name: str) -> bool:
    """Whether a module is part of one that is a layer itself."""
    above = (name.rpartition(".")[0].rsplit(".", n)[0] for n in range(name.count(".")))
    return any(isinstance(root.get_submodule(path), OURS) for path in above if path)


@contextmanager
def _recorded(layers: Sequence[nn.Module]) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
    """While open, records the inputs and outputs of these modules, in the order of the forward pass."""
    entered: list[Tensor] = []
    left: list[Tensor] = []

    def record(module: nn.Module, args: Any, output: Any) -> None:
        entered.append(args[0])
        left.append(output if isinstance(output, Tensor) else output[0])

    hooks = [layer.register_forward_hook(record) for layer in layers]
    try:
        yield entered, left
    finally:
        for hook in hooks:
            hook.remove()
