"""The order of the rows of a table, by which tables of shards are merged into one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RowOrder:
    """The order of rows in an experiment's table: by the values of some columns; or block after block in the order in
    which they come, as the columns `blocks` tell them apart, and by example within each.
    """

    sorted_by: tuple[str, ...] = ("example",)
    blocks: tuple[str, ...] = ()
