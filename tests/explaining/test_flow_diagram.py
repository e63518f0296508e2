"""The flow of a model's own attention."""

import json

import numpy as np
import pytest

from support import saved_models, zoo
from support.tokenizing import wordpiece
from whence import attending
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Example
from whence.explaining.explanation import flow as flow_of
from whence.explaining.options import ExplainOptions
from whence.figures.flow.model import flow_from
from whence.options import checked
from whence.subject.subject import Subject, load

TEXT = "i found the plot dull"


def flow(subject, text, **options):
    return flow_of(subject, text, checked(ExplainOptions, options))


@pytest.fixture(scope="module")
def subject():
    return load(saved_models.bert())


def test_the_flow_of_a_model_by_a_slow_loop(subject):
    found = flow(subject, TEXT, normalize="none")
    batch = subject.encode([Example(TEXT)])
    with attending(subject.model) as tape:
        subject.model(**batch.inputs)
    layers = [tape.only(name).weights[0].double().detach().numpy() for name in tape]  # [head query key]
    assert found.tokens == tuple(batch.tokens[0])
    assert found.tokens[0] == "[CLS]"
    assert found.readout.tolist() == [1.0] + [0.0] * (len(found.tokens) - 1)
    assert np.allclose(found.weights, np.stack(layers), atol=1e-6)
    arrived = [[list(found.readout)] * found.heads]
    for layer in reversed(layers):
        lower = [
            [
                sum(arrived[0][head][j] * layer[head, j, i] for j in range(len(found.tokens)))
                for i in range(len(found.tokens))
            ]
            for head in range(found.heads)
        ]
        arrived.insert(0, lower)
    assert found.nodes == pytest.approx(np.array(arrived), abs=1e-5)
    assert found.scores == pytest.approx(np.array(arrived[0]).sum(0), abs=1e-5)


def test_it_says_what_was_chosen(subject):
    found = flow(subject, TEXT, row="mean", normalize="l1")
    assert found.method == "lat, from: mean, normalize: l1"
    assert found.scores.sum() == pytest.approx(1.0, abs=1e-5)
    said, _, rest = found.prediction.partition(" (probability 0.")
    assert said in saved_models.LABELS
    assert rest.endswith(")")
    assert flow_from(json.loads(json.dumps(found.as_dict()))).tokens == found.tokens


@pytest.mark.parametrize("made", [saved_models.tagger, saved_models.speaker])
def test_other_tasks_have_a_flow_too(made):
    found = flow(load(made()), TEXT)
    assert found.nodes[0].sum(1) == pytest.approx(1.0, abs=1e-5)  # all of a head's attention arrives
    assert " '" in found.prediction  # of which word, or after which


@pytest.mark.parametrize(
    ("name", "answer"), [("pooled-post-sinusoidal-cross_entropy", "LABEL_"), ("pooled-series", "the value ")]
)
def test_the_models_of_wu_et_al(name, answer):
    found = flow(Subject(zoo.BY_NAME[name].build(), wordpiece()), "good film not bad")
    assert found.prediction.startswith(answer)
    assert "nan" not in found.prediction
    assert found.method.startswith("lat, from: local attention (local)")
    assert found.nodes[-1] == pytest.approx(np.tile(found.readout, (found.heads, 1)))


def test_what_cannot_be_drawn_gets_a_sentence(subject):
    with pytest.raises(BadData, match="the text is empty"):
        flow(subject, " ")
    with pytest.raises(
        BadConfig, match="normalize: input should be 'softmax_sum', 'softmax_mean', 'l1' or 'none', got 'softmax'"
    ):
        flow(subject, TEXT, normalize="softmax")
    with pytest.raises(BadConfig, match="this model has an encoder and a decoder"):
        flow(load(saved_models.translator()), TEXT, target="ein mann")
    with pytest.raises(BadConfig, match="needs layers of self-attention, and this model has none"):
        flow(load(saved_models.additive()), TEXT)
