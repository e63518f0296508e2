"""What proofs are made of: what a model does when words or attention are replaced, measured apart from the audit."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor

from whence.calibration.texts import DECIDING, LEANING, PLAIN, PREFIX, replaced, speaks_for
from whence.core.attending import attending
from whence.core.overrides import Override, random, uniform
from whence.data.examples import Example
from whence.data.rng import seeded_rng
from whence.subject.batch import Batch
from whence.subject.subject import Subject

VERY_DIFFERENT = 0.2  # nats of JSD
POWERS = (0.5, 1.0, 4.0, 16.0)  # of random attention: from nearly uniform to nearly all on one word


@torch.no_grad()
def last_logits(subject: Subject, examples: Sequence[Example]) -> Float[Tensor, "example class"]:
    """The logits of each text's last prediction."""
    batch = subject.encode(examples)
    return _at_last(subject.logits(batch), batch)


def _at_last(logits: Tensor, batch: Batch) -> Tensor:
    order = torch.arange(batch.predicted_positions.shape[1])
    last = (batch.predicted_positions * (order + 1)).argmax(1)
    return logits[torch.arange(len(batch)), last]


def decisions(subject: Subject, examples: Sequence[Example]) -> Int[ndarray, " example"]:
    """The class of each text's last prediction."""
    return last_logits(subject, examples).argmax(-1).numpy()


def labels_of(subject: Subject, examples: Sequence[Example]) -> Int[ndarray, " example"]:
    """The right class of each text's last prediction."""
    numbers = {label: number for number, label in enumerate(subject.labels)}
    return np.array([numbers[str(e.tags[-1] if e.tags is not None else e.label)] for e in examples])


def accuracy(subject: Subject, examples: Sequence[Example]) -> float:
    """The share of texts whose last prediction is right."""
    return float((decisions(subject, examples) == labels_of(subject, examples)).mean())


def above_chance(subject: Subject, examples: Sequence[Example]) -> float:
    """Accuracy less the share of the most frequent class, in standard errors of the latter."""
    labels = labels_of(subject, examples)
    most = float(np.bincount(labels).max() / len(labels))
    return (accuracy(subject, examples) - most) / max(float(np.sqrt(most * (1 - most) / len(labels))), 1e-9)


@torch.no_grad()
def word_weights(subject: Subject, examples: Sequence[Example]) -> list[Float[ndarray, " word"]]:
    """The last layer's attention from where the prediction is read to each word, mean over heads; summed over subwords.

    Words of a second text are counted on from those of the first.
    """
    batch, site = subject.encode(examples), list(subject.sites)[-1]
    with attending(subject.model, watch="*") as tape:
        subject.model(**batch.inputs)
    if hasattr(subject.model, "token_weights"):
        weights = subject.model.token_weights(tape, **batch.inputs)
    else:
        weights = _read_row(subject, batch, tape.only(site).weights.mean(1))
    return [_by_word(weights[row], batch, row) for row in range(len(batch))]


def _read_row(subject: Subject, batch: Batch, weights: Float[Tensor, "batch query key"]) -> Float[Tensor, "batch key"]:
    if weights.shape[1] == 1:
        return weights[:, 0]
    order = torch.arange(weights.shape[1])
    rows = torch.arange(len(batch))
    if subject.task.name == "token-classification":
        return weights[rows, (batch.predicted_positions * (order + 1)).argmax(1)]
    if getattr(subject.model.config, "pool", "") == "mean":
        return (weights * batch.mask[..., None]).sum(1) / batch.mask.sum(1, keepdim=True)
    if subject.tokenizer.cls_token_id is None and subject.tokenizer.bos_token_id is None:
        return weights[rows, (batch.mask * (order + 1)).argmax(1)]  # a decoder reads the last token
    return weights[:, 0]


def _by_word(weights: Tensor, batch: Batch, row: int) -> Float[ndarray, " word"]:
    first = batch.word[row][batch.segment[row] == 0].max() + 1
    numbers = batch.word[row] + first * batch.segment[row]
    found = np.zeros(int(numbers.max()) + 1)
    for number, weight, special in zip(numbers.tolist(), weights.tolist(), batch.special[row].tolist(), strict=True):
        if not special:
            found[number] += weight
    return found


def top_words(subject: Subject, examples: Sequence[Example]) -> list[int]:
    """The place of the word with most attention in each text."""
    return [int(weights.argmax()) for weights in word_weights(subject, examples)]


def deciding_places(examples: Sequence[Example]) -> list[int]:
    """The place of the first deciding word of each text."""
    return [int(np.argmax(example.rationale or ())) for example in examples]


def changed_by_words(
    subject: Subject, examples: Sequence[Example], places: Sequence[int], words: Callable[[str], Sequence[str]]
) -> float:
    """The share of replacements of the word at each text's place that change the decision, over all texts.

    `words` says by which words a word is replaced.
    """
    tried, owners = [], []
    for number, (example, place) in enumerate(zip(examples, places, strict=True)):
        own = (example.words or ())[place]
        some = [replaced(example, place, word) for word in words(own) if word != own]
        tried += some
        owners += [number] * len(some)
    return float((decisions(subject, tried) != decisions(subject, examples)[owners]).mean())


def undeciding(word: str) -> list[str]:
    """Words that decide nothing, of every leaning."""
    return [words[0] for words in LEANING] + ["the", "was"]


def plain(word: str) -> list[str]:
    """Words that decide nothing and lean to nothing."""
    return list(PLAIN[:5])


def deciding_otherwise(classes: int) -> Callable[[str], list[str]]:
    """Words that decide for another class than a deciding word does."""

    def others(word: str) -> list[str]:
        prefix = PREFIX * word.startswith(PREFIX)
        own = speaks_for()[word.removeprefix(PREFIX)]
        return [prefix + words[0] for number, words in enumerate(DECIDING[:classes]) if number != own]

    return others


@torch.no_grad()
def under(
    subject: Subject, examples: Sequence[Example], override: Override, sites: Sequence[str] = ("*",)
) -> Float[Tensor, "example class"]:
    """The logits of each text's last prediction under other attention; special tokens keep their weight."""
    batch = subject.encode(examples)
    plain = {name for name, site in subject.sites.items() if site.keys != "tokens"}
    names = list(subject.sites) if tuple(sites) == ("*",) else list(sites)
    rules = {name: override if name in plain else override.sparing(batch.special) for name in names}
    with attending(subject.model, override=rules, watch=None):
        return _at_last(subject.logits(batch), batch)


def accuracy_under_uniform(subject: Subject, examples: Sequence[Example]) -> float:
    """The share of right predictions where all attention is uniform."""
    after = under(subject, examples, uniform).argmax(-1).numpy()
    return float((after == labels_of(subject, examples)).mean())


def changed_by_attention(
    subject: Subject, examples: Sequence[Example], draws: int = 20, powers: Sequence[float] = POWERS
) -> float:
    """The share of decisions that change when the last layer's attention is random, over all draws."""
    before, site = decisions(subject, examples), list(subject.sites)[-1:]
    rules = [sharp(draw, powers) for draw in range(draws)]
    after = [under(subject, examples, rule, site).argmax(-1).numpy() for rule in rules]
    return float(np.mean([one != before for one in after]))


def kept_by_other_attention(subject: Subject, examples: Sequence[Example], draws: int = 20) -> float:
    """Of random attention in the last layer that is very different from the model's (JSD of words above 0.2), the
    share that keeps the decision. Between the model's and a random one, the nearest that is so different is tried.
    """
    before, site = decisions(subject, examples), list(subject.sites)[-1]
    batch, kept, tried = subject.encode(examples), 0, 0
    for draw in range(draws):
        seen: list[Tensor] = []
        rule = nearest_different(sharp(draw), seen)
        with torch.no_grad(), attending(subject.model, override={site: rule.sparing(batch.special)}, watch=None):
            after = _at_last(subject.logits(batch), batch).argmax(-1).numpy()
        different = (seen[-1] > VERY_DIFFERENT).numpy()
        kept, tried = kept + int(((after == before) & different).sum()), tried + int(different.sum())
    return kept / max(tried, 1)


def nearest_different(other: Override, seen: list[Tensor]) -> Override:
    """The first of ten steps from the model's attention to another whose JSD on the free keys, mean over the heads and
    least over the rows, is above 0.2; its JSD [batch] is put into `seen`.
    """

    def rule(call: Any, free: Tensor) -> Tensor:
        far, chosen = other.rule(call, free), call.weights.clone()
        reached = torch.zeros(len(chosen))
        for share in torch.linspace(0.1, 1.0, 10).tolist():
            between = (1 - share) * call.weights + share * far
            jsd = _jsd(call.weights * free, between * free).mean(1).amin(-1)  # [batch]
            new = (reached <= VERY_DIFFERENT) & (jsd > reached)
            chosen[new], reached[new] = between[new], jsd[new]
        seen.append(reached)
        return chosen

    return Override("nearest different", rule, other.generator)


def _jsd(p: Tensor, q: Tensor) -> Tensor:
    """Jensen–Shannon divergence in nats, of rows divided by their sums."""
    p, q = (one / one.sum(-1, keepdim=True).clamp_min(1e-30) for one in (p, q))
    middle = (p + q) / 2
    return sum((torch.xlogy(one, one) - torch.xlogy(one, middle)).sum(-1) / 2 for one in (p, q))  # type: ignore[return-value]


def moved_by_attention(subject: Subject, examples: Sequence[Example], draws: int = 20) -> float:
    """The largest total variation of a prediction when the last layer's attention is random, over all draws."""
    before, site = last_logits(subject, examples).softmax(-1), list(subject.sites)[-1:]
    after = [under(subject, examples, sharp(draw), site).softmax(-1) for draw in range(draws)]
    return max(float((one - before).abs().sum(-1).max() / 2) for one in after)


def sharp(seed: int, powers: Sequence[float] = POWERS) -> Override:
    """Random attention of some sharpness: U(0, 1) to one of these powers, which is drawn for the whole batch."""
    flat, power = random(seed), float(seeded_rng(seed, "sharp").choice(list(powers)))

    def rule(call: Any, free: Tensor) -> Tensor:
        weights = flat.rule(call, free)
        mass = (weights * free).sum(-1, keepdim=True)
        raised = (weights / mass.clamp_min(1e-30) * free).clamp_min(0) ** power * free
        return torch.where(free, mass * raised / raised.sum(-1, keepdim=True).clamp_min(1e-30), weights)

    return Override("sharp", rule, flat.generator)
