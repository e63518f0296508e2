"""All kinds of case."""

from whence.calibration.case import Kind
from whence.calibration.cases import (
    attends,
    carriers,
    chance,
    controls,
    idle_heads,
    other_models,
    other_tasks,
    parked,
    past_attention,
    real_texts,
    trained,
    uniform,
)

FAMILIES = {
    "attends": attends,
    "idle heads": idle_heads,
    "carriers": carriers,
    "parked": parked,
    "uniform": uniform,
    "past attention": past_attention,
    "other models": other_models,
    "other tasks": other_tasks,
    "trained": trained,
    "real texts": real_texts,
    "chance": chance,
    "controls": controls,
}
KINDS: dict[str, Kind] = {kind.name: kind.of(family) for family, file in FAMILIES.items() for kind in file.KINDS}
