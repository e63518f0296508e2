"""DiSAN's features are heads like any other: experiments run on it, or say in a sentence why they do not."""

import pytest

from whence.core.errors import BadConfig
from whence.data.synthetic import clauses, entailment, reviews
from whence.evaluation.runner import run_experiment
from whence.results.experiment import experiment
from whence.training.config import Training
from whence.training.init import untrained

SMALL = {"train": 24, "dev": 8, "test": 24}
FEW = {"permutation": {"permutations": 3}, "words": {"method": ("raw_attention",)}}


@pytest.fixture(scope="module", params=[reviews, entailment, clauses], ids=["texts", "pairs", "tags"])
def looked_at(request):
    corpus = request.param.load(sizes=SMALL)
    return untrained(Training(model="disan", data=corpus.name, embedding_size=6, hidden_size=4), corpus), corpus


@pytest.mark.parametrize("name", ["score", "ablation", "permutation", "faithfulness", "layers", "words"])
def test_it_runs_and_is_drawn_and_judged(name, looked_at):
    subject, corpus = looked_at
    config = experiment(name).config(model="m", data=corpus.name, limit=6, **FEW.get(name, {}))
    table = run_experiment(name, config, subject=subject, corpus=corpus, quiet=True).table
    assert len(table)
    assert experiment(name).figure(table).axes
    assert experiment(name).verdict(table).sentence


@pytest.mark.parametrize(("name", "says"), [("words", "lat follows one stack"), ("gating", "one by one")])
def test_it_says_why_not(name, says, looked_at):
    subject, corpus = looked_at
    config = experiment(name).config(model="m", data=corpus.name, limit=6)
    with pytest.raises(BadConfig, match=says):
        run_experiment(name, config, subject=subject, corpus=corpus, quiet=True)
