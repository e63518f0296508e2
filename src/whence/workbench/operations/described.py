"""Models and overrides in words, as pages show them."""

from collections.abc import Sequence
from typing import Any

from whence.subject.subject import Subject

OVERRIDES = [
    {"name": "uniform", "about": "equal weight on every key", "options": ["special", "queries"]},
    {"name": "permuted", "about": "each row's own weights, shuffled", "options": ["seed", "special", "queries"]},
    {"name": "random", "about": "random weights", "options": ["seed", "special", "queries"]},
    {
        "name": "temperature",
        "about": "flatter above one, sharper below",
        "options": ["degrees", "special", "queries"],
    },
    {"name": "without", "about": "no weight on these tokens", "options": ["tokens", "queries"]},
    {"name": "only", "about": "weight on these tokens alone", "options": ["tokens", "queries"]},
    {"name": "row", "about": "given weights for one row", "options": ["query", "weights"]},
    {"name": "rows", "about": "given weights for all rows of a layer", "options": ["weights"]},
]


def describe_model(subject: Subject, name: str, stacks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a page needs to know of a model; `stacks` as a look gives them."""
    kept = ("id", "name", "kind", "layers", "heads", "sites")
    return {
        "id": name,
        "name": subject.name,
        "task": subject.task.name,
        "about": subject.task.about,
        "classes": list(subject.labels) if subject.task.needs in ("label", "tags") else [],
        "pair": reads_pairs(subject),
        "writes": subject.task.needs == "target",
        "limit": subject.encoder.max_length,
        "stacks": [{name: stack[name] for name in kept} for stack in stacks],
    }


def reads_pairs(subject: Subject) -> bool:
    """Whether a model only reads two texts."""
    return bool(getattr(subject.model.config, "pairs", False))
