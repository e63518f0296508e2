"""Further models of the same training: adversaries of its attention, or models guided by it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from whence.core.errors import BadConfig
from whence.evaluation.config import AdversarialConfig
from whence.evaluation.retraining import train_ahead, trained_with
from whence.training.adversarial import Adversarial, observe
from whence.training.config import Training
from whence.training.guided import GuidedBy

if TYPE_CHECKING:
    from whence.evaluation.context import Context
    from whence.experiments.guide import Config as GuideConfig

ADVERSARY_OPTIONS = (
    "distance",
    "divergence",
    "average_over",
    "start",
    "sites",
    "after_dropout",
    "select_by",
)


def adversaries(context: "Context", config: AdversarialConfig) -> Iterator[tuple[float, int, "Context"]]:
    """Models trained to predict like this one and to attend differently: λ, seed and context of each.

    They are trained several at a time, and kept.
    """
    trainable = retrainable(context, config.start)
    wanted = [(strength, seed) for strength in config.strengths for seed in range(config.seeds)]
    changes = {one: adversarial_options(trainable, config, *one) for one in wanted}
    train_ahead(trainable, list(changes.values()))
    for (strength, seed), change in changes.items():
        yield strength, seed, trained_with(trainable, change)


def adversarial_options(context: "Context", config: AdversarialConfig, strength: float, seed: int) -> dict[str, Any]:
    """The training options of one adversary."""
    how = {name: getattr(config, name) for name in ADVERSARY_OPTIONS}
    adversarial_config = Adversarial(
        base=context.subject.name, fingerprint=context.subject.fingerprint, strength=strength, **how
    )
    return {"seed": seed, "adversarial": adversarial_config}


def retrainable(context: "Context", start: str) -> "Context":
    """The context, if its model can be trained; a given model is trained on from its weights."""
    if context.training is not None or start == "scratch":
        return context
    if context.corpus is None or not {"train", "dev"} <= set(context.corpus.splits):
        raise BadConfig(
            f"{context.subject.name} is trained further, and that needs examples to learn from and to select by; the"
            " corpus has no splits train and dev. Give the table a column `split` that says train, dev or test"
        )
    training = Training(model=context.subject.name, data=context.corpus.name)
    return replace(context, training=training)


def guided(context: "Context", config: "GuideConfig") -> Iterator[tuple[str, float, int, "Context"]]:
    """Models whose attention is given from outside: source, λ of the source, seed and context of each.

    The source `none` is an ordinary training, in which the model computes its own attention.
    """
    wanted: dict[tuple[str, float, int], Mapping[str, Any]] = {}
    for source, strength, source_context in attention_sources(context, config):
        for seed in range(config.seeds):
            guide = None
            if source != "none":
                guide = guided_by(source_context, "base" if source == "adversary" else source)
            another = context.training.seed + 1 + seed if context.training else seed
            wanted[source, strength, seed] = {**guided_model(context, config), "seed": another, "guided_by": guide}
    train_ahead(context, list(wanted.values()))
    for (source, strength, seed), change in wanted.items():
        yield source, strength, seed, trained_with(context, change)


def guided_by(source_context: "Context", source: Any) -> GuidedBy:
    """The training options of a model that is guided by another."""
    return GuidedBy(base=source_context.subject.name, fingerprint=source_context.subject.fingerprint, source=source)


def attention_sources(context: "Context", config: "GuideConfig") -> Iterator[tuple[str, float, "Context"]]:
    """Whose attention guides: the model's own in several ways, and that of its adversaries."""
    for source in config.sources:
        yield source, float("nan"), context
    if config.strengths:
        for strength, seed, adversary in adversaries(context, config.adversarial_config()):
            if seed == 0:
                yield "adversary", strength, adversary


def guided_model(context: "Context", config: "GuideConfig") -> dict[str, Any]:
    """The options of the model that is guided: the same one, or one without context."""
    if config.into == "same":
        return {}
    if context.subject.task.name == "token-classification":
        vectors: Any = context.subject.model.get_input_embeddings()
        return {"model": "weighted", "heads": heads(context), "embedding_size": int(vectors.embedding_dim)}
    pooled = [site for site in context.subject.sites.values() if site.kind == "pool"]
    if context.training is not None and context.training.model == "additive" and pooled:
        return {"encoder": "average"}
    raise BadConfig(
        f"{context.subject.name} has no attention that could guide a model of single words: expected a tagger, or an"
        " additive model of single texts; guide the same model (--into same)"
    )


def heads(context: "Context") -> int:
    """How many heads the last site has."""
    batch, last = context.first_batch(), list(context.subject.sites)[-1]
    return int(observe(context.subject, batch, (last,)).calls[last].weights.shape[1])
