"""How long does a model remember the first word, and do faster-moving states forget sooner?

Mrini et al. 2019 asks for Haviv et al.'s (2019) study of memory on language. A model reads an item, then t words of
noise, then a cue, and predicts the item: a word (`recall`, `recall:apart`), or which of twenty real sentences
(`recall:sst`, `recall:multi30k`). It learns from delays of up to ten words and is tested after longer ones too. Five
kinds of model are trained for it: an RNN, an LSTM and a GRU that predict from their last state, an LSTM with an
attention over its states, and a Transformer. None reads backwards, and all have the same width.

*Recall* is the accuracy by delay; chance is one in twenty. *Forgetting* of an item is the share of wrong predictions
after delays longer than those learned. *Speed* is how far an item's state moves at one step of mean noise, once it has
been held for as long as the longest delay learned: √(2q), q = ½‖F(s) − s‖² (Sussillo & Barak 2013), where Haviv et al.
descend further to a minimum of q. *Drift* is ‖s_k − s_{k−1}‖ under the noise that was actually read, mean over as many
steps (`evaluation/state_drift.py`). The state is all that is passed to the next word, for an LSTM hidden and cell
state. A Transformer carries no state and has neither. The relation is Kendall's τ-b over the items of each trained
model, mean over models; the interval is a jackknife over items, crossed with models.

It answers none of the six questions of an audit: three of its models have no attention. It shows what attention is for
(Mrini et al. 2019, §4): access to earlier words that the state has forgotten.

When not to use it: to learn something about a given model: it trains its own.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis import memory as analysis
from whence.analysis.memory import (
    NAMES,
    beyond_training,
    by_delay,
    by_item,
    by_model,
    rank_correlation,
    recall,
    within_training,
)
from whence.data.synthetic.recall import delay_of
from whence.evaluation.config import TrainingExperimentConfig
from whence.figures.curves import curves
from whence.figures.grouped_scatter import grouped_scatter
from whence.measures.intervals import Interval
from whence.results.columns import EXAMPLE, Column, Columns
from whence.results.experiment import Experiment, Needs
from whence.results.verdict import NONE, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context
    from whence.evaluation.trained_models import TrainedModels

CAPTION = (
    "Recall of the item after so many words of noise, with 95 % intervals over texts and seeds. Dotted: chance, and the"
    " longest delay in training."
)
Kind = Literal["rnn", "lstm", "gru", "lstm_attention", "transformer"]
READERS: dict[str, dict[str, Any]] = {
    "rnn": {"model": "reader", "encoder": "rnn"},
    "lstm": {"model": "reader", "encoder": "lstm"},
    "gru": {"model": "reader", "encoder": "gru"},
    "lstm_attention": {"model": "reader", "encoder": "lstm", "attention": "additive"},
    "transformer": {"model": "transformer", "layers": 2, "dropout": 0.0, "schedule": "constant"},
}


class Config(TrainingExperimentConfig):
    """Train small models to repeat the first word after noise, and measure how long they remember it."""

    data: str = Field("recall", description="recall, recall:apart, recall:sst or recall:multi30k")
    kinds: tuple[Kind, ...] = Field(get_args(Kind), min_length=1, description="models that are trained for it")
    seeds: int = Field(2, gt=0, description="models of each kind, from so many seeds")
    width: int = Field(64, gt=0, multiple_of=4, description="of states and word vectors")
    epochs: int = Field(30, ge=0, description="passes over the training texts, at most")
    learning_rate: float = Field(2e-3, gt=0, description="of the optimizer")

    def training(self, kind: str, seed: int) -> dict[str, Any]:
        """The options of one model's training."""
        embedding = {} if kind == "transformer" else {"embedding_size": self.width}
        return {
            **READERS[kind],
            **embedding,
            "seed": seed,
            "hidden_size": self.width,
            "epochs": self.epochs,
            "learning_rate": self.learning_rate,
            "batch_size": 64,
            "patience": 8,
        }


COLUMNS = Columns(
    what="one row per model, seed and example",
    model=Column(str, "kind of model: rnn, lstm, gru, lstm_attention, transformer; or given"),
    seed=Column(int, "seed of the training, -1 for the given model"),
    example=EXAMPLE,
    item=Column(int, "number of the item's class, from 0"),
    words=Column(int, "words of the item"),
    delay=Column(int, "words of noise between the item and the cue"),
    longest=Column(int, "the longest delay in training"),
    chance=Column(float, "accuracy by chance"),
    right=Column(float, "1 if the item was predicted, else 0"),
    drift=Column(float, "how far the state moves at a word of noise, mean over the first `longest` of them"),
    speed=Column(float, "how far the item's state moves at mean noise, held for `longest` steps"),
)


def run(config: Config, evaluated: "TrainedModels") -> pd.DataFrame:
    """The table: every example under every model."""
    longest = max(delay_of(example) for example in evaluated.corpus["train"])
    chosen = [evaluated.corpus[evaluated.split][number] for number in evaluated.numbers]
    numbers = {label: number for number, label in enumerate(evaluated.corpus.labels)}
    texts = pd.DataFrame(
        {
            "example": evaluated.numbers,
            "item": [numbers[str(example.label)] for example in chosen],
            "words": [sum(example.rationale or ()) for example in chosen],
            "delay": [delay_of(e) for e in chosen],
            "longest": longest,
            "chance": 1 / len(numbers),
        }
    )
    wanted: dict[tuple[str, int], dict[str, Any]] = {
        (kind, seed): config.training(kind, seed) for kind in config.kinds for seed in range(config.seeds)
    }
    tables = [
        texts.assign(model=kind, seed=seed, **recall_and_motion(context, texts["words"].tolist(), longest))
        for (kind, seed), context in models(evaluated, wanted)
    ]
    table = pd.concat(tables, ignore_index=True)
    return COLUMNS.table({name: table[name].to_numpy() for name in COLUMNS.columns})


def models(
    evaluated: "TrainedModels", wanted: Mapping[tuple[str, int], dict[str, Any]]
) -> Iterator[tuple[tuple[str, int], "Context"]]:
    """The trained models, then the given one."""
    yield from evaluated.trained(wanted)
    if evaluated.subject is not None:
        yield ("given", -1), evaluated.context(evaluated.subject)


def recall_and_motion(context: "Context", words: list[int], longest: int) -> dict[str, Any]:
    """Which items one model recalls, and how its state moves."""
    from whence.evaluation.scoring import accuracy
    from whence.evaluation.state_drift import drifts

    drift, speed = drifts(context.subject, context.examples, words, longest, context.batch_size)
    return {"right": accuracy(context), "drift": drift, "speed": speed}


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Each model's recall after delays that were learned and longer ones, and how forgetting goes with speed."""
    return by_model(table)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: `recall of LSTM after 20 words, %`, `recall of LSTM, learned, %` and
    `..., beyond, %`, `τ of speed and forgetting, LSTM` (also of drift), `chance, %`.
    """
    found = {"chance, %": _percent(Interval(float(table["chance"].iloc[0]), float("nan"), float("nan")))}
    for row in by_delay(table).to_dict("records"):
        name = f"recall of {row['model']} after {row['delay']} words, %"
        found[name] = _percent(Interval(row["recall"], row["low"], row["high"]))
    items = by_item(table)
    for model, rows in table.groupby("model", sort=False):
        name = NAMES[str(model)]
        found[f"recall of {name}, learned, %"] = _percent(recall(within_training(rows)))
        found[f"recall of {name}, beyond, %"] = _percent(recall(beyond_training(rows)))
        for moved in ("speed", "drift"):
            found[f"τ of {moved} and forgetting, {name}"] = rank_correlation(items, moved, [str(model)])
    return found


def _percent(share: Interval) -> Interval:
    return Interval(100 * share.mean, 100 * share.low, 100 * share.high)


def effects(table: pd.DataFrame) -> list[Effect]:
    """How forgetting goes with speed, and what is recalled after longer delays than learned."""
    return analysis.effects(table)


def figure(table: pd.DataFrame) -> Figure:
    """Forgetting curves: recall by delay, a line for each kind of model."""
    return curves(
        by_delay(table),
        "delay",
        "recall",
        "model",
        low="low",
        high="high",
        base={"": float(table["chance"].iloc[0])},
        x_label="words of noise",
        y_label="recall",
        until=float(table["longest"].iloc[0]),
    )


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """More figures: forgetting of each item by the speed of its state, and by its drift."""
    names = [NAMES[str(model)] for model in table["model"].unique()]
    items = by_item(table).replace({"model": NAMES})
    labels = {"speed": "speed at mean noise, ‖F(s) − s‖", "drift": "drift under noise, mean ‖step‖"}
    return {
        moved: grouped_scatter(
            items, moved, "forgotten", "model", names, x_label=label, y_label="forgotten beyond learned"
        )
        for moved, label in labels.items()
        if items[moved].notna().any()
    }


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether items whose state moves faster are forgotten more, by models that predict from their last state."""
    found = effects(table)
    answer, sentence = analysis.decide(found[0], found[2:], float(table["chance"].iloc[0]))
    return Verdict(
        question=NONE,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure=f"Models were trained to repeat an item after up to {table['longest'].iloc[0]} words of noise, and"
        f" tested after up to {table['delay'].max()}. Items were ranked by the speed of their states at the end of the"
        " delays learned, and by how often they were forgotten later.",
        means="Where τ is above zero, how fast a state moves while it is held predicts which items get lost.",
        does_not_mean="That speed is the cause: it was observed, not changed. Nor anything about a model with other"
        " training: what is forgotten depends on the delays that were learned.",
    )


EXPERIMENT = Experiment(
    __doc__, Config, COLUMNS, CAPTION, run, figure, verdict, Needs(model=False), figures, summary, quantities
)
