"""A small BERT that classifies."""

import transformers as hf

from support import zoo
from support.tokenizing import wordpiece
from whence.subject.subject import Subject


def classifier(labels=("negative", "positive"), tokenizer=None, **config):
    named = {"id2label": dict(enumerate(labels))} if labels else {}
    model = hf.BertForSequenceClassification(hf.BertConfig(**zoo.BERT, **named, **config))
    return Subject(model, tokenizer or wordpiece())
