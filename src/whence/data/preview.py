"""A corpus at a glance: how many examples of each label, and the first examples of each split."""

from collections import Counter

from whence.data.examples import Corpus, Example


def counts(corpus: Corpus) -> dict[str, dict[str, int]]:
    """How many examples of each label each split has; those without a label are counted under the empty name."""
    return {
        split: dict(sorted(Counter(e.label or "" for e in examples).items()))
        for split, examples in corpus.splits.items()
    }


def preview(corpus: Corpus, n: int = 3) -> list[dict[str, str]]:
    """The first examples of each split as plain rows: split, label, text, and what else they have."""
    return [_row(split, example) for split, examples in corpus.splits.items() for example in examples[:n]]


def _row(split: str, example: Example) -> dict[str, str]:
    text, length = _opening(example)
    rationale = zip(example.words or (), (example.rationale or ())[:length], strict=False)
    row = {
        "split": split,
        "label": example.label,
        "text": text,
        "pair": example.pair,
        "tags": " ".join(example.tags or ()),
        "target": example.target,
        "rationale": " ".join(word for word, marked in rationale if marked),
        "links": " ".join(f"{i}-{j}" for i, j in example.alignment or ()),
        "heads": " ".join(map(str, example.heads or ())),
    }
    return {name: cell for name, cell in row.items() if cell}


def _opening(example: Example, n: int = 4) -> tuple[str, int | None]:
    """The text; of a narrative its first windows, a line each with its value, and how many words that is."""
    if example.windows is None:
        return example.text, None
    values = [f"{value:+.2f} " for value in example.values or ()] or [""] * len(example.windows)
    lines = [value + window for value, window in zip(values, example.windows, strict=True)][:n]
    more = len(example.windows) - n
    length = sum(len(window.split()) for window in example.windows[:n])
    return "\n".join([*lines, f"... and {more} windows more"] if more > 0 else lines), length
