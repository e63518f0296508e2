"""Confidence intervals: of means, shares, changes of shares, and measures of a corpus, over examples and seeds.

What each is, with its formula, paper and simulated coverage: `docs/statistics.md`.
"""

from whence.measures.intervals.corpora import Counts as Counts
from whence.measures.intervals.corpora import Measure as Measure
from whence.measures.intervals.corpora import corpus_interval as corpus_interval
from whence.measures.intervals.corpora import corpus_loss_interval as corpus_loss_interval
from whence.measures.intervals.corpora import jackknife_interval as jackknife_interval
from whence.measures.intervals.corpora import relative_loss_interval as relative_loss_interval
from whence.measures.intervals.decisions import equivalent as equivalent
from whence.measures.intervals.decisions import exceeds as exceeds
from whence.measures.intervals.decisions import level_for as level_for
from whence.measures.intervals.decisions import needed as needed
from whence.measures.intervals.interval import NOT_MEASURED as NOT_MEASURED
from whence.measures.intervals.interval import Interval as Interval
from whence.measures.intervals.interval import average as average
from whence.measures.intervals.interval import difference as difference
from whence.measures.intervals.means import mean_interval as mean_interval
from whence.measures.intervals.pooling import random_effects as random_effects
from whence.measures.intervals.ratios import Ratios as Ratios
from whence.measures.intervals.ratios import linearised_ratios as linearised_ratios
from whence.measures.intervals.ratios import ratio_intervals as ratio_intervals
from whence.measures.intervals.shares import crossed_share_interval as crossed_share_interval
from whence.measures.intervals.shares import paired_share_interval as paired_share_interval
from whence.measures.intervals.shares import share_interval as share_interval
