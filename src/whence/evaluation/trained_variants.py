"""Models beside the one at hand: trained to oppose its attention, or guided by it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from whence.core.errors import BadConfig
from whence.training.adversarial import Opposing, seen
from whence.training.config import FINE_TUNED, PRESETS, Training
from whence.training.guided import Guiding

if TYPE_CHECKING:
    from whence.evaluation.bench import Bench

HOW = ("distance", "divergence", "averaged", "start", "sites", "dropped", "chosen_by")  # options of an opponent


def opponents(bench: "Bench", config: Any) -> Iterator[tuple[float, int, "Bench"]]:
    """λ, seed and bench of every opponent; they are trained several at a time, and kept."""
    trainable = retrainable(bench, config.start)
    wanted = [(strength, seed) for strength in config.strengths for seed in range(config.seeds)]
    changes = {one: opposing(trainable, config, *one) for one in wanted}
    trainable.train_ahead(list(changes.values()))
    for (strength, seed), change in changes.items():
        yield strength, seed, trainable.trained_with(change)


def opposing(bench: "Bench", config: Any, strength: float, seed: int) -> dict[str, Any]:
    """The options of the training of one opponent."""
    how = {name: getattr(config, name) for name in HOW}
    against = Opposing(base=bench.subject.name, fingerprint=bench.subject.fingerprint, strength=strength, **how)
    return {"seed": seed, "opposing": against}


def retrainable(bench: "Bench", start: str) -> "Bench":
    """The bench, if its model can be trained; a model that came trained is trained on from where it is."""
    if bench.training is not None or start == "scratch":
        return bench
    if bench.corpus is None or not {"train", "dev"} <= set(bench.corpus.splits):
        raise BadConfig(
            f"{bench.subject.name} is to be trained on, and that needs examples to learn from and to choose by; the"
            " corpus has no splits train and dev. Give the table a column `split` that says train, dev or test"
        )
    training = Training(model=bench.subject.name, data=bench.corpus.name, **PRESETS[FINE_TUNED])
    return replace(bench, training=training)


def guided(bench: "Bench", config: Any) -> Iterator[tuple[str, float, int, "Bench"]]:
    """Source, λ of the source, seed and bench of every model that is guided.

    The source `none` is an ordinary training, in which the model makes its own attention.
    """
    wanted: dict[tuple[str, float, int], Mapping[str, Any]] = {}
    for source, strength, giver in givers(bench, config):
        for seed in range(config.seeds):
            guiding = None if source == "none" else told(giver, "base" if source == "adversary" else source)
            another = bench.training.seed + 1 + seed if bench.training else seed
            wanted[source, strength, seed] = {**into(bench, config), "seed": another, "guiding": guiding}
    bench.train_ahead(list(wanted.values()))
    for (source, strength, seed), change in wanted.items():
        yield source, strength, seed, bench.trained_with(change)


def told(giver: "Bench", source: Any) -> Guiding:
    """The options of a training that is guided by a model."""
    return Guiding(base=giver.subject.name, fingerprint=giver.subject.fingerprint, source=source)


def givers(bench: "Bench", config: Any) -> Iterator[tuple[str, float, "Bench"]]:
    """Whose attention is given: the model's own in several ways, and that of its opponents."""
    for source in config.sources:
        yield source, float("nan"), bench
    if config.strengths:
        for strength, seed, opponent in opponents(bench, config.against()):
            if seed == 0:
                yield "adversary", strength, opponent


def into(bench: "Bench", config: Any) -> dict[str, Any]:
    """The options of the model that is guided: the same one, or one that reads each word by itself."""
    if config.into == "same":
        return {}
    if bench.subject.task.name == "token-classification":
        return {"model": "weighted", "heads": heads(bench), "mode": None}  # which is of the model that guides
    pooled = [site for site in bench.subject.sites.values() if site.kind == "pool"]
    if bench.training is not None and bench.training.model == "additive" and pooled:
        return {"encoder": "average"}
    raise BadConfig(
        f"{bench.subject.name} has no attention that could guide a model of single words: expected a tagger, or an"
        " additive model of single texts; guide the same model (--into same)"
    )


def heads(bench: "Bench") -> int:
    """How many heads the last site has."""
    batch, last = bench.first_batch(), list(bench.subject.sites)[-1]
    return int(seen(bench.subject, batch, (last,)).calls[last].weights.shape[1])
