"""The same hand-set weights in relatives of BERT: RoBERTa and DistilBERT, as `transformers` has them."""

from typing import Any

import torch
from transformers import (
    DistilBertConfig,
    DistilBertForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from whence.subject.subject import Subject

RAISED = (
    2.0  # added to what DistilBERT's classifier reads, so that its ReLU is the identity; |tanh| of BERT's is below 1
)


@torch.no_grad()
def as_roberta(subject: Subject) -> Subject:
    """A hand-set BERT as a RoBERTa: positions begin after the padding's, and there are no segments."""
    bert: Any = subject.model
    own = bert.config
    config = RobertaConfig(
        **_shared(own),
        hidden_size=own.hidden_size,
        num_hidden_layers=own.num_hidden_layers,
        num_attention_heads=own.num_attention_heads,
        intermediate_size=own.intermediate_size,
        max_position_embeddings=own.max_position_embeddings + 1,
        type_vocab_size=1,
        layer_norm_eps=own.layer_norm_eps,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model: Any = RobertaForSequenceClassification(config)
    _set_embeddings(model.roberta.embeddings, bert.bert.embeddings, first=1)
    model.roberta.embeddings.token_type_embeddings.weight.zero_()
    model.roberta.encoder.load_state_dict(bert.bert.encoder.state_dict())
    model.classifier.dense.load_state_dict(bert.bert.pooler.dense.state_dict())
    model.classifier.out_proj.load_state_dict(bert.classifier.state_dict())
    return _without_segments(model, subject, "RoBERTa")


@torch.no_grad()
def as_distilbert(subject: Subject) -> Subject:
    """A hand-set BERT as a DistilBERT; its classifier has a ReLU in the place of the tanh, which is nearly linear."""
    bert: Any = subject.model
    own = bert.config
    config = DistilBertConfig(
        **_shared(own),
        dim=own.hidden_size,
        n_layers=own.num_hidden_layers,
        n_heads=own.num_attention_heads,
        hidden_dim=own.intermediate_size,
        max_position_embeddings=own.max_position_embeddings,
        dropout=0.0,
        attention_dropout=0.0,
        seq_classif_dropout=0.0,
    )
    model: Any = DistilBertForSequenceClassification(config)
    _set_embeddings(model.distilbert.embeddings, bert.bert.embeddings)
    for layer, old in zip(model.distilbert.transformer.layer, bert.bert.encoder.layer, strict=True):
        inner, attention = old.attention.self, layer.attention
        pairs = (
            (attention.q_lin, inner.query),
            (attention.k_lin, inner.key),
            (attention.v_lin, inner.value),
            (attention.out_lin, old.attention.output.dense),
            (layer.sa_layer_norm, old.attention.output.LayerNorm),
            (layer.ffn.lin1, old.intermediate.dense),
            (layer.ffn.lin2, old.output.dense),
            (layer.output_layer_norm, old.output.LayerNorm),
        )
        for new, given in pairs:
            new.load_state_dict(given.state_dict())
    weight, bias = bert.classifier.weight, bert.classifier.bias
    model.pre_classifier.weight.copy_(bert.bert.pooler.dense.weight)
    model.pre_classifier.bias.copy_(bert.bert.pooler.dense.bias + RAISED)
    model.classifier.weight.copy_(weight)
    model.classifier.bias.copy_(bias - RAISED * weight.sum(1))
    return _without_segments(model, subject, "DistilBERT")


def _shared(own: Any) -> dict[str, Any]:
    marks = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
    return {"vocab_size": own.vocab_size, "id2label": own.id2label, "label2id": own.label2id, **marks}


def _set_embeddings(new: Any, old: Any, first: int = 0) -> None:
    new.word_embeddings.weight.copy_(old.word_embeddings.weight)
    new.position_embeddings.weight.zero_()
    new.position_embeddings.weight[first : first + len(old.position_embeddings.weight)] = old.position_embeddings.weight
    new.LayerNorm.load_state_dict(old.LayerNorm.state_dict())


def _without_segments(model: Any, subject: Subject, name: str) -> Subject:
    subject.tokenizer.model_input_names = ["input_ids", "attention_mask"]
    return Subject(model, subject.tokenizer, name=f"hand-set {name}")
