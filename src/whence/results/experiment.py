"""What an experiment is: options, a table it makes of a model and a corpus, and what the table says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from whence.measures.intervals import Interval
from whence.plugins import Registry
from whence.results.columns import Columns
from whence.results.row_order import RowOrder
from whence.results.verdict import Verdict

Table = pd.DataFrame


@dataclass(frozen=True)
class Needs:
    """What an experiment asks of a model and a corpus. What it does not get is refused in a sentence."""

    labels: bool = True  # every example has its label, tags or target
    classes: bool = True  # the model predicts classes, not values
    predictions: bool = True  # the model predicts something; else texts are only read
    model: bool = True  # one is given; else the experiment trains its own


UNLABELLED = Needs(labels=False)
ANY_TASK = Needs(labels=False, classes=False)
TEXTS_ALONE = Needs(labels=False, classes=False, predictions=False)


def _none(table: Table) -> None:
    return None


def _no_figures(table: Table) -> dict[str, Figure]:
    return {}


def _no_quantities(table: Table) -> dict[str, Interval]:
    return {}


def _nothing_more(corpus: Any) -> dict[str, str]:
    return {}


def streams_of_batches(corpus: Any) -> dict[str, str]:
    """For the cache key where attention is drawn at random: each batch has its own random numbers, as not before."""
    return {"streams": "of batches"}


def _no_remark(table: Table) -> str:
    return ""


def _as_it_is(table: Table) -> Table:
    return table


@dataclass(frozen=True, eq=False)
class Experiment:
    """One question as data: everything that Whence asks of an experiment is a field here, with a default where it may
    be left out. `about` is the file's docstring; its first line is the question. Fields without a default are given
    by place.
    """

    about: str | None  # `__doc__`
    config: type[Any]  # a pydantic class, made from `evaluation.config`
    columns: Columns
    caption: str  # of the main figure
    run: Callable[[Any, Any], Table]  # options, evaluation context -> table
    figure: Callable[[Table], Figure]
    verdict: Callable[[Table], Verdict]
    needs: Needs = Needs()
    figures: Callable[[Table], Mapping[str, Figure]] = _no_figures  # further ones, by name
    summary: Callable[[Table], Table | None] = _none
    quantities: Callable[[Table], Mapping[str, Interval]] = _no_quantities  # numbers that a ledger may ask for
    cache_key: Callable[[Any], Mapping[str, str]] = (
        _nothing_more  # what it reads of a corpus that its checksum does not cover
    )
    remark: Callable[[Table], str] = _no_remark  # a sentence for the ledger, in addition to the verdict
    without_texts: Callable[[Table], Table] = _as_it_is  # for pages: no words of corpora that may not be passed on
    pooled: Callable[[Sequence[Table]], Table] | None = None  # one table of several models', for the main figure
    shards: RowOrder | None = None  # how tables of shards are merged; None: the table is of the corpus as a whole

    @property
    def question(self) -> str:
        """The question, in one line."""
        return (self.about or "").strip().partition("\n")[0]


EXPERIMENTS: Registry[Experiment] = Registry(
    "experiment", "whence.experiments", "EXPERIMENT", lambda found: isinstance(found, Experiment), "an Experiment"
)
names, experiment, about = EXPERIMENTS.names, EXPERIMENTS.get, EXPERIMENTS.about
