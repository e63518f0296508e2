"""Small tables of every experiment, made without a model: enough rows for each to decide something."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from support.experiments.table_rows import N, adversaries, judged, links, parts, probed, trees, valences
from whence.results.experiment import experiment

EMPTY: dict[type, Any] = {int: 0, float: 0.0, bool: False, str: ""}


def made_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables by experiment; some experiments have several, with other places or other outcomes."""
    for name, rows in _rows():
        columns = experiment(name).columns
        defaults = {column: None if "counts" in column else EMPTY[of.kind] for column, of in columns.columns.items()}
        yield name, columns.table({**defaults, **{c: v for c, v in row.items() if c in defaults}} for row in rows)


def _rows() -> Iterator[tuple[str, Iterable[Mapping[str, Any]]]]:
    rng = np.random.default_rng(0)
    examples = [{"example": n, "label": "ab"[n % 2], "seed": -1, "correct": 1.0, "chance": 0.5} for n in range(N)]
    for places, lost, when in ((["all"], 0.9, ["infer", "train+infer"]), (["one", "two head 1"], 0.0, ["infer"])):
        for_all = product(["random", "uniform"], places, when, examples)
        yield (
            "ablation",
            [
                {
                    **row,
                    "variant": variant,
                    "place": place,
                    "when": then,
                    "base": 1.0,
                    "ablated": 1.0 - lost * (variant == "uniform"),
                }
                for variant, place, then, row in for_all
            ],
        )
        yield (
            "permutation",
            [
                {**row, "place": place, "median_tvd": 0.3 * (place == places[-1])}
                for place, row in product(places, examples)
            ],
        )
    yield "adversary", list(adversaries(examples))
    yield "alignment", list(links(rng))
    for second in ("gradient", "random"):
        yield (
            "correlation",
            [
                {
                    **row,
                    "first": "raw_attention",
                    "second": second,
                    "tau": float(rng.normal()),
                    "prediction": "a",
                    "p": 0.5,
                }
                for row in examples
            ],
        )
    yield (
        "faithfulness",
        [
            {**row, "erase": kind, "method": method, "normalised": at, "flip": at, "changes": True, "correct": 1.0}
            for row in examples
            for kind in ("delete", "attention")
            for method, at in (("raw_attention", 0.9), ("gradient_x_input", 0.7), ("random", 0.5))
        ],
    )
    known = product((("shortcut", "copy"), ("planted", "leave_one_out"), ("randomised", "leave_one_out")), examples)
    rows = [{**row, "part": part, "method": method, "value": float(part == "planted")} for (part, method), row in known]
    yield "controls", [{**row, "correct": 1.0} for row in rows]
    yield "gating", [{**row, "second": True, "moved": 0.5} for row in examples]
    for task, own in (("relevance", 0.9), ("relevance", 0.1), ("preference", 0.9), ("marking", 0.9)):
        yield "human_evaluation", list(judged(task, own))
    free = {"keys": 9, "width": 16.0, "free_keys": 7, "free_mass": 0.8, "moved": 1.0, "correct": 1.0}
    yield "identifiability", [{**row, **free} for row in examples]
    yield (
        "guide",
        [
            {**row, "source": source, "strength": 0.5 if source == "adversary" else np.nan, "score": score, "seed": 0}
            for (source, score), row in product(
                {"base": 1.0, "random": 0.4, "adversary": 0.9, "uniform": 0.2}.items(), examples
            )
        ],
    )
    yield (
        "heads",
        [
            {
                "example": n,
                "head": head,
                "tag": tag,
                "on": 0.6 + 0.1 * rng.random(),
                "all": 1.0,
                "even": 0.2,
                "tagged": 1,
                "tokens": 5,
            }
            for n, head, tag in product(range(N), (1, 2), ("both", "v.pos", "v.neg"))
        ],
    )
    yield (
        "instance_adversary",
        [
            {**row, "inputs": 5, "limit": limit, "jsd": jsd, "free_mass": 0.8}
            for (limit, jsd), row in product({0.01: 0.1, 0.05: 0.5}.items(), examples)
        ],
    )
    yield (
        "layers",
        [
            {**row, "group": "encoder", "direction": direction, "depth": depth, "score": 1.0 - 0.4 * depth}
            for direction, depth, row in product(("bottom-up", "top-down"), range(3), examples)
        ],
    )
    yield "lexicon", list(valences(rng))
    yield (
        "memory",
        [
            {
                "model": model,
                "seed": seed,
                "example": number,
                "item": number % 25,
                "delay": 5 + 10 * (number >= 50),
                "longest": 10,
                "chance": 0.04,
                "right": float(rng.random() > number % 25 / 25),
                "speed": number % 25 / 25,
                "drift": number % 25 / 20,
            }
            for model, seed, number in product(("gru", "transformer"), (0, 1), range(100))
        ],
    )
    yield "probes", list(probed(rng))
    yield (
        "rationales",
        [
            {"example": n, "seed": -1, "method": method, "precision": precision, "marked": 0.2}
            for (method, precision), n in product({"lat": 0.8, "random": 0.3}.items(), range(N))
        ],
    )
    yield (
        "relabelling",
        [
            {**row, "method": method, "tau": tau}
            for (method, tau), row in product({"rollout": 1.0, "lat": 0.3}.items(), examples)
        ],
    )
    for what in ("heads", "words"):
        yield "representation_erasure", list(parts(what))
    yield "score", [{**row, "measure": "accuracy", "score": 1.0} for row in examples]
    yield "seeds", [{**row, "seed": seed, "jsd": 0.4, "tvd": 0.1} for seed, row in product((1, 2), examples)]
    yield "syntax", list(trees())
    yield (
        "words",
        [
            {
                "method": method,
                "word": f"word{n}",
                "score": 1.0 - n / 50,
                "count": 3,
                "rank": n + 1,
                "place": n / 49,
                "stop": n > 30,
            }
            for method, n in product(("lat", "random"), range(50))
        ],
    )
