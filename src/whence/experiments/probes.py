"""Which properties of a sentence can be read from each layer's vectors?

Conneau et al. 2018: a small classifier, the *probe*, is trained to find a property of a sentence in the model's vector
of it after each layer: its length, its words, its tree, its tense. Ten tasks, made from any treebank that is in CoNLL-U
(see `whence.data.probing.tasks` for how, and for what differs from theirs); or the labels of any corpus, among them
SentEval's own (`senteval:past_present`). A sentence's vector is the mean over its tokens, or the first token's.

A probe may learn the task itself (Hewitt & Liang 2019). It is therefore compared with:
- *control*: the same probe on labels without meaning: a hash of the first word, the same for all sentences that
  begin with it. *Selectivity* is accuracy less control accuracy: what is not memorised.
- *majority*: the most frequent label. *bag*: a probe on the mean of the model's own word vectors, as in its embedding
  table. *random*: the same architecture with random weights, layer by layer, which is the floor (Zhang & Bowman 2018).

Intervals are over the sentences of the test. The smallest effect of interest is two points of accuracy. The
experiment answers none of an audit's six questions: it measures vectors, not attention.

*Differs from the papers*: probes are not tuned but the same everywhere, and control labels are of sentences.

When not to use it: to say that a model uses a property: a probe shows that it could be read from the vectors.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field
from tqdm.auto import tqdm

from whence.analysis import probes as analysis
from whence.analysis.probes import BAG, MAJORITY, NONE, RANDOM, TRAINED
from whence.core.errors import BadData
from whence.data.examples import Corpus, Example
from whence.data.probing.sampled import (
    Task,
    features_checksum,
    lacking,
    split_sentences,
    task_from_labels,
    tasks_from_trees,
)
from whence.evaluation.config import ExperimentConfig
from whence.evaluation.probe import Kind, Probe, control_labels, most_frequent
from whence.measures.intervals import Interval
from whence.results.columns import Column, Columns
from whence.results.experiment import TEXTS_ALONE, Experiment
from whence.results.verdict import NONE as NO_QUESTION
from whence.results.verdict import Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context
    from whence.evaluation.sentence_vectors import Vectors

Name = Literal[
    "sentence_length",
    "word_content",
    "tree_depth",
    "top_constituents",
    "bigram_shift",
    "past_present",
    "subj_number",
    "obj_number",
    "odd_man_out",
    "coordination_inversion",
]
CAPTION = (
    "Accuracy of probes after each layer, with 95 % intervals over sentences; layer 0 is what enters the first."
    " Dotted: the most frequent label. Dashed: a probe on the mean of the word vectors."
)


class Config(ExperimentConfig):
    """Train probes on the vectors of every layer."""

    tasks: tuple[Name, ...] = Field(
        get_args(Name), min_length=1, description="properties of a treebank's sentences to probe for"
    )
    probe: tuple[Kind, ...] = Field(
        ("logistic", "mlp"), min_length=1, description="kinds of probes; the first one decides"
    )
    read: Literal["mean", "first"] = Field("mean", description="a sentence's vector: mean over tokens, or the first's")
    train: int = Field(2000, gt=0, description="sentences of each task that a probe is trained on, at most")
    test: int = Field(1000, gt=0, description="sentences of each task that it is tested on, at most")
    strength: float = Field(0.01, gt=0, description="C of the logistic regression: the smaller, the simpler")
    units: int = Field(50, gt=0, description="units of the MLP's hidden layer")
    epochs: int = Field(20, gt=0, description="epochs of the MLP's training")
    control: bool = Field(True, description="also train probes on random control labels")
    untrained: bool = Field(True, description="also probe the same model with random weights")
    seeds: int = Field(1, gt=0, description="random models, control labels and initialisations of MLPs to average over")


COLUMNS = Columns(
    what="one row per task, model, layer, probe and seed",
    task=Column(str, "the property"),
    model=Column(str, "trained, random (the same with random weights), bag (of word vectors) or majority"),
    layer=Column(int, "number of layers passed; -1: none (bag, majority)"),
    probe=Column(str, "logistic, mlp or none"),
    seed=Column(int, "seed of random weights, of control labels and of an MLP's initialisation"),
    right=Column(str, "for each test sentence, in their order, 1 if the prediction is right, else 0"),
    control=Column(str, "the same of a probe trained on control labels; empty: not run"),
    classes=Column(int, "number of classes"),
    train=Column(int, "sentences that the probe was trained on"),
    source=Column(str, "where the labels come from"),
    left_out=Column(str, "tasks that could not be made, and why"),
)


def cache_key(corpus: Corpus) -> dict[str, str]:
    """What is read of a corpus but is not part of its checksum."""
    return {"features": features_checksum(corpus)}


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: which predictions are correct, by task, model, layer and probe."""
    from whence.evaluation.retraining import untrained
    from whence.evaluation.sentence_vectors import vectors

    tasks, constant = tasks_and_sources(config, context)
    rows = [_row(task, MAJORITY, -1, NONE, 0, most_frequent(*task.split_labels), None) for task in tasks]
    items = [item for task in tasks for item in (*task.train, *task.test)]
    trained = vectors(context, items, config.read)
    for seed in range(config.seed, config.seed + config.seeds):
        rows += probe_rows(config, context, tasks, trained, TRAINED, seed)
    del trained
    for seed in range(config.seed, config.seed + config.seeds if config.untrained else config.seed):
        drawn = vectors(untrained(replace(context, seed=seed)), items, config.read)
        rows += probe_rows(config, context, tasks, drawn, RANDOM, seed)
    return COLUMNS.table([{**row, **constant} for row in rows])


def tasks_and_sources(config: Config, context: "Context") -> tuple[list[Task], dict[str, str]]:
    """The tasks, and where they come from."""
    train, test = split_sentences(context.corpus, context.examples, config.seed)
    known = trees_of((*train, *test))
    if known:
        tasks, why_not = tasks_from_trees(config.tasks, train, test, config.train, config.test, config.seed)
        constant = {"source": known}
    else:
        name = config.data if context.corpus is None else context.corpus.name
        one = task_from_labels(name, train, test, config.train, config.test, config.seed)
        short = lacking(one)
        tasks, why_not = ([], {name: short}) if short else ([one], {})
        constant = {"source": "the labels of the corpus"}
    left_out = "; ".join(f"{name}: {why}" for name, why in why_not.items())
    if not tasks:
        raise BadData(
            f"{config.data} holds nothing to probe for: expected sentences with trees and morphology (CoNLL-U with the"
            f" columns head, deprel, upos and feats) or with labels, enough of each. {left_out}"
        )
    return tasks, {**constant, "left_out": left_out}


def trees_of(examples: Sequence[Example]) -> str:
    """What is known of the sentences besides their words; empty if they have no trees, or labels and no morphology."""
    if any(e.heads is None or e.relations is None for e in examples):
        return ""
    if all(e.features is not None for e in examples):
        return "the sentences' trees and morphology"
    return "" if any(e.label is not None for e in examples) else "the sentences' trees"


def probe_rows(
    config: Config, context: "Context", tasks: Sequence[Task], vectors: "Vectors", model: str, seed: int
) -> list[dict[str, Any]]:
    """The rows of one model: every task, layer and probe; of the trained one the bag of its word vectors too."""
    layers: list[int | None] = [*([None] if model == TRAINED else []), *range(len(vectors.layers))]
    each = [(task, layer, kind) for task in tasks for layer in layers for kind in config.probe]
    rows = []
    for task, layer, kind in tqdm(each, f"{context.name}: {model}", unit="probe", disable=context.quiet, leave=False):
        probe = Probe(kind, config.strength, config.units, config.epochs, seed)
        train, test = vectors.of(task.train, layer), vectors.of(task.test, layer)
        labels, test_labels = task.split_labels
        right, control = probe.correct(train, labels, test, test_labels), None
        if config.control and model == TRAINED:
            given = [control_labels(side, labels, task.name, seed) for side in (task.train, task.test)]
            control = probe.correct(train, given[0], test, given[1])
        place = (BAG, -1) if layer is None else (model, layer)
        rows.append(_row(task, *place, kind, seed, right, control))
    return rows


def _row(
    task: Task, model: str, layer: int, probe: str, seed: int, right: np.ndarray, control: np.ndarray | None
) -> dict[str, Any]:
    known = "" if control is None else analysis.bits(control)
    return {
        "task": task.name,
        "model": model,
        "layer": layer,
        "probe": probe,
        "seed": seed,
        "right": analysis.bits(right),
        "control": known,
        "classes": len(task.labels),
        "train": len(task.train),
    }


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row per task, accuracy in per cent of the first kind of probe after each layer, and of the baselines."""
    return analysis.by_task(table)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: `past_present, layer 3, logistic`, `... control`, `... selectivity`."""
    return analysis.named_quantities(table)


def effects(table: pd.DataFrame) -> list[Effect]:
    """How much higher accuracy is than with random weights: over all tasks, and of each task."""
    return analysis.above_floor(table)


def figure(table: pd.DataFrame) -> Figure:
    """Accuracy by layer, a panel for each task."""
    return analysis.by_layer(table)


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """Selectivity by layer, where there were control labels."""
    return {"selectivity": analysis.selectivity(table)} if (table["control"] != "").any() else {}


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether probes find more in the layers than in the same layers with random weights."""
    found = effects(table)
    answer, sentence = analysis.decide(found)
    left_out = f" Left out: {names}." if (names := str(table["left_out"].iloc[0] or "")) else ""
    same = " The bag of word vectors is what enters the first layer." if analysis.bag_is_layer_0(table) else ""
    return Verdict(
        question=NO_QUESTION,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure="Probes were trained to find properties of sentences in the model's sentence vectors after each"
        f" layer; the properties are from {table['source'].iloc[0]}. They were compared with probes on random weights,"
        " on the mean of the word vectors, and on random labels. Intervals are over the test sentences and"
        f" hold for all tasks together.{left_out}{same}",
        means="Where probes find more than in random weights, training has put the property into the vectors in a form"
        " that a simple classifier can read.",
        does_not_mean="That the model uses what a probe finds: the property may be present and never be used. And what"
        " no probe finds may still be there, in another form.",
    )


EXPERIMENT = Experiment(
    __doc__,
    Config,
    COLUMNS,
    CAPTION,
    run,
    figure,
    verdict,
    TEXTS_ALONE,
    figures,
    summary,
    quantities,
    cache_key=cache_key,
)
