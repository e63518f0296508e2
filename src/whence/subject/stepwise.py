"""A translator's distributions step by step, while it writes freely."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils._pytree import tree_map

from whence.subject.batch import Batch
from whence.subject.subject import Subject, probabilities


@torch.no_grad()
def step_probabilities(subject: Subject, batch: Batch, steps: int) -> Float[Tensor, "batch step class"]:
    """The distribution over the next token at each of the first `steps` steps of a greedy translation.

    Once a translation has ended, all of the probability is on the end token.
    """
    model: Any = subject.model
    inputs = {name: value for name, value in batch.inputs.items() if name != "labels"}
    written = model.generate(
        **inputs, num_beams=1, do_sample=False, max_new_tokens=steps, output_logits=True, return_dict_in_generate=True
    )
    probs = probabilities(torch.stack(written.logits, dim=1))  # [batch step class]
    tokens, end = written.sequences[:, 1:], subject.tokenizer.eos_token_id
    ended = (tokens == end).cumsum(1) - (tokens == end).long() > 0  # after the first end
    final = torch.zeros(probs.shape[-1], dtype=probs.dtype, device=probs.device)
    final[end] = 1.0
    probs = torch.where(ended[:, : probs.shape[1], None], final, probs)
    short = steps - probs.shape[1]  # all had ended before
    return torch.cat([probs, final.expand(len(probs), short, -1)], dim=1) if short else probs


@torch.no_grad()
def encoded_once(subject: Subject, batch: Batch, copies: int) -> Batch:
    """The batch `copies` times over, with what the encoder made of it: it is not run again for the copies."""
    model: Any = subject.model
    source = {name: batch.inputs[name] for name in ("input_ids", "attention_mask") if name in batch.inputs}
    encoded = model.get_encoder()(**source, return_dict=True)

    def copy(part: Any) -> Any:
        return part.repeat(copies, *[1] * (part.dim() - 1)) if isinstance(part, Tensor) else part

    return batch.repeated(copies).with_inputs(encoder_outputs=tree_map(copy, encoded))
