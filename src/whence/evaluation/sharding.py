"""An experiment run shard by shard: each shard's table is on disk before the next begins, so a kill loses one at most.

A shard is a range of whole batches, and what an example gets does not depend on the others (see `Context`), so the
merged table equals the unsharded one to the last byte, whatever the shards were and wherever they ran.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pandas as pd
import torch

from whence.core.errors import is_out_of_memory
from whence.evaluation.context import Context
from whence.results.experiment import Experiment
from whence.results.shards import Range, ShardFolder, merged
from whence.subject.subject import DTYPES, Subject

SECONDS = 20.0  # that a shard of an ordinary run takes, about


def table_of(wanted: Experiment, config: Any, context: Context, kept: ShardFolder | None) -> pd.DataFrame:
    """The experiment's table. With `--batch-size auto` batches are halved when memory runs out, and it goes on with
    what is not done yet.
    """
    while True:
        try:
            with autocast(config.autocast, context.subject):
                if kept is None or wanted.shards is None:
                    return wanted.run(config, context)
                return run_by_shards(wanted, config, context, kept.of_batches(context.batch_size))
        except (RuntimeError, MemoryError) as error:
            if config.batch_size != "auto" or context.batch_size == 1 or not is_out_of_memory(error):
                raise
        context = halved(context, kept)


def halved(context: Context, kept: ShardFolder | None) -> Context:
    """The context in batches of half the size; finished shards are kept, since two new batches are an old one."""
    smaller = replace(context, batch_size=context.batch_size // 2)
    if kept is not None:
        kept.of_batches(context.batch_size).copy_doubled(kept.of_batches(smaller.batch_size), len(smaller.encoded))
    return smaller


@contextmanager
def autocast(precision: str, subject: Subject) -> Iterator[None]:
    """While open, torch runs matrix products in this precision where it holds that safe; "none" changes nothing."""
    if precision == "none":
        yield
        return
    with torch.autocast(subject.device.type, dtype=DTYPES[precision]):
        yield


def run_by_shards(wanted: Experiment, config: Any, context: Context, kept: ShardFolder) -> pd.DataFrame:
    """The whole table; shards that are there already are not run again."""
    order, done = wanted.shards, kept.finished()
    if order is None or (len(context.encoded) < 2 and not done):
        return wanted.run(config, context)
    for batches in _missing(len(context.encoded), done):
        for own in _paced(batches):
            run_shard(wanted, config, context, kept, own)
    tables = [kept.load(batches) for batches in kept.finished()]
    if not any(map(len, tables)):
        return wanted.run(config, context)  # which says why there is nothing
    return merged(tables, order, wanted.columns)


def run_nth(wanted: Experiment, config: Any, context: Context, kept: ShardFolder, nth: tuple[int, int]) -> None:
    """Run one of so many shards, unless it is there or has no batches."""
    kept = kept.of_batches(context.batch_size)
    begin, end = nth_range(*nth, len(context.encoded))
    for batches in _missing(len(context.encoded), kept.finished()):
        own = max(begin, batches[0]), min(end, batches[1])
        if own[0] < own[1]:
            run_shard(wanted, config, context, kept, own)


def run_shard(wanted: Experiment, config: Any, context: Context, kept: ShardFolder, batches: Range) -> None:
    """Run the experiment on a range of batches, and keep its table."""
    own = shard(context, batches)
    assert own.evaluated is not None
    table = wanted.run(config, own)
    numbers = {int(own.numbers[index]) for index in own.evaluated}
    kept.save(batches, table[table["example"].isin(numbers)].reset_index(drop=True))


def shard(context: Context, batches: Range) -> Context:
    """The context of a range of batches; the others stay there for what is a property of the whole corpus."""
    own = [int(index) for batch in context.encoded[slice(*batches)] for index in batch.examples]
    made = replace(context, evaluated=frozenset(own))
    vars(made)["encoded"] = context.encoded  # which is cached, and the same
    return made


def nth_range(number: int, shards: int, n_batches: int) -> Range:
    """The batches of one of so many shards of about equal size; there may be none."""
    return number * n_batches // shards, (number + 1) * n_batches // shards


def _missing(n_batches: int, done: list[Range]) -> Iterator[Range]:
    """The ranges of batches that no finished shard covers."""
    at = 0
    for begin, end in [*done, (n_batches, n_batches)]:
        if at < begin:
            yield at, begin
        at = end


def _paced(batches: Range) -> Iterator[Range]:
    """Parts of a range: one batch first, then as many as take about `SECONDS` at the pace seen so far."""
    at, end = batches
    size = 1
    while at < end:
        began = time.perf_counter()
        yield at, min(at + size, end)
        pace = (time.perf_counter() - began) / size
        at += size
        size = max(1, min(end - at, int(SECONDS / max(pace, 1e-9))))
