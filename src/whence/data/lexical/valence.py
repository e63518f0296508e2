"""Whether a corpus is about sentiment: its labels go with the valence of its words."""

from collections.abc import Sequence

import numpy as np

from whence.data.examples import Example
from whence.data.lexical.lexicons import vader

LEVEL = 0.001  # of the test
MOST = 1000  # texts that are looked at


def labels_go_with_valence(examples: Sequence[Example]) -> bool:
    """Whether texts of one label have words of higher valence than those of another.

    The mean of VADER's ratings over a text's words (words that are not rated have none, and count as zero), compared
    between labels by Kruskal & Wallis's (1952) test at 0.1 %. No label is read for what it says.
    """
    from scipy.stats import kruskal  # which takes a second to import

    values = vader().values
    by_label: dict[str, list[float]] = {}
    for example in examples[:: max(1, len(examples) // MOST)]:
        if example.label is not None:
            words = example.text.lower().split()
            mean = sum(values.get(word.strip(".,;:!?\"'()"), 0.0) for word in words) / max(len(words), 1)
            by_label.setdefault(str(example.label), []).append(mean)
    groups = [np.array(group) for group in by_label.values()]
    if len(groups) < 2 or len(np.unique(np.concatenate(groups))) < 2:
        return False
    return bool(kruskal(*groups).pvalue < LEVEL)
