"""Generation with a translator: texts, greedily or by beam search, and the distributions of each step."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils._pytree import tree_map

from whence.core.errors import BadConfig
from whence.subject.batch import Batch
from whence.subject.subject import Subject, probabilities

MARGIN = 10  # tokens beyond twice the source


@torch.no_grad()
def translate(subject: Subject, batch: Batch, *, beams: int = 1, longest: int | None = None) -> list[str]:
    """The translation of each source of a batch, without special tokens.

    `beams=1` takes the likeliest token at each step. Larger values do beam search, and take the finished hypothesis
    with the largest Σ log p / length (transformers' `length_penalty` 1; the end token counts); the search stops when no
    unfinished hypothesis can become better than the finished ones (`early_stopping` False). The model's own
    `generation_config` takes precedence, also where it forces or forbids tokens.

    A text has at most `longest` tokens: by default twice those of its source and ten more, whatever else is in the
    batch, and never more than the model has positions for. Inside `attending`, overrides apply; with beams, each text
    is `beams` rows of the batch at the decoder's sites, which masks [batch key] given to an override must fit.
    """
    if subject.task.name != "seq2seq":
        raise BadConfig(
            f"{subject.name or 'the model'} is for {subject.task.name}; only a seq2seq model generates texts"
        )
    if beams < 1 or (longest is not None and longest < 1):
        raise BadConfig(f"beams and longest must be 1 or more; they are {beams} and {longest}")
    inputs = {name: value for name, value in batch.inputs.items() if name in ("input_ids", "attention_mask")}
    limits = (2 * batch.mask.sum(1) + MARGIN).clamp(max=subject.encoder.max_length)  # [batch]
    if longest is not None:
        limits = torch.full_like(limits, longest)
    written = subject.model.generate(**inputs, max_new_tokens=int(limits.max()), num_beams=beams, do_sample=False)
    beyond = torch.arange(written.shape[1], device=written.device) > limits[:, None].to(written.device)  # 0: the start
    written = written.masked_fill(beyond, subject.tokenizer.pad_token_id)
    return subject.tokenizer.batch_decode(written, skip_special_tokens=True)


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
    """The batch `copies` times over, with the encoder's output: the encoder runs once for all copies."""
    model: Any = subject.model
    source = {name: batch.inputs[name] for name in ("input_ids", "attention_mask") if name in batch.inputs}
    encoded = model.get_encoder()(**source, return_dict=True)

    def copy(part: Any) -> Any:
        return part.repeat(copies, *[1] * (part.dim() - 1)) if isinstance(part, Tensor) else part

    return batch.repeated(copies).with_inputs(encoder_outputs=tree_map(copy, encoded))
