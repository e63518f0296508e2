"""A BERT with weights set by hand, as `transformers` has it: it classifies texts or pairs, or tags words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertForTokenClassification,
    PreTrainedTokenizerFast,
)

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
    vector,
    word_vectors,
)
from whence.calibration.hand_set.words import Features
from whence.subject.subject import Subject

SMALL = 0.1  # of what the pooler reads, so that its tanh is nearly the identity


@dataclass(frozen=True)
class Readout:
    """Logits from features: `hidden` linear forms with a bias, each through tanh, and a linear map of these."""

    hidden: Sequence[tuple[Reads, float]]
    weights: Sequence[Sequence[float]]  # [class hidden]
    bias: Sequence[float]

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.weights)


def linear_readout(classes: int, scale: float, source: str = "read") -> Readout:
    """The logit of each class is `scale` times what speaks for it."""
    hidden = [({f"{source}{number}": SMALL}, 0.0) for number in range(classes)]
    weights = [[scale / SMALL if row == column else 0.0 for column in range(classes)] for row in range(classes)]
    return Readout(hidden, weights, [0.0] * classes)


def scaled(readout: Readout, times: float) -> Readout:
    """The same read-out with all logits multiplied."""
    weights = [[times * weight for weight in row] for row in readout.weights]
    return Readout(readout.hidden, weights, [times * bias for bias in readout.bias])


def bert_classifier(
    tokens: Mapping[str, Features],
    layers: Sequence[Sequence[Head]],
    readout: Readout,
    labels: Sequence[str],
    tokenizer: PreTrainedTokenizerFast,
    name: str = "hand-set BERT",
) -> Subject:
    """A `BertForSequenceClassification` whose layers have these heads and nothing else."""
    model: Any = BertForSequenceClassification(_config(len(tokens), len(layers), len(layers[0]), labels))
    _set_encoder(model, tokens, layers)
    with torch.no_grad():
        pooler, classifier = model.bert.pooler.dense, model.classifier
        _zero(pooler, classifier)
        for row, (reads, bias) in enumerate(readout.hidden):
            pooler.weight[row], pooler.bias[row] = reading(reads), bias
        classifier.weight[:, : len(readout.hidden)] = torch.tensor(readout.weights)
        classifier.bias.copy_(torch.tensor(readout.bias))
    return Subject(model, tokenizer, name=name)


def bert_tagger(
    tokens: Mapping[str, Features],
    layers: Sequence[Sequence[Head]],
    logits: Sequence[Reads],
    labels: Sequence[str],
    tokenizer: PreTrainedTokenizerFast,
    name: str = "hand-set tagger",
) -> Subject:
    """A `BertForTokenClassification`; the logit of each class is a linear form of a token's features."""
    model = BertForTokenClassification(_config(len(tokens), len(layers), len(layers[0]), labels))
    _set_encoder(model, tokens, layers)
    with torch.no_grad():
        model.classifier.weight.copy_(torch.stack([reading(reads) for reads in logits]))
        model.classifier.bias.zero_()
    return Subject(model, tokenizer, name=name)


def _config(words: int, layers: int, heads: int, labels: Sequence[str]) -> BertConfig:
    return BertConfig(
        vocab_size=words,
        hidden_size=WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4,
        max_position_embeddings=LONGEST,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=0,
        **class_names(labels),
    )


@torch.no_grad()
def _set_encoder(model: Any, tokens: Mapping[str, Features], layers: Sequence[Sequence[Head]]) -> None:
    """Embeddings with these features, heads, no feed-forward, and layer norms that change nothing."""
    embeddings = model.bert.embeddings
    embeddings.word_embeddings.weight.copy_(word_vectors(tokens.values()))
    embeddings.position_embeddings.weight.copy_(position_vectors())
    embeddings.token_type_embeddings.weight.copy_(
        torch.stack([vector({"segment": float(number)}, anchor=0.0) for number in range(2)])
    )
    switch_norms_off(model)
    for layer, heads in zip(model.bert.encoder.layer, layers, strict=True):
        maps, attention = head_maps(heads), layer.attention.self
        _set(attention.query, maps.query, maps.query_bias)
        _set(attention.key, maps.key)
        _set(attention.value, maps.value)
        _set(layer.attention.output.dense, maps.output)
        _zero(layer.intermediate.dense, layer.output.dense)


def _set(linear: nn.Linear, weight: Tensor, bias: Tensor | None = None) -> None:
    linear.weight.copy_(weight)
    linear.bias.zero_() if bias is None else linear.bias.copy_(bias)


def _zero(*linears: nn.Linear) -> None:
    for linear in linears:
        linear.weight.zero_()
        linear.bias.zero_()
