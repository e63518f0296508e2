"""Which examples are evaluated: a split, and at most so many of its examples, sampled by the seed."""

from collections.abc import Sequence
from pathlib import Path

import torch

from whence.core.errors import BadData
from whence.core.seeds import stream
from whence.data.examples import Corpus
from whence.data.formats.text import file_exists
from whence.data.registry import load, resolve
from whence.data.tables.columns import Columns
from whence.data.tables.reader import DEV
from whence.data.tables.sampled import is_large, sample_table
from whence.evaluation.config import CorpusOptions, EvaluationOptions


def read_corpus(config: CorpusOptions, *, whole: bool = False) -> Corpus:
    """The corpus of an experiment; of a large table with a limit only the rows that are sampled, unless `whole`."""
    if whole or config.limit is None:
        return load(config.data, data_dir=config.data_dir, columns=config.columns)
    return load_limited(config.data, config.data_dir, config.columns, config.split, config.limit, config.seed)


def load_limited(
    data: str, data_dir: Path | None, columns: Columns, split: str | None, limit: int | None, seed: int
) -> Corpus:
    """A corpus, of which a large table is read no further than the sample needs: the rows are those that are sampled
    from the whole table, too.
    """
    if limit is None or not file_exists(data) or not is_large(Path(data)) or resolve(data) is not None:
        return load(data, data_dir=data_dir, columns=columns)
    return sample_table(
        Path(data),
        columns,
        lambda counts: named_split(data, list(counts), split),
        lambda n: sampled(n, limit, seed),
    )


def split_of(corpus: Corpus, config: EvaluationOptions) -> str:
    """The split that the options name, or the usual one."""
    return named_split(corpus.name, list(corpus.splits), config.split)


def named_split(corpus: str, there: Sequence[str], split: str | None) -> str:
    """The split that is named, else test, else dev, else the only one: never by default what the model learned from."""
    if split in DEV and split not in there and "dev" in there:
        return "dev"
    usual = [name for name in ("test", "dev") if name in there] or (there if len(there) == 1 else [])
    if split is None and not usual:
        raise BadData(f"{corpus} has the splits {', '.join(there)}, and none is called test; name one (--split)")
    if split is not None and split not in there:
        raise BadData(f"{corpus} has no split {split!r}; it has: {', '.join(there)}")
    return split or usual[0]


def choose(corpus: Corpus, config: CorpusOptions) -> tuple[str, list[int]]:
    """The split to evaluate on and the places of its examples in the corpus."""
    return chosen_examples(corpus, config.split, config.limit, config.seed)


def chosen_examples(corpus: Corpus, split: str | None, limit: int | None, seed: int) -> tuple[str, list[int]]:
    """A split and the places of its examples, at most `limit` of them, sampled by the seed."""
    split = named_split(corpus.name, list(corpus.splits), split)
    n = len(corpus[split])
    if n == 0:
        raise BadData(f"the split {split!r} of {corpus.name} is empty; expected examples")
    return split, sampled(n, n if corpus.numbers is not None else limit, seed)


def sampled(n: int, limit: int | None, seed: int) -> list[int]:
    """At most `limit` of n numbers, drawn by the seed, in ascending order."""
    if limit is None or limit >= n:
        return list(range(n))
    return sorted(torch.randperm(n, generator=stream(seed, "examples"))[:limit].tolist())
