"""DiSAN is configured, trained, saved and loaded."""

import pytest
from huggingface_hub.errors import StrictDataclassFieldValidationError
from torch.testing import assert_close
from transformers import AutoModelForSequenceClassification

from support.models.disan import batch, made
from whence import sites
from whence.core.errors import BadConfig
from whence.data.synthetic import clauses, entailment, numerals
from whence.models import DisanConfig, DisanForSequenceClassification, DisanForTokenClassification
from whence.subject.subject import load
from whence.training.config import Training
from whence.training.init import untrained
from whence.training.recipe import parameter_groups
from whence.training.train import train

SMALL = {"model": "disan", "embedding_size": 6, "hidden_size": 4, "epochs": 1, "batch_size": 8}


def test_sizes_sites_and_saving(tmp_path):
    model = DisanForSequenceClassification(DisanConfig(vocab_size=10, pairs=True, id2label=dict(enumerate("abc"))))
    shapes = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    assert shapes["encoder.source2token.score.weight"] == (600, 600)
    assert shapes["combine.weight"] == (300, 2400)
    assert [(site.name, site.kind) for site in sites(model).values()] == [
        ("encoder.sees_past", "self"),
        ("encoder.sees_future", "self"),
        ("encoder.source2token", "pool"),
    ]
    small, (inputs, _) = made(pairs=True), batch()
    small.save_pretrained(tmp_path)
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    assert isinstance(again, DisanForSequenceClassification)
    assert_close(again(**inputs).logits, small(**inputs).logits, atol=0.0, rtol=0.0)
    with pytest.raises(StrictDataclassFieldValidationError, match="hidden_size"):
        DisanConfig(hidden_size="wide")


# in training


def test_its_options_are_those_of_its_authors():
    training = Training(model="disan")
    assert {"hidden_size": 300, "dropout": 0.25, "batch_size": 64}.items() <= training.flat().items()
    assert (training.optimizer, training.learning_rate, training.weight_decay) == ("adadelta", 0.5, 5e-5)
    model = untrained(Training(**SMALL), entailment.load(sizes={"train": 12})).model
    decayed, spared = parameter_groups(model, training.recipe)
    assert (decayed["weight_decay"], spared["weight_decay"]) == (5e-5, 0.0)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    assert {names[id(p)].removesuffix(".weight") for p in decayed["params"]} == {
        *(
            f"encoder.sees_{side}.{part}"
            for side in ("past", "future")
            for part in ("project", "fuse.of_hidden", "fuse.of_context")
        ),
        "encoder.source2token.inner",
        "encoder.source2token.score",
        "combine",
        "classify",
    }
    assert not any(parameter.any() for name, parameter in model.named_parameters() if name.endswith("bias"))


@pytest.mark.parametrize(
    ("corpus", "form"), [(entailment, DisanForSequenceClassification), (clauses, DisanForTokenClassification)]
)
def test_it_is_trained_saved_and_loaded(corpus, form, tmp_path):
    examples = corpus.load(sizes={"train": 24, "dev": 8})
    subject = train(Training(**SMALL, data=examples.name), tmp_path / "m", corpus=examples, quiet=True)
    again = load(tmp_path / "m")
    assert isinstance(again.model, form)
    assert again.fingerprint == subject.fingerprint
    assert again.labels == examples.labels
    batch = subject.encode(examples["dev"])
    assert_close(again.predict(batch), subject.predict(batch))


def test_it_writes_no_texts():
    with pytest.raises(BadConfig, match="disan predicts one label for a text or a tag"):
        untrained(Training(**SMALL), numerals.load(sizes={"train": 12, "dev": 4}))
