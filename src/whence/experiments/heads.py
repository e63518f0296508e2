"""Do heads attend to words of strong sentiment more than chance?

Wu et al. 2020, §6.5, Eq. 14 and Fig. 6. A_h(i) is the attention that head h brings down to token i (layer-wise
attention tracing, not normalized). The share of it that lies on words with a tag, over the texts that hold such a word,

    p_h(tag) = Σ_X Σ_i A_h(i) [tag of i] / Σ_X Σ_i A_h(i)

is compared with chance: the share of a head that spreads the same attention evenly over the tokens of each of the same
texts. Tags: very positive, very negative, either. Intervals and p are those of a t test over texts, p corrected
over heads and tags (Holm). The smallest effect of interest is two hundredths of the attention.

Every window of a narrative is a text; narratives are the units. Special tokens and padding count neither as
attention nor as tokens; every subword has its word's tag; punctuation is a token without one. By default tags are SST's
own word labels (4 and 0), as in the paper; with Warriner's norms they are the paper's cuts for SEND.

Differs from the paper: its column of chance was computed on all texts with either tag, whatever the tag, and two of its
rows were swapped; that makes chance look up to three times smaller. Here it is computed on the same texts.

When not to use it: where sentiment is not what the task is about. A head above chance shows where weight lies, not that
it decides anything.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.heads import ALPHA, TAGS, above_chance, shares, summary
from whence.core.errors import BadConfig
from whence.data.lexical.lexicons import Lexicon, load_lexicon
from whence.evaluation.config import ExperimentConfig
from whence.figures.heatmap import heatmap
from whence.measures.intervals import NOT_MEASURED, Interval, level_for, mean_interval
from whence.options import usually
from whence.results.columns import EXAMPLE, Column, Columns
from whence.results.experiment import ANY_TASK, Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = (
    "Share of each head's attention on very positive words, very negative words, or either, over the texts that hold"
    " one. Chance: attention spread evenly over the same texts."
)
SMALLEST = 0.02  # of the attention
SHOWN = 16  # heads in a figure


class Config(ExperimentConfig):
    """Measure the share of each head's attention on words of strong sentiment."""

    lexicon: str = Field(
        "sst", description="lexicon: sst, warriner, vader, or the path of a table with the columns word and value"
    )
    positive: Annotated[float | None, usually("by lexicon", "NUMBER")] = Field(
        None, description="words with at least this value are very positive"
    )
    negative: Annotated[float | None, usually("by lexicon", "NUMBER")] = Field(
        None, description="words with a lower value are very negative"
    )
    matching: Literal["exact", "lemma"] = Field(
        "lemma", description="match words exactly, or also by their inflected forms"
    )
    row: str = Field("auto", description="models without a local attention: where tracing starts (see `lat`)")

    def cache_key(self) -> dict[str, Any]:
        """The contents of the lexicon, not its name."""
        return {**super().cache_key(), "lexicon": load_lexicon(self.lexicon, self.data_dir).checksum}


COLUMNS = Columns(
    what="one row per head, tag and text (of a narrative: window) that holds such a word",
    example=EXAMPLE,
    window=Column(int, "which window of a narrative, counted from 0 (0 for other texts)"),
    head=Column(int, "the head, counted from 0"),
    tag=Column(str, "which words: v.pos, v.neg or both"),
    on=Column(float, "the head's attention on these words"),
    all=Column(float, "its attention on all tokens of the text"),
    even=Column(float, "what would lie on these words if that were spread evenly"),
    tagged=Column(int, "tokens of these words"),
    tokens=Column(int, "tokens of the text"),
    cuts=Column(str, "which words have which tag"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: where each head's attention lies in each text."""
    from whence.evaluation.word_scores import traced_heads

    lexicon = load_lexicon(config.lexicon, config.data_dir)
    low, high = cut_offs(config, lexicon)
    cuts = f"very positive: {lexicon.name} at least {high:g}, very negative: below {low:g}"
    row = int(config.row) if config.row.removeprefix("-").isdecimal() else config.row
    known: dict[str, str] = {"": ""}
    rows = []
    for batch, words, heads, real in traced_heads(context, row):
        for word in {word for text in words for word in text} - set(known):
            known[word] = tag_of(lexicon.find(word, config.matching)[0], low, high)
        tags = [[known[word] for word in text] for text in words]
        windows = [0] * len(batch) if batch.window is None else batch.window[:, 0].tolist()
        for place, number in enumerate(context.numbers_of(batch)):
            rows += [
                {"example": number, "window": windows[place], "cuts": cuts, **found}
                for found in shares(heads[place], real[place], tags[place])
            ]
    if not rows:
        raise BadConfig(f"none of the texts holds a word that is {cuts}; choose another lexicon or other limits")
    return COLUMNS.table(rows).sort_values(["tag", "head", "example", "window"], kind="stable", ignore_index=True)


def cut_offs(config: Config, lexicon: Lexicon) -> tuple[float, float]:
    """The limits: words are very negative below the first, very positive from the second on."""
    low = lexicon.low if config.negative is None else config.negative
    high = lexicon.high if config.positive is None else config.positive
    if not low <= high:
        raise BadConfig(
            f"from which value on are words of {lexicon.name} very positive, and below which very negative? Expected"
            f" --positive and a lower --negative; got {config.positive} and {config.negative}"
        )
    return low, high


def tag_of(value: float, low: float, high: float) -> str:
    """The tag of a word by its value; none between the limits, and where it has no value."""
    return "positive" if value >= high else "negative" if value < low else ""


def effects(table: pd.DataFrame) -> list[Effect]:
    """How far the heads are above chance, on average, on words with each tag; intervals that hold for all tags."""
    found = []
    named = {"both": "words of strong sentiment", "v.pos": "very positive words", "v.neg": "very negative words"}
    for tag, words in named.items():
        n = table.loc[table["tag"] == tag, "example"].nunique()
        measured = NOT_MEASURED
        if n:
            measured = mean_interval(above_chance(table, tag).mean(1)[None], level_for(len(named), ALPHA))
        label = f"attention on {words}, mean over the heads, above chance"
        found.append(Effect.of("share_above_chance", label, measured, "of the attention", SMALLEST, n, variant=tag))
    return found


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger (Wu et al. 2020 Fig. 6): each head's share, the shares by rank, and chance.

    The number of a head is arbitrary, so heads of two models are compared by rank, the largest share first.
    """
    names = {"both": "both", "v.pos": "very positive", "v.neg": "very negative"}
    found, rows = {}, summary(table)
    for row in rows.to_dict("records"):
        found[f"head {row['head']}, {names[row['tag']]}"] = Interval(row["share"], row["low"], row["high"])
    for tag, of_tag in rows.groupby("tag"):
        for rank, share in enumerate(of_tag["share"].sort_values(ascending=False), start=1):
            found[f"head of rank {rank}, {names[str(tag)]}"] = Interval(float(share), np.nan, np.nan)
        found[f"chance, {names[str(tag)]}"] = Interval(float(of_tag["chance"].mean()), np.nan, np.nan)
    return found


def figure(table: pd.DataFrame) -> Figure:
    """A heatmap of shares, heads from left to right, with chance (Wu et al. 2020 Fig. 6)."""
    rows = summary(table)
    heads = rows[rows["tag"] == "both"].nlargest(SHOWN, "share", keep="first")["head"].sort_values()
    order = [tag for tag in TAGS if (rows["tag"] == tag).any()]
    cells = rows.pivot(index="tag", columns="head", values="share").loc[order, list(heads)]
    above = rows.assign(yes=(rows["p_holm"] < ALPHA) & (rows["share"] > rows["chance"]))
    marked = above.pivot(index="tag", columns="head", values="yes").loc[order, list(heads)]
    chance = rows.groupby("tag")["chance"].mean().loc[order]
    less = f"; the {SHOWN} heads with most" if rows["head"].nunique() > SHOWN else ""
    named = pd.concat([chance.rename("chance"), cells], axis=1).rename(columns=str)
    return heatmap(named, ("chance",), marked.rename(columns=str), f"head{less}", "bold: above chance (Holm, 5 %)")


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether heads attend to words of strong sentiment more than chance, on average over the heads."""
    found, rows = effects(table), summary(table)
    both = rows[rows["tag"] == "both"]
    above = int(((both["p_holm"] < ALPHA) & (both["share"] > both["chance"])).sum())
    answer, sentence = decide(found[0], float(both["share"].mean()), float(both["chance"].mean()), above, len(both))
    return Verdict(
        question=6,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure="Attention was traced down the layers, each head separately. In the texts that hold a word of strong"
        f" sentiment ({table['cuts'].iloc[0]}), the share on such words was compared with uniform attention over the"
        " same texts. The intervals are over texts and hold for the three effects together; p"
        " values are corrected for all heads and tags (Holm).",
        means="Heads above chance give more attention to words of strong sentiment than to other words.",
        does_not_mean="Heads of different layers are joined by their numbers alone, and a model stays the same when"
        " they are renumbered: a head's share is not a property of the model. And attended words need not decide"
        " (question 3).",
    )


def decide(effect: Effect, share: float, chance: float, above: int, heads: int) -> tuple[Answer, str]:
    """Yes if the whole interval is above the smallest effect of interest, no if it is below."""
    if effect.too_few:
        return "undecided", effect.too_few
    much = (
        f"{share:.3f} of the attention lies on them, mean over the heads, {chance:.3f} would by chance (difference"
        f" {effect.value:.3f}, {effect.low:.3f} to {effect.high:.3f}); {above} of {heads} heads are above chance."
    )
    more = "attend to words of strong sentiment more than to others"
    return effect.judge(
        yes=f"Heads {more}: {much}", no=f"Heads hardly {more}: {much}", undecided=f"Heads may or may not {more}: {much}"
    )


EXPERIMENT = Experiment(
    __doc__,
    Config,
    COLUMNS,
    CAPTION,
    run,
    figure,
    verdict,
    ANY_TASK,
    summary=summary,
    quantities=quantities,
    shards=RowOrder(("tag", "head", "example", "window")),
)
