"""Letting a translator write: greedily or by beam search, with `model.generate`."""

import torch

from whence.core.errors import BadConfig
from whence.subject.batch import Batch
from whence.subject.subject import Subject

MARGIN = 10  # tokens beyond twice the source


@torch.no_grad()
def translate(subject: Subject, batch: Batch, *, beams: int = 1, longest: int | None = None) -> list[str]:
    """What the model writes for each source of a batch, without special tokens.

    `beams=1` takes the likeliest token at each step. With more, the `beams` likeliest beginnings are followed, and of
    what was finished that with the largest Σ log p / length is taken (transformers' `length_penalty` 1; the end token
    counts); the search stops when no beginning can become better than all that is finished (`early_stopping` False).
    Where the model's own `generation_config` says otherwise, or forces or forbids tokens, that holds.

    A text has at most `longest` tokens: by default twice those of its source and ten more, whatever else is in the
    batch, and never more than the model has positions for. Inside `attending` the altered attention is used; with beams
    each text stands `beams` times at the decoder's sites, which masks [batch key] given to an override must fit.
    """
    if subject.task.name != "seq2seq":
        raise BadConfig(f"{subject.name or 'the model'} is for {subject.task.name}; only a seq2seq model writes texts")
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
