"""Attention from the words of a translation to the words of its text, at every head, while the target is given."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call
from whence.core.tape import Tape
from whence.data.examples import Example
from whence.evaluation.locations import matching
from whence.measures.subwords import across
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.word_ids import word_numbers

if TYPE_CHECKING:
    from whence.evaluation.context import Context

Step = Literal["producing", "reading"]
STEPS: tuple[Step, ...] = ("producing", "reading")


@dataclass(frozen=True, eq=False)
class Crossing:
    """Each head's weight from each target word to each source word, and the largest weight on a special token."""

    weights: Float[ndarray, "head target source"]
    nothing: Float[ndarray, "head target"]


Crossings = Mapping[tuple[str, Step], Crossing]


def cross_sites(subject: Subject, patterns: Sequence[str]) -> list[str]:
    """The sites where a translation attends to its text, of those that match, in execution order."""
    there = subject.sites
    found = [name for name in matching(there, patterns) if there[name].kind == "cross" and there[name].keys == "tokens"]
    if subject.task.name != "seq2seq" or not found:
        listed = ", ".join(f"{name} ({site.kind})" for name, site in there.items())
        raise BadConfig(
            f"words are aligned by attention from a translation to its text (task seq2seq, kind cross); there is none"
            f" at these sites of {subject.name} ({subject.task.name}). There are: {listed}"
        )
    return found


def crossings(context: "Context", patterns: Sequence[str]) -> Iterator[tuple[int, Crossings]]:
    """For each example whose texts are whole in the model's input its index, and the weights of each site in each step.

    `producing`: the weights of the step that outputs a word. `reading`: those of the next step, which reads the word.
    """
    subject, sites = context.subject, cross_sites(context.subject, patterns)
    for batch in context.batches():
        examples = [context.examples[number] for number in batch.examples.tolist()]
        words = target_words(subject, examples)
        tape = Tape()
        with torch.no_grad(), attending(subject.model, watch=dict.fromkeys(sites, tape)):
            subject.model(**batch.inputs)
        found = {(name, step): _between(tape.joined(name), batch, words, step) for name in sites for step in STEPS}
        sources = np.where(batch.special.numpy() | (batch.segment.numpy() != 0), -1, batch.word.numpy())
        for row, example in enumerate(examples):
            n_source, n_target = len(example.words or ()), len((example.target or "").split())
            if whole(sources[row], n_source) and whole(words[row], n_target):
                yield (
                    int(batch.examples[row]),
                    {
                        key: Crossing(weights[row, :, :n_target, :n_source], nothing[row, :, :n_target])
                        for key, (weights, nothing) in found.items()
                    },
                )


def whole(word: Int[ndarray, " token"], n_words: int) -> bool:
    """Whether every word has a subword: nothing was truncated."""
    return len(set(word[word >= 0].tolist())) == n_words


def target_words(subject: Subject, examples: Sequence[Example]) -> Int[ndarray, "batch position"]:
    """For each token of each target the number of its word (split at spaces); -1 for special tokens and padding."""
    texts = [" ".join((example.target or "").split()) for example in examples]
    encoded = subject.tokenizer(
        text_target=texts, padding=True, truncation=True, max_length=subject.encoder.max_length
    ).encodings
    as_source = [Example(text, words=tuple(text.split())) for text in texts]
    rows = [word_numbers(row, example, splits=True) for row, example in zip(encoded or [], as_source, strict=True)]
    return np.array(rows)


def _between(
    call: Call, batch: Batch, words: Int[ndarray, "batch position"], step: Step
) -> tuple[Float[ndarray, "batch head target source"], Float[ndarray, "batch head target"]]:
    """One site's weights between words: to a word the sum over its subwords, from a word the mean over them."""
    n_key, n_query = call.weights.shape[-1] - call.sinks, call.weights.shape[2]
    if (n_query, n_key) != (words.shape[1], batch.special.shape[1]):
        raise BadConfig(
            f"{call.site.name} has {n_query} queries and {n_key} keys for {words.shape[1]} tokens of a translation and"
            f" {batch.special.shape[1]} of its text; as many were expected. Choose other --sites"
        )
    weights = call.weights[..., :n_key].float().cpu().numpy()  # [batch head query key]
    if step == "reading":
        weights = np.concatenate([weights[:, :, 1:], np.zeros_like(weights[:, :, :1])], 2)
    special = batch.special.numpy()
    source = np.where(special | (batch.segment.numpy() != 0), -1, batch.word.numpy())
    asking, asked = ((one, int(one.max()) + 1) for one in (words, source))
    to_special = np.where(special[:, None, None], weights, 0.0).max(-1, keepdims=True)  # [batch head query 1]
    one_key = np.zeros((len(words), 1), int), 1
    return across(weights, asking, asked), across(to_special, asking, one_key)[..., 0]
