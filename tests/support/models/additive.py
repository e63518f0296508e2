"""A small additive model over words, in double precision so that differences can be taken."""

import torch

from whence.data.examples import Example
from whence.models import AdditiveConfig, AdditiveForSequenceClassification
from whence.subject.subject import Subject
from whence.training.vocabulary import word_tokenizer

WORDED = [Example("a long story of small things"), Example("good film"), Example("a good story")]


def additive(dtype=torch.float64, **options):
    """A small model over words, in double precision so that differences can be taken."""
    tokenizer = word_tokenizer(WORDED)
    config = AdditiveConfig(
        vocab_size=len(tokenizer),
        embedding_size=6,
        hidden_size=4,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        **options,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AdditiveForSequenceClassification(config).to(dtype)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.6)
        model.embeddings.weight.data[0] = 0.0
    return Subject(model, tokenizer)
