"""A study that runs in seconds: small models on a table of a few texts."""

from pathlib import Path
from random import Random

from whence.studying.grid import Grid

SMALL = {"epochs": 2, "embedding_size": 4, "hidden_size": 4, "learning_rate": 0.05}


def write_table(path: Path, n: int = 60) -> Path:
    """Texts of a few words, of which one decides the label."""
    rng, words = Random(0), ["film", "plot", "actor", "scene", "music", "end"]
    rows = ["text,label,split"]
    for number in range(3 * n):
        label = rng.choice(("good", "bad"))
        text = rng.choices(words, k=rng.randint(3, 9))
        text[rng.randrange(len(text))] = label
        rows.append(f"{' '.join(text)},{label},{('train', 'dev', 'test')[number % 3]}")
    path.write_text("\n".join(rows) + "\n")
    return path


def small_grid(table: Path, **changes) -> Grid:
    """Two models from two seeds on the table, two experiments on each."""
    return Grid(
        **{
            "name": "small",
            "seeds": 2,
            "training": SMALL,
            "options": {"limit": 20},
            "models": {
                "mean": {"training": {"model": "additive", "encoder": "average"}},
                "lstm": {"training": {"model": "additive", "encoder": "lstm"}},
            },
            "data": {"few": {"data": str(table), "type": "single text"}},
            "runs": {"ablation": {}, "attention": {"experiment": "correlation", "options": {"method": ["random"]}}},
            **changes,
        }
    )


def as_toml(grid: Grid, path: Path) -> Path:
    """The study in a file."""
    path.write_text("\n".join(_lines(grid.model_dump(mode="json", exclude_defaults=True))))
    return path


def _lines(tables: dict, prefix: str = "") -> list[str]:
    plain = [f"{name} = {_value(one)}" for name, one in tables.items() if not isinstance(one, dict)]
    inner = [(f"{prefix}{name}", one) for name, one in tables.items() if isinstance(one, dict)]
    return [*plain, *(line for name, one in inner for line in [f"[{name}]", *_lines(one, f"{name}.")])]


def _value(value) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_value(one)}" for name, one in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else repr(value)
