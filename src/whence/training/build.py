"""The reference models of the sizes that a training asks for, with random weights."""

from collections.abc import Callable
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from whence.core.errors import BadConfig
from whence.data.examples import Corpus
from whence.models import (
    additive,
    disan,
    hierarchical,
    pooled,
    pooled_series,
    reader,
    recurrent,
    tagger,
    transformer,
    weighted,
)
from whence.training.config import Training
from whence.training.vocabulary import sentence_ends


def _named(tokenizer: PreTrainedTokenizerBase, corpus: Corpus) -> dict[str, Any]:
    """What every config is told: the vocabulary, its special tokens, the classes."""
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    labels = {
        "id2label": dict(enumerate(corpus.labels)),
        "label2id": {label: i for i, label in enumerate(corpus.labels)},
    }
    return {"vocab_size": len(tokenizer), **ids, **(labels if corpus.labels else {})}


def _additive(training: Training, tokenizer: Any, corpus: Corpus, task: str, width: int) -> PreTrainedModel:
    _refuse_targets(training, corpus, task)
    read = _read_by_attention(training)
    pairs = any(example.pair is not None for example in corpus["train"])
    wanted = "bypass" if training.bypass else "conditional" if training.model == "conditional" else ""
    if wanted and not pairs:
        raise BadConfig(f"{wanted} is for corpora of pairs; {corpus.name} has single texts")
    if wanted == "conditional" and training.encoder != "lstm":
        raise BadConfig(f"conditional hands on the state of an lstm; the encoder is {training.encoder}")
    return additive.AdditiveForSequenceClassification(
        additive.AdditiveConfig(
            **read, hidden_size=training.hidden_size, embedding_size=width, pairs=pairs,
            conditional=training.model == "conditional", bypass=training.bypass, **_named(tokenizer, corpus),
        )
    )  # fmt: skip


def _disan(training: Training, tokenizer: Any, corpus: Corpus, task: str, width: int) -> PreTrainedModel:
    config = disan.DisanConfig(
        embedding_size=width, hidden_size=training.hidden_size, dropout=training.dropout,
        pairs=any(example.pair is not None for example in corpus["train"]), **_named(tokenizer, corpus),
    )  # fmt: skip
    if task == "token-classification":
        return disan.DisanForTokenClassification(config)
    _refuse_targets(training, corpus, task)
    return disan.DisanForSequenceClassification(config)


def _hierarchical(training: Training, tokenizer: Any, corpus: Corpus, task: str, width: int) -> PreTrainedModel:
    _refuse_targets(training, corpus, task)
    return hierarchical.HierarchicalForSequenceClassification(
        hierarchical.HierarchicalConfig(
            embedding_size=width, hidden_size=training.hidden_size, word_dropout=training.dropout,
            sentence_dropout=training.dropout / 2, output_dropout=training.dropout / 2,
            sentence_end_ids=sentence_ends(tokenizer), **_named(tokenizer, corpus),
        )
    )  # fmt: skip


def _pooled(training: Training, tokenizer: Any, corpus: Corpus, task: str, width: int) -> PreTrainedModel:
    shape: dict[str, Any] = {
        "embedding_size": width, "hidden_size": training.hidden_size, "num_hidden_layers": training.layers,
        "num_attention_heads": training.heads, "head_size": training.head_size, "dropout": training.dropout,
        "intermediate_size": training.inner_size, "positions": training.positions, "norm": training.norm,
        "frozen_vectors": frozen(training), **_named(tokenizer, corpus),
    }  # fmt: skip
    if task == "series":
        config = pooled_series.PooledSeriesConfig(**shape, lstm_size=training.hidden_size)
        return pooled_series.PooledForTimeSeries(config)
    if training.model == "pooled_series":
        raise BadConfig(
            f"pooled_series answers with a value for each window of a narrative; {corpus.name} has no windows with"
            " values. For labels train pooled"
        )
    _refuse_targets(training, corpus, task)
    return pooled.PooledForSequenceClassification(pooled.PooledConfig(**shape, loss=training.loss))


def frozen(training: Training) -> bool:
    """Whether the word vectors were given and stay as they are."""
    reads = training.model in ("pooled", "pooled_series", "transformer")
    return reads and training.freeze and training.vectors is not None


def _reader(training: Training, tokenizer: Any, corpus: Corpus, task: str, width: int) -> PreTrainedModel:
    _refuse_targets(training, corpus, task)
    if training.encoder not in reader.CELLS:
        raise BadConfig(f"reader reads with {', '.join(reader.CELLS)}; the encoder is {training.encoder}")
    if any(example.pair is not None for example in corpus["train"]):
        raise BadConfig(f"reader reads one text; {corpus.name} has pairs, for which there are additive and conditional")
    shape: dict[str, Any] = {"cell": training.encoder, "attention": training.attention, "embedding_size": width,
                             "hidden_size": training.hidden_size}  # fmt: skip
    return reader.ReaderForSequenceClassification(reader.ReaderConfig(**shape, **_named(tokenizer, corpus)))


def _recurrent(training: Training, tokenizer: Any, corpus: Corpus, task: str, width: int) -> PreTrainedModel:
    _refuse_labels(training, corpus, task)
    read = _read_by_attention(training)
    return recurrent.RecurrentForConditionalGeneration(
        recurrent.RecurrentConfig(
            embedding_size=width, hidden_size=training.hidden_size, num_layers=training.layers,
            attention=read["attention"], dropout=training.dropout, **_translating(tokenizer, corpus),
        )
    )  # fmt: skip


def _transformer(training: Training, tokenizer: Any, corpus: Corpus, task: str, width: int) -> PreTrainedModel:
    if task == "series":
        _refuse_targets(training, corpus, task)
    shape = _layers(training) | ({"embedding_size": width} if training.vectors else {})
    if task == "seq2seq":
        if training.vectors is not None:
            raise BadConfig(
                "as a translator, the transformer's word vectors are as wide as its layers and begin at random; leave"
                " vectors out"
            )
        config = transformer.TransformerConfig(**shape, **_translating(tokenizer, corpus))
        return transformer.TransformerForConditionalGeneration(config)
    tags = task == "token-classification"
    kind = tagger.TransformerForTokenClassification if tags else transformer.TransformerForSequenceClassification
    return kind(transformer.TransformerConfig(**shape, **_named(tokenizer, corpus)))


def _layers(training: Training) -> dict[str, Any]:
    """The layers of a transformer; those of torchnlp begin as torch makes them."""
    if training.norm == "query":
        raise BadConfig("the transformer's layer norm comes before each sub-layer or after it; norm query is pooled's")
    width = training.hidden_size
    torchnlp = {"form": "torchnlp", "initializer_range": (3 * width) ** -0.5}
    return {
        "hidden_size": width, "intermediate_size": training.feed_forward_size or 2 * width, "norm": training.norm,
        "dropout": training.dropout, "num_hidden_layers": training.layers, "num_decoder_layers": training.layers,
        "num_attention_heads": training.heads, "masks_padding": training.masks_padding,
        "rectified": training.rectified, "frozen_vectors": frozen(training),
        **(torchnlp if training.form == "torchnlp" else {}),
    }  # fmt: skip


def _translating(tokenizer: Any, corpus: Corpus) -> dict[str, Any]:
    return {**_named(tokenizer, corpus), "decoder_start_token_id": tokenizer.bos_token_id}


def _read_by_attention(training: Training) -> dict[str, Any]:
    if training.encoder in ("rnn", "gru") or training.attention == "none":
        raise BadConfig(
            f"encoder rnn or gru, and attention none, are for reader; {training.model} came with encoder"
            f" {training.encoder} and attention {training.attention}"
        )
    return {"encoder": training.encoder, "attention": training.attention}


def _refuse_targets(training: Training, corpus: Corpus, task: str) -> None:
    if task != "sequence-classification":
        raise BadConfig(
            f"{training.model} answers with one label for a text; {corpus.name} has none. For texts as answers train"
            " recurrent or transformer, for tags of words transformer, for values of windows pooled_series"
        )


def _refuse_labels(training: Training, corpus: Corpus, task: str) -> None:
    if task != "seq2seq":
        raise BadConfig(
            f"{training.model} answers with a text; {corpus.name} has no target texts. For labels train additive,"
            " conditional, hierarchical or transformer"
        )


def _weighted(training: Training, tokenizer: Any, corpus: Corpus, task: str, width: int) -> PreTrainedModel:
    if task != "token-classification":
        raise BadConfig(f"weighted answers with a tag for each word; {corpus.name} has none. For labels train additive")
    return weighted.WeightedForTokenClassification(
        weighted.WeightedConfig(
            embedding_size=width, hidden_size=training.hidden_size, num_attention_heads=training.heads,
            dropout=training.dropout, frozen_vectors=frozen(training), masks_padding=training.masks_padding,
            **_named(tokenizer, corpus),
        )
    )  # fmt: skip


Build = Callable[[Training, Any, Corpus, str, int], PreTrainedModel]
BUILD: dict[str, Build] = {
    "additive": _additive,
    "conditional": _additive,
    "disan": _disan,
    "hierarchical": _hierarchical,
    "recurrent": _recurrent,
    "pooled": _pooled,
    "pooled_series": _pooled,
    "reader": _reader,
    "transformer": _transformer,
    "weighted": _weighted,
}
