"""Our `additive` with weights set by hand: one attention over words that are read each by itself."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import PreTrainedTokenizerFast

from whence.calibration.hand_set.words import Features
from whence.models.additive import AdditiveConfig, AdditiveForSequenceClassification
from whence.subject.subject import Subject

NAMES = ("score", "value0", "value1", "value2")
SMALL = 0.1  # of the features, so that tanh is nearly the identity


@torch.no_grad()
def additive_classifier(
    tokens: Mapping[str, Features],
    scale: float,
    unit: float,
    labels: Sequence[str],
    tokenizer: PreTrainedTokenizerFast,
    name: str = "hand-set additive",
) -> Subject:
    """The logit of each class is `scale` times what speaks for it; a word's score is `unit` nats times its feature."""
    special: Any = tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]"])
    config = AdditiveConfig(
        vocab_size=len(tokens),
        embedding_size=len(NAMES),
        hidden_size=len(NAMES),
        encoder="average",
        attention="dot",
        bos_token_id=special[0],
        eos_token_id=special[1],
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    model: Any = AdditiveForSequenceClassification(config)  # torch types its parts as tensors or modules
    rows = [[features.get(feature, 0.0) for feature in NAMES] for features in tokens.values()]
    model.embeddings.weight.copy_(torch.tensor(rows))
    project, query, classify = model.encoder.project, model.score.query, model.decoder.classify
    project.weight.copy_(SMALL * torch.eye(len(NAMES)))
    project.bias.zero_()
    query.weight.zero_()
    query.weight[0, 0] = unit / SMALL * math.sqrt(len(NAMES))
    classify.weight.copy_(scale / SMALL * torch.eye(len(NAMES))[1 : 1 + len(labels)])
    classify.bias.zero_()
    return Subject(model, tokenizer, name=name)
