"""Is attention nearer to a sentence's dependency tree than to random trees?

Varano 2019. A dependency tree gives a target distribution P of each word's attention (by default all on its parent).
How far a head's attention Q is from it is D_KL(P ‖ Q) in nats, for every word, then the mean over the words of a
sentence, then over sentences (§4.2). The true tree of each sentence is compared with random ones, of several kinds
(`--baselines`): the paper's, uniform over all trees, trees with the true one's arc lengths, or with its share of
parents that come first, chains of neighbours, and the true tree of another sentence of as many words. The difference
true − random is below zero where attention is nearer to syntax. A head counts only if it is nearer to the true trees
than to *every* kind of random ones, by more than a tenth of a nat; p is corrected for all heads (Holm), intervals are
t intervals over examples.

Also reported: how often the word with most of a word's attention is its parent, and how often the word at the best
fixed offset is (Clark et al. 2019, §4): the offset that is best on the very same sentences, which favours it.

Subwords are merged into words: attention to a word is summed, from it averaged. Special tokens, and in pairs the other
text, are left out and rows made to sum to one; with `--no-renormalise` they keep what they get, and words have less.
Truncated sentences and those of one word are left out.

Differs from the paper: it has one kind of random tree, which is not the uniform one that it was meant to be, and no
intervals. How a parent counts that a mask forbids is an option (`--masked`).

When not to use it: where trees come from a parser and the conclusion is about its errors. Nearness to trees shows
plausibility, not that the model uses syntax.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.syntax import figures as drawing
from whence.analysis.syntax.figures import (
    by_epoch,
    by_head,
    by_layer,
    drawable_sentence,
    pooled_means,
    sentence_figures,
    shown_weights,
)
from whence.analysis.syntax.heads import ranking, rows
from whence.analysis.syntax.verdict import decide, differences, named_quantities, trend
from whence.core.errors import BadConfig
from whence.data.checksum import sha256
from whence.data.syntax.forest import TRUE, Forest, Measuring, grown, with_trees
from whence.data.syntax.tree_attention import REFERENCES
from whence.evaluation.config import ExperimentConfig
from whence.measures.intervals import Interval
from whence.measures.tree_divergence import Masked
from whence.options import usually
from whence.results.columns import Column, Columns
from whence.results.experiment import TEXTS_ALONE, Experiment
from whence.results.verdict import Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = (
    "Divergence of attention from the true trees and from random ones, mean over the heads, with 95 % intervals. Lower"
    " is nearer."
)
Kind = Literal["arc_standard", "uniform", "lengths", "direction", "chain", "others"]
SHOWN = 20  # heads in a summary


class Config(ExperimentConfig):
    """Compare the attention of every head with dependency trees, true and random."""

    reference: Literal["parent", "children", "neighbours", "nearness"] = Field(
        "parent", description="where a tree says that a word attends: its parent, its children, both, all by distance"
    )
    masked: Masked = Field(
        "zero",
        description="a parent that may not be attended counts as perfect (zero, as in Varano 2019), is left out (skip),"
        " or has a least weight (floor)",
    )
    floor: float = Field(1e-6, gt=0, lt=1, description="the least weight, where --masked is floor")
    baselines: tuple[Kind, ...] = Field(
        get_args(Kind), min_length=1, description="kinds of random trees; the first is plotted with the true ones"
    )
    draws: int = Field(3, gt=0, description="random trees of each kind for each sentence")
    renormalise: bool = Field(True, description="leave special tokens out; else they keep the weight that they get")
    sites: tuple[str, ...] = Field(("*",), min_length=1, description="where: names of sites, or patterns")
    parser: Annotated[str | None, usually("the corpus's own trees", "spacy:PACKAGE|stanza:LANGUAGE")] = Field(
        None, description="make the trees with a parser that is installed"
    )
    epochs: bool = Field(False, description="evaluate the model of every epoch that was kept (train --keep-epochs)")
    untrained: bool = Field(False, description="also evaluate the same model untrained, as epoch 0")

    def cache_key(self) -> dict[str, Any]:
        """The contents of the epochs' models, not their folder."""
        known = super().cache_key()
        if self.epochs:
            from whence.training.epoch_checkpoints import kept_epochs  # imports torch, which options do not need

            places = kept_epochs(Path(self.model)).items()
            known["epochs"] = {str(epoch): sha256(place / "model.safetensors") for epoch, place in places}
        return known

    @property
    def measuring(self) -> Measuring:
        """The options of the measurement."""
        return Measuring(self.reference, self.masked, self.floor, self.renormalise, self.sites)


def spread(name: str, meaning: str) -> dict[str, Column]:
    """A number with its interval over examples."""
    meanings = {
        "": meaning,
        "_low": "where its 95 % interval begins",
        "_high": "where it ends",
        "_error": "its standard deviation",
    }
    return {f"{name}{part}": Column(float, meant) for part, meant in meanings.items()}


COLUMNS = Columns(
    what="one row per epoch, site, head (0: their mean) and kind of tree",
    epoch=Column(int, "finished epochs of training; -1: the model as it is"),
    site=Column(str, "the attention site"),
    layer=Column(int, "its layer, counted from 0"),
    sees=Column(str, "what a word may attend to: all, the past or the future"),
    head=Column(int, "the head, counted from 0; -1: the mean over all heads of the site"),
    tree=Column(str, "true, or the kind of random trees"),
    **spread("divergence", "D_KL(tree ‖ attention) in nats, mean over words, then over sentences"),
    **spread("difference", "true − this, of the same sentences: below zero, attention is nearer to the true trees"),
    coverage=Column(float, "share of the tree that may be attended, mean over words, then over sentences"),
    before=Column(float, "share of words, roots left out, whose parent comes before them in these trees"),
    sentences=Column(int, "sentences that have such a tree and were measured"),
    **spread("attachment", "share of words whose parent gets most of the head's attention (true trees)"),
    offset=Column(int, "the fixed offset at which most parents are"),
    offset_attachment=Column(float, "share of words whose parent is there"),
    beyond_error=Column(float, "standard error of attachment less that share"),
    shown=Column(str, "weights in one sentence, as JSON: of the site's nearest head, and of the mean of all heads"),
    reference=Column(str, "where a tree says that a word attends"),
    masked=Column(str, "how a parent counts that may not be attended"),
    source=Column(str, "where the trees come from"),
)


def without_texts(table: pd.DataFrame) -> pd.DataFrame:
    """The table without the words of the sentence that is shown."""
    return drawing.without_texts(table)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: every head compared with every kind of tree, in every evaluated epoch."""
    from whence.evaluation.tree_attention import tree_divergences

    if context.subject.task.predicts_values:
        raise BadConfig(
            f"{context.subject.name} reads narratives window by window; trees are of sentences that are whole"
        )
    notes = () if context.corpus is None else context.corpus.notes
    examples, source = with_trees(context.examples, config.parser, config.data, notes)
    context = replace(context, examples=examples)
    forest = grown(examples, config.baselines, config.draws, config.seed)
    constant = {"reference": config.reference, "masked": config.masked, "source": source}
    found: list[dict[str, Any]] = []
    for epoch, one in models(config, context):
        here = list(rows(tree_divergences(one, forest, config.measuring), forest))
        pictures = shown(config, one, forest, here)
        found += [
            {"epoch": epoch, **row, **constant, "shown": pictures.get((row["site"], row["head"], row["tree"]))}
            for row in here
        ]
    return COLUMNS.table(found)


def shown(
    config: Config, context: "Context", forest: Forest, found: list[dict[str, Any]]
) -> dict[tuple[Any, ...], str]:
    """The weights in one sentence, to be drawn, by site, head and kind of tree; none if all sentences are too long."""
    from whence.evaluation.tree_attention import sentence_weights

    number = drawable_sentence(forest)
    if number is None:
        return {}
    sentence = forest.sentences[number]
    weights = sentence_weights(context, forest, number, config.measuring)
    words = list(context.examples[sentence.example].words or ())
    tree = REFERENCES[config.reference](sentence.heads)
    return shown_weights(weights, words, tree, config.baselines[0], found)


def models(config: Config, context: "Context") -> Iterator[tuple[int, "Context"]]:
    """The models to evaluate: the model as it is, or those of single epochs; optionally first the same untrained."""
    from whence.evaluation.retraining import epoch_models, untrained

    if config.epochs:
        yield from epoch_models(context, Path(config.model))
        return
    if config.untrained:
        yield 0, untrained(context)
    yield -1, context


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """The heads that are most certain to be nearer to the true trees than to every kind of random ones."""
    return ranking(table).head(SHOWN)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: see `whence.analysis.syntax.verdict`."""
    return named_quantities(table)


def effects(table: pd.DataFrame) -> list[Effect]:
    """How near the most certain head is, and how near all heads of each site are, to true trees less random ones."""
    return differences(table)


def figure(table: pd.DataFrame) -> Figure:
    """Divergence from true and from random trees, by epoch (Figs. 2 and 3) or by layer."""
    return by_epoch(table) if table["epoch"].nunique() > 1 else by_layer(table)


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """More figures: how much nearer each head is; attention in a sentence and its tree (Fig. 1), and that of single
    heads (Fig. 4).
    """
    return {"heads": by_head(ranking(table)), **sentence_figures(table)}


def pooled(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """What the main figure needs, of several models: means, and intervals that hold those of all models."""
    return pooled_means(tables)


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether some head is nearer to the true trees than to every kind of random ones."""
    ranked, found = ranking(table), effects(table)
    last = table[table["epoch"] == table["epoch"].iloc[-1]]
    answer, sentence = decide(ranked, found[0])
    kinds = ", ".join(tree for tree in last["tree"].unique() if tree != TRUE)
    return Verdict(
        question=6,
        answer=answer,
        sentence=sentence + trend(table),
        effects=tuple(found),
        procedure=f"The attention of {len(ranked)} heads was compared with the dependency trees of the sentences"
        f" ({last['source'].iloc[0]}; reference: {last['reference'].iloc[0]}; masked parents: {last['masked'].iloc[0]},"
        f" coverage {100 * last['coverage'].iloc[0]:.0f} %) and with random ones ({kinds}). Intervals are over"
        " examples and hold for all heads together; p values are corrected for all heads (Holm).",
        means="A head that is nearer to the true trees than to every kind of random ones gives the words that a tree"
        " points at more attention than their positions, or the direction and length of the arcs, explain.",
        does_not_mean="That the model computes trees, or uses them: a head that attends to verbs is nearer to trees, in"
        " which much depends on verbs. And what a head attends to need not decide the prediction (question 3).",
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
    without_texts=without_texts,
    pooled=pooled,
)
