"""Small studies made by hand, of each kind of question, and answers to them."""

from whence.annotation.answers import Answer
from whence.annotation.study import Item, Secret, Study

WORDS = ("not", "a", "bad", "film", ",", "she", "said", "<b>", "été", "“fine”")


def study(task: str = "relevance", n: int = 8, controls=("permuted",)) -> Study:
    """n items, in turn of the method and of the control; the second half are pairs of texts."""
    names = ["raw_attention", *controls]
    items, secrets = [], {}
    for number in range(n):
        texts = (WORDS,) if number < n / 2 else (WORDS, ("is", "it", "good", "?"))
        panels = {
            "relevance": (((0, number % 8), (0, 8), (0, 9)),),
            "preference": (((0, number % 8), (0, 8)), ((0, 0), (len(texts) - 1, 1))),
            "marking": (),
        }[task]
        condition = names[number % len(names)]
        shown = {
            "relevance": (condition,),
            "preference": ("raw_attention", "random")[:: 1 if number % 2 else -1],
            "marking": (),
        }[task]
        name = f"item{number:02}"
        items.append(Item(name, texts, "positive", panels))
        scores = {
            "raw_attention": [[float(i) for i in range(len(text))] for text in texts],
            "random": [[0.5] * len(text) for text in texts],
        }
        secrets[name] = Secret(
            number, shown, "positive", float(number % 3 > 0), scores=scores if task == "marking" else {}
        )
    about = {"model": "m", "model_fingerprint": "f", "corpus": "c", "classes": ["negative", "positive"], "top": 3}
    design = {
        "methods": ["raw_attention"],
        "controls": list(controls) if task == "relevance" else ["random"],
        "stratify": True,
        "seed": 0,
    }
    return Study(task, tuple(items), about, secrets, design)


def answers(made: Study, given: str) -> dict[str, Answer]:
    """One letter for each item: y, n, 1, 2, 0, s for skip; of a marking m marks the second and the last word."""
    spelled = {"y": "yes", "n": "no", "1": "first", "2": "second", "0": "same", "s": "skip", "m": "marked"}
    found = {}
    for item, letter in zip(made.items, given, strict=True):
        last = (len(item.texts) - 1, len(item.texts[-1]) - 1)
        marked = ((0, 1), last) if letter == "m" else ()
        found[item.id] = Answer(item.id, spelled[letter], marked, 2.5, "2026-01-01T00:00:00.000+00:00")
    return found
