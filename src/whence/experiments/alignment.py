"""Does a translator's attention link words to their translations?

Bahdanau et al. 2015, §5.2.1 and Fig. 3; Mrini et al. 2019, Fig. 1: the weights of a translator are shown as a heatmap
and read as an alignment. Here they are measured. The reference translation is given word by word; each target word is
linked to the source word that gets most of its weight (for words split into subwords: the sum over source subwords, the
mean over target subwords; Clark et al. 2019), and the links are compared with reference links by the alignment error
rate (Och & Ney 2003, §2.1). Every head of every cross-attention site is a candidate, and so is the mean of a site's
heads.

Which weights belong to a word is ambiguous by one step. `producing`: the weights of the step that outputs the word
(Bahdanau et al.: α_t from the state before, c_{t-1}; Luong et al.: from c_t; Transformers: the query is the word
before). `reading`: those of the next step, which reads the word; in lower layers of Transformers these align better
(Kobayashi et al. 2020, §5, "alignment with input"). Both are candidates; figures name the step.

The best candidate is chosen on a random half of the sentences and reported on the other half, so that choosing among
many heads gives no advantage. It is compared with links on the diagonal (target word j of m to source word (j + ½)
n/m), and with random links (their expectation). Intervals: jackknife. The smallest effect of interest is a
twentieth.

The reference links of `numerals` are exact; those of `multi30k:aligned` were made by another program. All count as
sure. Special tokens are ignored; with `special_tokens`, a target word that gives most weight to a special token is
linked to nothing.

When not to use it: where there are no reference links. Links made by another program measure agreement with that
program.
"""

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis import alignment as analysis
from whence.analysis.alignment import (
    ATTENTION,
    CHOOSING,
    COUNTS,
    DIAGONAL,
    RANDOM,
    REPORTING,
    baseline,
    best,
    describe_candidate,
    drawable_pair,
    refuse_unlinked,
)
from whence.core.errors import BadData
from whence.data.examples import Example
from whence.data.rng import seeded_rng
from whence.evaluation.config import ExperimentConfig
from whence.measures.alignment_error import How, by_chance, counted, diagonal, linked
from whence.measures.intervals import Interval
from whence.results.columns import EXAMPLE, Column, Columns
from whence.results.experiment import UNLABELLED, Experiment
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context
    from whence.evaluation.cross_attention import Crossings

CAPTION = (
    "How well attention links the words of translations to those of their texts: the head that was chosen on other"
    " sentences, compared with links on the diagonal and random links."
)
SMALLEST = 0.05  # of the error rate
SHOWN = 18  # heads in a summary


class Config(ExperimentConfig):
    """Compare the links that cross-attention makes with reference links between words."""

    sites: tuple[str, ...] = Field(("*",), min_length=1, description="cross-attention sites: names or patterns")
    links: How = Field(
        "target",
        description="link each target word to its largest weight; only if mutual; or wherever a weight is large enough",
    )
    threshold: float = Field(0.2, gt=0, lt=1, description="least weight of a link with --links threshold")
    special_tokens: bool = Field(
        False, description="a word that gives most weight to a special token is linked to nothing"
    )


COLUMNS = Columns(
    what="one row per pair of sentences, head (-1: mean of a site's heads) and step, and per baseline",
    example=EXAMPLE,
    half=Column(str, "what the pair is for: choosing a head, or reporting"),
    by=Column(str, "source of the links: attention, diagonal or random"),
    site=Column(str, "the attention site"),
    layer=Column(int, "its number among the cross-attention sites, counted from 0"),
    head=Column(int, "the head, counted from 0; -1: the mean of all heads of the site"),
    step=Column(str, "producing (the step that outputs the word) or reading (one step later)"),
    source=Column(int, "words of the text"),
    target=Column(int, "words of the translation"),
    found=Column(float, "|A|: links found (random: expected number)"),
    sure=Column(float, "|S|: reference links"),
    found_sure=Column(float, "|A ∩ S|: links found that are sure"),
    found_possible=Column(float, "|A ∩ P|: links found that are possible"),
    shown=Column(str, "of one pair: its words, its reference links and the weights, as JSON"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: the links of every head in every pair of sentences, counted."""
    from whence.evaluation.cross_attention import crossings

    refuse_unlinked(context.examples, config.data)
    order = seeded_rng(config.seed, "halves").permutation(len(context.examples))
    half = np.where(order < len(order) // 2, CHOOSING, REPORTING)
    drawn = drawable_pair(context.examples)
    rows: list[dict[str, Any]] = []
    for number, pair in crossings(context, config.sites):
        common = {"example": int(context.numbers[number]), "half": str(half[number])}
        rows += [{**common, **row} for row in _rows(config, context.examples[number], pair, shown=number == drawn)]
    if len({row["half"] for row in rows}) < 2:
        raise BadData(
            f"of {len(context.examples)} pairs fewer than two fit into the model's input; expected more, since"
            " a head is chosen on some and reported on others"
        )
    return COLUMNS.table(rows).sort_values("example", kind="stable", ignore_index=True)


def _rows(config: Config, example: Example, crossings: "Crossings", shown: bool) -> list[dict[str, Any]]:
    """The counts of one pair, of every candidate and both baselines."""
    source, target = list(example.words or ()), (example.target or "").split()
    sure = np.zeros((len(target), len(source)), bool)
    for i, j in example.alignment or ():
        sure[j, i] = True
    sizes = {"source": len(source), "target": len(target)}
    rows = [
        {**baseline(by), **sizes, **_counts(links, sure), "shown": None}
        for by, links in ((DIAGONAL, diagonal(*sizes.values())), (RANDOM, by_chance(*sizes.values())))
    ]
    layers = {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in crossings))}
    for (name, step), one in crossings.items():
        many = len(one.weights) > 1  # then their mean comes first
        weights, nothing = (
            np.concatenate([part.mean(0, keepdims=True), part]) if many else part for part in (one.weights, one.nothing)
        )
        links = linked(weights, config.links, config.threshold, nothing if config.special_tokens else None)
        for place, found in enumerate(links):
            head = place - many  # -1: the mean
            kept = {
                "source": source,
                "target": target,
                "links": example.alignment,
                "weights": weights[place].round(4).tolist(),
            }
            rows.append(
                {
                    "by": ATTENTION,
                    "site": name,
                    "layer": layers[name],
                    "head": head,
                    "step": step,
                    **sizes,
                    **_counts(found, sure),
                    "shown": json.dumps(kept) if shown else None,
                }
            )
    return rows


def _counts(found: Any, sure: Any) -> dict[str, float]:
    return dict(zip(COUNTS, counted(found, sure).tolist(), strict=True))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """The heads and steps with the lowest error rate on the selection half; then the baselines."""
    rows = analysis.summary(table)
    ours = rows["by"] == ATTENTION
    return pd.concat([rows[ours].head(SHOWN), rows[~ours]]).rename(columns={CHOOSING: "error rate, choosing"})


def without_texts(table: pd.DataFrame) -> pd.DataFrame:
    """The table without the words of the pair that is shown."""
    return analysis.without_texts(table)


def effects(table: pd.DataFrame) -> list[Effect]:
    """How much lower the error rate of the chosen head is than on the diagonal and by chance; both intervals hold
    together (Bonferroni).
    """
    n = int(table.loc[table["half"] == REPORTING, "example"].nunique())
    found = []
    for by, links in ((DIAGONAL, "links on the diagonal"), (RANDOM, "links by chance")):
        lower = analysis.lower_by(table, baseline(by))
        label = f"alignment error rate of {links}, less that of the chosen head"
        found.append(Effect.of("error_rate_lower", label, lower, "of the error rate (0 to 1)", SMALLEST, n, variant=by))
    return found


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: of the chosen head, of each site's heads on average, of the baselines."""
    sites = table[(table["by"] == ATTENTION) & (table["head"] == table["head"].where(table["by"] == ATTENTION).min())]
    means = sites.drop_duplicates(["site", "step"])
    who = {"chosen head": best(table), DIAGONAL: baseline(DIAGONAL), RANDOM: baseline(RANDOM)}
    who |= {describe_candidate(row): row for row in means[analysis.CANDIDATE].to_dict("records")}
    return {
        f"{name}, {candidate}": analysis.reported(table, one, name)
        for candidate, one in who.items()
        for name in analysis.MEASURES
    }


def figure(table: pd.DataFrame) -> Figure:
    """Error rate, precision and recall of the chosen head and of the baselines."""
    return analysis.chosen_and_baselines(table)


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """More figures: one pair of sentences as a heatmap (Mrini et al. 2019 Fig. 1), and the error rate of every head."""
    sentence = analysis.sentence_heatmap(table)
    heads = table.loc[table["by"] == ATTENTION, ["site", "head"]].drop_duplicates()
    return {
        **({"sentence": sentence} if sentence else {}),
        **({"heads": analysis.by_head(table)} if len(heads) > 1 else {}),
    }


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether some head links words to their translations better than the diagonal does."""
    found, rows = effects(table), analysis.summary(table)
    answer, sentence = decide(found[0], rows, describe_candidate(best(table)))
    n = int((rows["by"] == ATTENTION).sum())
    return Verdict(
        question=6,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure=f"Reference translations were fed word by word, and links were made from the weights of {n}"
        " candidates (heads, means of heads; before and after a word is fed). The one with the lowest alignment error"
        " rate on one half of the sentences is reported on the other half, compared with links on the diagonal and by"
        " chance. The intervals are over sentences and hold for both differences together.",
        means="Where the error rate is clearly lower than on the diagonal, most weight goes to the words of which a"
        " word is the translation, also where their order differs.",
        does_not_mean="That the translator relies on these weights (question 3), or would write these words: it was"
        " given them. And reference links that a program made have errors of their own.",
    )


def decide(effect: Effect, rows: pd.DataFrame, who: str) -> tuple[Answer, str]:
    """Yes if the whole interval is above the smallest effect of interest, no if it is below."""
    if effect.too_few:
        return "undecided", effect.too_few
    rates = rows.set_index("by")["alignment error rate"]
    ours = float(rows["alignment error rate"].iloc[0])
    much = (
        f"the alignment error rate of its best head ({who}) is {ours:.2f}, on the diagonal {rates[DIAGONAL]:.2f}, by"
        f" chance {rates[RANDOM]:.2f} (below the diagonal by {effect.value:.2f}, {effect.low:.2f} to"
        f" {effect.high:.2f})."
    )
    better = "words to their translations better than their positions do"
    return effect.judge(
        yes=f"Attention links words to their translations: {much}",
        no=f"Attention hardly links {better}: {much}",
        undecided=f"Attention may or may not link {better} by {effect.smallest:g} or more: {much}",
    )


EXPERIMENT = Experiment(
    __doc__,
    Config,
    COLUMNS,
    CAPTION,
    run,
    figure,
    verdict,
    UNLABELLED,
    figures,
    summary,
    quantities,
    without_texts=without_texts,
)
