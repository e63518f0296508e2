"""The bench: a subject, some examples, and what experiments do with them again and again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Generator, Tensor
from tqdm.auto import tqdm

from whence.analysis.scores import Marks
from whence.attribution.options import written_options
from whence.core.attending import attending
from whence.core.head_order import relabelled
from whence.core.overrides import Override
from whence.core.replay.attention import Replay
from whence.data.probing.tasks import Item
from whence.data.syntax.forest import Forest, Measuring
from whence.evaluation.attention_search import Adversaries, adversaries
from whence.evaluation.config import Altering
from whence.evaluation.cross_attention import Crossings, crossings
from whence.evaluation.editable_attention import Alterable, at_once, site_called
from whence.evaluation.locations import Place
from whence.evaluation.model_comparison import Beside, beside
from whence.evaluation.rationale_match import Found, found
from whence.evaluation.representation_erasure import Erased, What, erasures
from whence.evaluation.retraining import Retraining
from whence.evaluation.scoring import Alteration, chunked, translated
from whence.evaluation.sentence_vectors import Vectors, vectors
from whence.evaluation.token_erasure import Erase, Erasing
from whence.evaluation.trained_variants import guided, opponents
from whence.evaluation.tree_attention import Followed, followed, sentence_weights
from whence.evaluation.word_scores import Occurrences, explained, occurrences, traced_heads
from whence.subject.batch import Batch
from whence.subject.hidden_states import Read
from whence.subject.metrics import agreement, scores, tells_chunks
from whence.subject.stepwise import encoded_once, step_probabilities
from whence.subject.subject import probabilities
from whence.training.train import altered_as


@dataclass(frozen=True, eq=False)
class Bench(Retraining):
    """What it holds is told in `_held.py`, how its models are trained again in `_retraining.py`."""

    @torch.no_grad()
    def altered(
        self, batch: Batch, rules: Mapping[str, Any], times: int
    ) -> Float[Tensor, "times batch position class"]:
        """The model's probabilities under altered attention, `times` times.

        Where one site is altered, only what lies after it is run again.
        """
        if self._in_decoder(rules):
            return self.decoded(batch, rules, times, self.subject.predict)
        if len(rules) > 1:
            with attending(self.subject.model, override=rules, watch=None):
                return torch.stack([self.subject.predict(batch) for _ in range(times)])
        ((site, rule),) = rules.items()
        logits = Replay(self.subject.model, site, batch.inputs)(rule, times=times)
        return probabilities(self.subject.task.positioned(logits))

    def decoded(
        self, batch: Batch, rules: Mapping[str, Any], times: int, read: Callable[[Batch], Tensor]
    ) -> Float[Tensor, "times batch position class"]:
        """What is `read` of a translator under altered attention, `times` times at once.

        Its encoder runs once, unless it is altered too.
        """
        many = batch.repeated(times)
        if self._in_decoder(rules):
            many = encoded_once(self.subject, batch, times)
        with attending(self.subject.model, override=rules, watch=None, copies=times):
            return read(many).unflatten(0, (times, -1))

    def written(self, batch: Batch, steps: int) -> Float[Tensor, "batch step class"]:
        """A translator's distributions while it writes freely."""
        return step_probabilities(self.subject, batch, steps)

    def _in_decoder(self, rules: Mapping[str, Any]) -> bool:
        kinds = {self.subject.sites[site].kind for site in rules}
        return self.subject.task.name == "seq2seq" and kinds <= {"causal", "cross"}

    def marks(
        self,
        config: Altering,
        make: Callable[[Generator], Override] | None = None,
        place: Place | None = None,
        specials: bool | None = None,
        draws: int = 1,
    ) -> Marks:
        """How well every example is answered, under an alteration or none; mean of the draws."""
        specials = config.specials if specials is None else specials
        if self.subject.task.valued and make is None:
            return Marks(agreement(self.subject, self.examples, self.batch_size))
        altering = Alteration(make, place, specials, draws)
        if self.subject.task.name == "seq2seq" and config.decoding == "free":
            return translated(self, altering, config.beams)
        if tells_chunks(self.subject):
            return chunked(self, altering)
        return Marks(self.scores(make, place, specials, draws))

    def scores(
        self,
        make: Callable[[Generator], Override] | None = None,
        place: Place | None = None,
        specials: bool = True,
        draws: int = 1,
    ) -> Float[ndarray, " example"]:
        """For every example the share of its answers that are right, under an alteration or none; mean of the draws."""
        right = np.empty(len(self.examples))
        override = None if make is None else make(self.stream(f"{self.name} {place}"))
        for batch in self.batches():
            rules = place.rules(override, self.subject, batch, specials) if place and override else None
            with attending(self.subject.model, override=rules, watch=None):
                found = [scores(self.subject.predict(batch), batch.answers, batch.gold) for _ in range(draws)]
            right[batch.examples.numpy()] = torch.stack(found).float().mean(0).numpy()
        return right

    def erasing(self, batch: Batch, erase: Erase = "attention", sites: Sequence[str] = ("*",)) -> Erasing:
        """The batch with inputs that can be taken away."""
        return Erasing(self.subject, batch, erase, sites)

    def erasures(self, what: What, sites: Sequence[str] = ("*",)) -> Iterator[tuple[Batch, Erased]]:
        """The log-likelihood of the right answers without each word, dimension, hidden unit or head."""
        return erasures(self, what, sites)

    def site_called(self, name: str) -> str:
        """The one site that a name or pattern means; with `auto` the one that an answer is read from."""
        return site_called(self.subject, name)

    def with_copies(self, site: str, copies: int) -> "Bench":
        """The same bench in batches that can be altered at a site in so many copies at a time."""
        size = at_once(self.subject, self.first_batch(), site, self.examples, self.batch_size, copies)
        return replace(self, batch_size=size, encoded=[])

    def adversaries(self, batch: Batch, config: Any, site: str, steps: int) -> tuple[Alterable, list[Adversaries]]:
        """The attention of a batch at one site, and others with the same answer, within each limit."""
        there = Alterable(self.subject, batch, site, config.rows, config.specials)
        draws = [self.stream(f"adversary {number}") for number in self.numbers(batch)]
        return there, adversaries(there, config, steps, draws)

    def explained(
        self, batch: Batch, methods: Sequence[str], options: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Float[ndarray, "batch token"]]:
        """The scores of a batch's tokens by each method, for the class that the model predicts."""
        return explained(self, batch, methods, options)

    def found(self, methods: Sequence[str], options: Sequence[str] = ()) -> dict[str, Found]:
        """How well each method finds the marked words of every example."""
        chosen = written_options(methods, options)
        if "random" in methods:
            chosen["random"] = {"seed": self.seed, **chosen.get("random", {})}
        told = tqdm(methods, desc=self.name, unit="method", disable=self.quiet, leave=False, delay=1)
        return {
            method: found(self.subject, self.examples, method, batch_size=self.batch_size, **chosen.get(method, {}))
            for method in told
        }

    def occurrences(self, methods: Sequence[str], options: Sequence[str] = ()) -> Iterator[Occurrences]:
        """Every word of the examples, scored by each method for the class that the model predicts."""
        return occurrences(self, methods, options)

    def traced_heads(self, row: int | str = "auto") -> Iterator[tuple[Batch, list[list[str]], ndarray, ndarray]]:
        """Batches, their tokens' words, what each head brings down to each token, and which tokens are of the text."""
        return traced_heads(self, row)

    def followed(self, forest: Forest, how: Measuring) -> Mapping[str, Followed]:
        """How near every head of every site is to trees, in one pass over the model."""
        return followed(self, forest, how)

    def sentence_weights(self, forest: Forest, number: int, how: Measuring) -> Mapping[str, ndarray]:
        """The attention of the words of one sentence to each other, [head word word] for each site."""
        return sentence_weights(self, forest, number, how)

    def crossings(self, sites: Sequence[str] = ("*",)) -> Iterator[tuple[int, Crossings]]:
        """How the words of each translation attend to those of its text, at every site and head that looks across."""
        return crossings(self, sites)

    def sentence_vectors(self, items: Sequence[Item], read: Read = "mean") -> Vectors:
        """What every layer makes of the sentences of these items, one vector each."""
        return vectors(self, items, read)

    def relabelled(self, orders: Mapping[str, Sequence[int]]) -> AbstractContextManager[None]:
        """While open, whoever watches sees the heads of these sites in another order; the model does what it did."""
        return relabelled(self.subject.model, orders)

    def as_trained(self, config: Altering) -> Marks:
        """How well every example is answered, with the attention that the model was trained with."""
        rules = None if self.training is None else altered_as(self.training)
        with attending(self.subject.model, override=rules, watch=None):
            return self.marks(config)

    def opponents(self, config: Any) -> Iterator[tuple[float, int, "Bench"]]:
        """Models that were trained to answer like this one and to attend otherwise: λ, seed and bench of each."""
        return opponents(self, config)

    def beside(self, other: "Bench", sites: Sequence[str] = ("*",)) -> Beside:
        """How far another bench's model is from this one, example by example."""
        rules = None if other.training is None else altered_as(other.training)
        return beside(self, other.subject, sites, rules)

    def guided(self, config: Any) -> Iterator[tuple[str, float, int, "Bench"]]:
        """Models whose attention was given from outside: source, λ of the source, seed and bench of each."""
        return guided(self, config)
