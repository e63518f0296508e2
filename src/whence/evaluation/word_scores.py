"""Attributions of words: every occurrence of every word of a corpus, scored by explainers."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jaxtyping import Float
from numpy import ndarray

from whence.attribution.attribution import Attribution
from whence.attribution.options import written_options
from whence.attribution.registry import explainer
from whence.data.lexical.words import tidy
from whence.evaluation.rationale_match import RANDOM
from whence.explainers.lat import traced
from whence.subject.batch import Batch
from whence.subject.targets import predicted

if TYPE_CHECKING:
    from whence.evaluation.context import Context


@dataclass(frozen=True)
class Occurrences:
    """A word in an example: how often it occurs there, and the sum of its scores by one method.

    `word` is in lower case without punctuation. `score` is the explainer's own, summed over a word's subwords; of
    random scores the first subword's, so that chance favours no long words.
    """

    example: int
    method: str
    word: str
    n: int
    score: float


def occurrences(context: "Context", methods: Sequence[str], options: Sequence[str] = ()) -> Iterator[Occurrences]:
    """Every word of the context's examples by each method, for the class that the model predicts.

    Special tokens, padding and what is punctuation alone are left out. Both texts of a pair count.
    """
    chosen = {"random": {"seed": context.seed}} if "random" in methods else {}
    for method, given in written_options(methods, options).items():
        chosen[method] = {**chosen.get(method, {}), **given}
    for batch in context.batches():
        words, target = tokens_words(context, batch), predicted(context.subject, batch, "probability")
        for method in methods:
            found = explainer(method)(context.subject, batch, target, **chosen.get(method, {}))
            found = found.of_first_subwords() if method == RANDOM else found
            for row, number in enumerate(context.numbers_of(batch)):
                yield from _in_one(found, row, number, method, words[row])


def _in_one(found: Attribution, row: int, number: int, method: str, words: Sequence[str]) -> Iterator[Occurrences]:
    """The words of one example, in order of first occurrence."""
    scores, which = defaultdict[str, float](float), defaultdict[str, set[tuple[int, int]]](set)
    segments, places = found.segment[row].tolist(), found.word[row].tolist()
    for word, segment, place, score in zip(words, segments, places, found.scores[row].tolist(), strict=True):
        if word:
            scores[word] += score
            which[word].add((segment, place))
    for word, score in scores.items():
        yield Occurrences(number, method, word, len(which[word]), score)


def token_attributions(
    context: "Context", batch: Batch, methods: Sequence[str], options: Mapping[str, Mapping[str, Any]]
) -> dict[str, Float[ndarray, "batch token"]]:
    """The scores of a batch's tokens by each method, for the class that the model predicts."""
    target, chosen = predicted(context.subject, batch, "probability"), {"random": {"seed": context.seed}, **options}
    return {
        method: explainer(method)(context.subject, batch, target, **chosen.get(method, {})).scores for method in methods
    }


def tokens_words(context: "Context", batch: Batch) -> list[list[str]]:
    """For every token of a batch the word that it is part of; empty for special tokens, padding and punctuation."""
    examples = [context.examples[number] for number in batch.examples.tolist()]
    rows = zip(context.subject.encoder.spelled(batch, examples), batch.special.tolist(), strict=True)
    return [["" if special else tidy(word) for word, special in zip(*row, strict=True)] for row in rows]


def traced_heads(context: "Context", row: int | str = "auto") -> Iterator[tuple[Batch, list[list[str]], Any, Any]]:
    """For every batch: each token's word, what each head brings down to it, and which tokens are of the text.

    The last two are arrays [batch head token] and [batch token]. Nothing is normalized (Wu et al. 2020, Eq. 10). Of
    narratives the rows are windows.
    """
    for whole in context.batches():
        trace, batch = traced(context.subject, whole, row), whole.by_window()
        length = batch.special.shape[1]
        words = [text[i : i + length] for text in tokens_words(context, whole) for i in range(0, len(text), length)]
        real = trace.attended.cpu() & ~batch.special
        yield batch, words, trace.heads.float().cpu().numpy(), real.numpy()
