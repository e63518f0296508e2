"""Letting a translator write: greedily or by beam search, with `model.generate`."""

import torch

from whence.core.errors import BadConfig
from whence.models.batch import Batch
from whence.models.subject import Subject

MARGIN = 10  # tokens beyond twice the source


@torch.no_grad()
def translate(subject: Subject, batch: Batch, *, beams: int = 1, longest: int | None = None) -> list[str]:
    """What the model writes for each source of a batch, without special tokens.

    `beams=1` takes the likeliest token at each step. With more, the `beams` likeliest beginnings are followed, and of
    what was finished that with the largest Σ log p / length is taken (transformers' `length_penalty` 1; the end token
    counts); the search stops when no beginning can become better than all that is finished (`early_stopping` False).
    Where the model's own `generation_config` says otherwise, or forces or forbids tokens, that holds.

    A text has at most `longest` tokens: by default twice the batch's longest source and ten more, and never more than
    the model has positions for. Inside `attending` the altered attention is used; with beams each text stands `beams`
    times at the decoder's sites, which masks [batch key] given to an override must fit.
    """
    if subject.task.name != "seq2seq":
        raise BadConfig(f"{subject.name or 'the model'} is for {subject.task.name}; only a seq2seq model writes texts")
    if beams < 1 or (longest is not None and longest < 1):
        raise BadConfig(f"beams and longest must be 1 or more; they are {beams} and {longest}")
    inputs = {name: value for name, value in batch.inputs.items() if name in ("input_ids", "attention_mask")}
    if longest is None:
        longest = min(2 * inputs["input_ids"].shape[1] + MARGIN, subject.encoder.max_length)
    written = subject.model.generate(**inputs, max_new_tokens=longest, num_beams=beams, do_sample=False)
    return subject.tokenizer.batch_decode(written, skip_special_tokens=True)
