"""Two short narratives, and a small model that reads them window by window."""

import torch

from whence.data.examples import narrative
from whence.models import PooledForTimeSeries
from whence.models.pooled_series import PooledSeriesConfig
from whence.subject.subject import Subject
from whence.training.vocabulary import word_tokenizer

LONG = narrative([["a", "lovely", "day"], ["then"], ["grim", "news"]], [0.5, 0.5, -0.25])


BRIEF = narrative([["then", "a", "grim", "day"], ["news"]], [-0.5, 0.0])


SIZES = {
    "embedding_size": 8,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "head_size": 4,
    "intermediate_size": 8,
    "lstm_size": 8,
}


def reader(tokenizer=None) -> Subject:
    tokenizer = tokenizer or word_tokenizer([LONG, BRIEF])
    torch.manual_seed(0)
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    model = PooledForTimeSeries(PooledSeriesConfig(vocab_size=len(tokenizer), **SIZES, **ids))
    return Subject(model, tokenizer)
