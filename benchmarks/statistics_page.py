"""The page on statistics: what every interval is, and how often it contains the truth."""

from collections.abc import Sequence

LOW, HIGH, FROM = 0.93, 0.97, 50  # coverage that is wanted, from so many examples on

TEXT = """# Statistics

Every number that Whence reports is a mean, a share or a measure over examples, and over seeds where models are
retrained. Its interval is a 95 % confidence interval for *other examples and other seeds* of the same kind; with one
seed it says nothing about other seeds. The code is `src/whence/measures/intervals/`. Nothing is resampled, so no
interval depends on a random draw.

## What each interval is

I seeds, J examples, x the value of an example for a seed.

**Mean** (`mean_interval`). Seeds and examples are crossed random effects, x = μ + seed + example + residual (Scheffé
1959). The variance of the grand mean is

    v = v_seed + v_example − v_residual
    v_seed = s²(seed means) / I,  v_example = s²(example means) / J,  v_residual = s²(residuals) / (I J)

and at least the larger of the first two, so that it is never negative. The interval is μ̂ ± t √v, t with
Satterthwaite's (1946) degrees of freedom v² / (v_seed²/(I − 1) + v_example²/(J − 1) + v_residual²/((I − 1)(J − 1))).
With one seed it is the t interval over examples. Two additions:

- *Few seeds.* The half width is at least √(t²_{{I−1}} v_seed²/(v_seed + v_residual) + t²_{{J−1}} (v_example −
  v_residual)), in the manner of Banerjee (1960). With two seeds, v_seed has one degree of freedom and is often small
  by chance; Satterthwaite's interval alone then covers as little as 88 %.
- *Skewed values.* With κ the skewness of the mean, quantiles t become 3/κ · (∛(1 + κ t − κ²/6) − 1) (Hall 1992);
  nothing changes where κ = 0. Of 50 exponential values, the upper end of the t interval is below the mean in about 6
  % of samples instead of 2.5 %, which would be a false *no*.

**Share** (`share_interval`, `crossed_share_interval`). Wilson's (1927) score interval, never [0, 0] or [1, 1]: of no
success in n it is [0, z²/(n + z²)]. Over seeds, or of fractions, it is Wilson's with the number of independent
examples that would make the share as precise, n = p (1 − p) / v, and the t quantile of the crossed mean (effective
sample size, Kish 1965).

**Change of a share** (`paired_share_interval`), such as accuracy lost. Tango's (1998) score interval for paired
proportions: with b examples lost and c won of n, the Δ for which |b − c − n Δ| ≤ z √(n (2 q + Δ (1 − Δ))), q the
likeliest share of wins given Δ. At Δ = 0 it is McNemar's (1947) test. If nothing changed it is ±z²/(n + z²), never
[0, 0]. Over seeds, or of fractions: with the effective number of pairs, as above.

**Measure of a corpus** (`corpus_interval`, `corpus_loss_interval`): F1, BLEU, alignment error, which are measures of
summed counts. The crossed interval of the jackknife's pseudo-values n θ − (n − 1) θ₍₋ᵢ₎ (Tukey 1958; Efron &
Tibshirani 1993, ch. 11). If no example changed, Tango's bound in points. Kendall's τ over items and the curvature of
word scores are jackknifed likewise.

**Share of a measure lost** (`relative_loss_interval`): the ratio is linearised (Cochran 1977). The mean of several
cases (`average`) adds the distances to the ends in squares (Zou & Donner 2008).

**Ratio of sums** (`ratio_intervals`): Σ values / Σ counts over texts, linearised (Cochran 1977), t with one degree of
freedom less than the texts counted.

## What an interval decides

- *Yes* needs the whole interval above the smallest effect of interest (`exceeds`).
- *No* is an equivalence test (Schuirmann 1987): the whole interval lies below the smallest effect of interest
  (`equivalent`), at 2.5 %.
- Several intervals of which one may be picked hold together (Bonferroni, `level_for`); p values of many heads are
  corrected by Holm 1979. There is no correction across the six questions, which are read one by one.
- For *undecided*, `needed` says about how many examples would move the interval off the limit, from its width, which
  shrinks with 1/√n.

## Coverage

How often 95 % intervals contain the truth, in {draws:,} simulated samples each (`python -m benchmarks.coverage`; the
error of a cell is ±1.4 points). Several seeds differ in these simulations: 2 % of the variance of a latent score, or
a fifth of the examples' standard deviation.
{summary}

"""


def page(rows: Sequence[tuple[str, str, int, Sequence[float]]], sizes: Sequence[int], draws: int) -> str:
    """The page, from rows of interval, data, seeds, and coverage by number of examples."""
    header = ["interval", "data", "seeds", *(f"n = {size}" for size in sizes)]
    lines = [" | ".join([kind, data, str(seeds), *map(_cell, found)]) for kind, data, seeds, found in rows]
    table = "\n".join(f"| {line} |" for line in (" | ".join(header), " | ".join(["---"] * len(header)), *lines))
    return TEXT.format(draws=draws, summary=_summary(rows, sizes)) + table + "\n"


def _cell(share: float) -> str:
    return f"{100 * share:.1f}"


def _summary(rows: Sequence[tuple[str, str, int, Sequence[float]]], sizes: Sequence[int]) -> str:
    cells = [(seeds, v) for _, _, seeds, found in rows for size, v in zip(sizes, found, strict=True) if size >= FROM]
    below, above = ([cell for cell in cells if cell[1] < LOW], [cell for cell in cells if cell[1] > HIGH])
    of_two, counted = sum(seeds == 2 for seeds, _ in above), [value for _, value in cells]
    return (
        f"From {FROM} examples on, {len(cells) - len(below) - len(above)} of {len(cells)} cells are within"
        f" {100 * LOW:.0f}–{100 * HIGH:.0f} %, {len(below)} below and {len(above)} above, {of_two} of these with two"
        f" seeds;\nall are within {100 * min(counted):.1f}–{100 * max(counted):.1f} %. Two seeds tell so little about"
        " other seeds that the interval\ncannot be right for all: it is rather too wide."
    )
