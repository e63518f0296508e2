"""Rows of the larger tables of `tables.py`."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

N = 40  # examples


def judged(task: str, own: float) -> Iterator[dict[str, Any]]:
    """Two annotators who agree on most items; of preferences the method is compared with the control."""
    for who, n, (condition, share) in product("ab", range(N), {"raw_attention": own, "random": 0.1}.items()):
        if task == "preference" and condition == "random":
            continue
        value = float(n < share * N or (who == "b" and n == N - 1))
        yield {
            "item": f"{'' if task == 'marking' else condition}{n}",
            "example": n,
            "annotator": who,
            "task": task,
            "condition": condition,
            "control": task == "preference" or condition == "random",
            "against": "random" if task == "preference" else "",
            "correct": 1.0,
            "chance": 0.5,
            "value": value,
            "marks": f"{n % 2}01" if task == "marking" else "",
        }


def adversaries(examples: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    models = [
        ("base", np.nan, -1, 0.0),
        ("adversary", 0.1, 0, 0.1),
        ("adversary", 1.0, 0, 0.5),
        ("seed", np.nan, 1, 0.1),
        ("uniform", np.nan, 0, 0.3),
    ]
    for (who, strength, seed, far), row in product(models, examples):
        yield {
            **row,
            "who": who,
            "strength": strength,
            "seed": seed,
            "jsd": far,
            "jsd_matched": far,
            "same": 1.0,
            "base": 1.0,
            "score": 1.0,
        }


def links(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    found = {
        ("attention", "s", 0, 0): 0.9,
        ("attention", "s", 0, 1): 0.4,
        ("diagonal", "", -1, -1): 0.5,
        ("random", "", -1, -1): 0.1,
    }
    for n in range(2 * N):
        for (by, site, layer, head), right in found.items():
            hits = float(rng.binomial(10, right))
            yield {
                "example": n,
                "half": ("choosing", "reporting")[n % 2],
                "by": by,
                "site": site,
                "layer": layer,
                "head": head,
                "step": "producing" if site else "",
                "found": 10.0,
                "sure": 10.0,
                "found_sure": hits,
                "found_possible": hits,
                "shown": None,
            }


def valences(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    words = {f"word{'x' * (n % 5)}{n}": n / 40 - 1 for n in range(80)}
    for state, method in (("trained", "lat"), ("trained", "random"), ("untrained", "lat")):
        for n in range(N):
            for word in rng.permutation(list(words))[:20]:
                bent = words[word] ** 2 if (state, method) == ("trained", "lat") else 0.0
                yield {
                    "state": state,
                    "method": method,
                    "example": n,
                    "word": str(word),
                    "n": 1,
                    "matched": "exact",
                    "score": bent + 0.1 * rng.normal(),
                    "valence": words[word],
                    "scale": "made",
                }


def probed(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    right = {("trained", 0): 0.5, ("trained", 1): 0.9, ("random", 0): 0.5, ("random", 1): 0.5, ("bag", -1): 0.5}
    for task in ("length", "depth"):
        about = {"task": task, "classes": 2, "train": 90, "source": "made", "left_out": ""}
        for (model, layer), share in right.items():
            yield {**about, "model": model, "layer": layer, "probe": "linear", "right": _bits(rng, share)}
        yield {**about, "model": "majority", "layer": -1, "probe": "none", "right": _bits(rng, 0.4)}


def _bits(rng: np.random.Generator, share: float) -> str:
    return "".join("01"[int(one)] for one in rng.random(60) < share)


def parts(what: str) -> Iterator[dict[str, Any]]:
    for part in (1, 2, 3):
        ends = {
            f"{name}{end}": 0.3 * part + more
            for name in ("importance", "lost", "reported")
            for end, more in (("", 0.0), ("_low", -0.1), ("_high", 0.1))
        }
        yield {
            "erased": what,
            "place": "layer",
            "part": part,
            "word": "word" * (what == "words"),
            **ends,
            "chosen_by": 0.3 * part,
            "texts": N,
            "half": N,
            "measure": "lost",
        }


def trees() -> Iterator[dict[str, Any]]:
    for site, head, tree in product(("one", "two"), (-1, 0, 1), ("true", "any", "like")):
        near = {"difference": -0.5, "difference_low": -0.6, "difference_high": -0.4, "difference_error": 0.05}
        numbers = near if tree != "true" else dict.fromkeys(near, np.nan)
        own = {"attachment": 0.6 if head >= 0 else np.nan, "offset_attachment": 0.3, "beyond_error": 0.05}
        yield {
            "epoch": -1,
            "site": site,
            "layer": 0,
            "sees": "all",
            "head": head,
            "tree": tree,
            "divergence": 1.0,
            "sentences": N,
            "coverage": 1.0,
            **numbers,
            **own,
            "shown": None,
            "source": "made",
        }
