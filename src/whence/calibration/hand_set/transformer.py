"""Our `transformer` with weights set by hand: the prediction is read from the mean of all tokens."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import PreTrainedTokenizerFast

from whence.calibration.hand_set.features import (
    LONGEST,
    WIDTH,
    Head,
    Reads,
    class_names,
    head_maps,
    reading,
    switch_norms_off,
    word_vectors,
)
from whence.calibration.hand_set.words import Features
from whence.models.transformer import TransformerConfig, TransformerForSequenceClassification
from whence.subject.subject import Subject


@torch.no_grad()
def transformer_classifier(
    tokens: Mapping[str, Features],
    layers: Sequence[Sequence[Head]],
    logits: Sequence[Reads],
    labels: Sequence[str],
    tokenizer: PreTrainedTokenizerFast,
    name: str = "hand-set transformer",
) -> Subject:
    """An encoder without positions; the logit of each class is a linear form of the mean of all tokens' features."""
    config = TransformerConfig(
        vocab_size=len(tokens),
        hidden_size=WIDTH,
        num_hidden_layers=len(layers),
        num_attention_heads=len(layers[0]),
        intermediate_size=4,
        positions="none",
        pool="mean",
        dropout=0.0,
        max_position_embeddings=LONGEST,
        bos_token_id=None,
        eos_token_id=None,
        **class_names(labels),
    )
    model: Any = TransformerForSequenceClassification(config)  # torch types its parts as tensors or modules
    model.encoder.embeddings.words.weight.copy_(word_vectors(tokens.values()) / math.sqrt(WIDTH))
    switch_norms_off(model)
    for layer, heads in zip(model.encoder.layers, layers, strict=True):
        for parameter in layer.feed_forward.parameters():
            parameter.zero_()
        maps, attention = head_maps(heads), layer.self_attention
        for linear, weight in (
            (attention.queries, maps.query),
            (attention.keys, maps.key),
            (attention.values, maps.value),
            (attention.output, maps.output),
        ):
            linear.weight.copy_(weight)
            linear.bias.zero_()
        attention.queries.bias.copy_(maps.query_bias)
    model.classifier.weight.copy_(torch.stack([reading(reads) for reads in logits]))
    model.classifier.bias.zero_()
    return Subject(model, tokenizer, name=name)
