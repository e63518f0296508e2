"""A GPT-2 with weights set by hand, as `transformers` has it: it reads from left to right and classifies at the end."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2ForSequenceClassification, PreTrainedTokenizerFast

from whence.calibration.hand_set.features import (
    LONGEST,
    WIDTH,
    Head,
    Reads,
    class_names,
    head_maps,
    position_vectors,
    reading,
    switch_norms_off,
    word_vectors,
)
from whence.calibration.hand_set.words import Features
from whence.subject.subject import Subject


@torch.no_grad()
def gpt2_classifier(
    tokens: Mapping[str, Features],
    layers: Sequence[Sequence[Head]],
    logits: Sequence[Reads],
    labels: Sequence[str],
    tokenizer: PreTrainedTokenizerFast,
    name: str = "hand-set GPT-2",
) -> Subject:
    """A `GPT2ForSequenceClassification`; the logit of each class is a linear form of the last token's features."""
    model: Any = GPT2ForSequenceClassification(_config(len(tokens), len(layers), len(layers[0]), labels))
    body = model.transformer
    body.wte.weight.copy_(word_vectors(tokens.values()))
    body.wpe.weight.copy_(position_vectors())
    switch_norms_off(model)
    for block, heads in zip(body.h, layers, strict=True):
        maps = head_maps(heads)
        _set(block.attn.c_attn, torch.cat([maps.query, maps.key, maps.value]))
        block.attn.c_attn.bias[:WIDTH] = maps.query_bias
        _set(block.attn.c_proj, maps.output)
        for linear in (block.mlp.c_fc, block.mlp.c_proj):
            linear.weight.zero_()
            linear.bias.zero_()
    model.score.weight.copy_(torch.stack([reading(reads) for reads in logits]))
    return Subject(model, tokenizer, name=name)


def _config(words: int, layers: int, heads: int, labels: Sequence[str]) -> GPT2Config:
    return GPT2Config(
        vocab_size=words,
        n_positions=LONGEST,
        n_embd=WIDTH,
        n_layer=layers,
        n_head=heads,
        n_inner=4,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
        **class_names(labels),
    )


def _set(linear: Any, weight: Tensor) -> None:
    """GPT-2's maps hold their weights by column."""
    linear.weight.copy_(weight.T)
    linear.bias.zero_()
