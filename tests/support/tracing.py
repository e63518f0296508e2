"""Texts to trace attention for, and the scores of the tracing methods."""

from whence.attribution.registry import explainer
from whence.data.examples import Example
from whence.subject.targets import predicted

EXAMPLES = [Example("the movie was not good"), Example("unbelievable movies !"), Example("bad")]


READ_AT = [
    ("bert", "first"),
    ("gpt2", "last"),
    ("xlm-roberta", "prediction"),
    ("llama", "prediction"),
    ("modernbert", "first"),
    ("transformer-pre-sinusoidal", "first"),
]  # where a model's prediction is read
METHODS = ("lat", "lat_mixed", "rollout")


def scores(method, subject, batch, **options):
    return explainer(method)(subject, batch, predicted(subject, batch), **options).scores
