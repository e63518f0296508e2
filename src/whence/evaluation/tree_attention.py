"""Divergence of every head from trees, in one pass over the model: a watcher reduces each layer as it runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray

from whence.attribution.layer_stack import LONG
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call, Site
from whence.data.syntax.forest import Forest, Measuring
from whence.evaluation.locations import matching
from whence.measures.subwords import to_words
from whence.measures.tree_divergence import OFFSETS, arcs_of, attached, offset_attached, sentence_divergence
from whence.subject.batch import Batch
from whence.subject.subject import Subject

if TYPE_CHECKING:
    from whence.evaluation.context import Context

MANY = 64  # heads: of more, as DiSAN's features are, a few at a time are enough


@dataclass(eq=False)
class TreeDivergences:
    """The measurements at one site, in the order of the forest's sentences; NaN where nothing could be measured."""

    site: Site
    divergence: dict[str, Float[ndarray, "sentence head"]]  # of each kind of tree, mean of the draws
    coverage: dict[str, Float[ndarray, " sentence"]]
    hits: Float[ndarray, "sentence head"]  # words whose parent gets most of their attention
    offset_hits: Float[ndarray, "sentence offset"]
    arcs: Float[ndarray, " sentence"]  # words that were compared
    sees: set[str] = field(default_factory=set)  # of past and future

    @staticmethod
    def empty(site: Site, forest: Forest, heads: int) -> "TreeDivergences":
        """Without measurements yet."""
        n = len(forest.sentences)
        return TreeDivergences(
            site,
            {kind: np.full((n, heads), np.nan, np.float32) for kind in forest.kinds},
            {kind: np.full(n, np.nan) for kind in forest.kinds},
            np.zeros((n, heads), np.float32),
            np.zeros((n, len(OFFSETS))),
            np.zeros(n),
        )


@torch.no_grad()
def tree_divergences(context: "Context", forest: Forest, how: Measuring) -> dict[str, TreeDivergences]:
    """Every site's heads compared with every tree.

    Held in memory are a batch's weights of one layer, and one number for each sentence, head and kind of tree.
    """
    found: dict[str, TreeDivergences] = {}
    names = self_attention_sites(context.subject, how.sites)
    for batch in context.batches():
        watcher = TreeComparison(batch, forest, how, found)
        if watcher.numbers:
            with attending(context.subject.model, watch=dict.fromkeys(names, watcher)):
                run(context.subject, batch)
    if not found:
        raise BadConfig("every text was cut before its end; the trees of sentences that are not whole are not measured")
    return {name: found[name] for name in names}


class TreeComparison:
    """A watcher of one batch: compares the words' attention with the trees of their sentences.

    Left out are sentences with a word without subwords: the text was truncated, or the tokenizer drops the word.
    """

    def __init__(self, batch: Batch, forest: Forest, how: Measuring, found: dict[str, TreeDivergences]) -> None:
        self.forest, self.how, self.found = forest, how, found
        self.tokens, many = batch.special.shape[1], any(one.hits.shape[1] > MANY for one in found.values())
        self.streams_heads = self.tokens > LONG or many
        chosen = list(whole_sentences(batch, forest))
        self.numbers, self.rows = [number for number, _, _ in chosen], [row for _, row, _ in chosen]
        if chosen:
            self.word = np.stack([word for _, _, word in chosen])  # [sentence token]
            self.longest = max(len(forest.sentences[number].heads) for number in self.numbers)
            self.arcs = arcs_of(forest.references(self.numbers, how.reference))

    def __call__(self, call: Call) -> None:
        weights, allowed = self.words(call)
        one = self.found.setdefault(call.site.name, TreeDivergences.empty(call.site, self.forest, call.n_heads))
        part = slice(call.heads[0], call.heads[-1] + 1)
        how = self.how
        values, coverage = sentence_divergence(self.arcs, weights, allowed, masked=how.masked, floor=how.floor)
        for kind, trees in self.forest.places.items():
            one.divergence[kind][self.numbers, part] = values[trees].mean(
                0
            )  # a sentence has trees in all draws or none
            one.coverage[kind][self.numbers] = coverage[trees].mean(0)
        self._attach(one, part, weights, allowed)
        places = np.arange(allowed.shape[1])
        one.sees |= {"past"} if (allowed & (places < places[:, None])).any() else set()
        one.sees |= {"future"} if (allowed & (places > places[:, None])).any() else set()

    def words(
        self, call: Call
    ) -> tuple[Float[ndarray, "sentence head word word"], Bool[ndarray, "sentence word word"]]:
        """The words' weights, and which words may be attended."""
        n_query, n_key = call.weights.shape[2], call.weights.shape[3] - call.sinks
        if (n_query, n_key) != (self.tokens, self.tokens):
            raise BadConfig(
                f"{call.site.name} has {n_query} queries and {n_key} keys for {self.tokens} tokens; every"
                " token was expected to attend to tokens. Choose other --sites"
            )
        weights = call.weights[self.rows, ..., :n_key].float().cpu().numpy()
        may = call.mask[..., :n_key].any(1).expand(-1, n_query, -1)[self.rows].float()[:, None].cpu().numpy()
        allowed = to_words(may, self.word, self.longest)[:, 0] > 0
        return to_words(weights, self.word, self.longest, renormalise=self.how.renormalise), allowed

    def _attach(self, one: TreeDivergences, part: slice, weights: ndarray, allowed: ndarray) -> None:
        """How often a head's largest weight, and a fixed offset, find the parent; of the same words."""
        heads = self.forest.heads(self.numbers)
        if self.how.reference == "children":  # then the parent looks for the word
            weights, allowed = weights.swapaxes(-1, -2), allowed.swapaxes(-1, -2)
        hits = attached(heads, weights, allowed, masked="skip" if self.how.masked == "skip" else "zero")
        there = np.isfinite(hits[:, :1])  # [sentence 1 word]
        one.hits[self.numbers, part] = np.nansum(hits, -1)
        one.offset_hits[self.numbers] = np.where(there, offset_attached(heads), 0.0).sum(-1)
        one.arcs[self.numbers] = there.sum((1, 2))


def whole_sentences(batch: Batch, forest: Forest) -> Iterator[tuple[int, int, ndarray]]:
    """The forest's sentences that are whole in the batch: their number, their row, and the word of each subword."""
    words = np.where(batch.special.numpy(), -1, batch.word.numpy())  # [batch token]
    for row, example in enumerate(batch.examples.tolist()):
        for number in forest.by_example.get(example, ()):
            sentence = forest.sentences[number]
            word = np.where(batch.segment[row].numpy() == sentence.segment, words[row], -1)
            if len(set(word[word >= 0].tolist())) == len(sentence.heads):
                yield number, row, word


def self_attention_sites(subject: Subject, patterns: Sequence[str]) -> tuple[str, ...]:
    """The sites where the tokens of a text attend to its tokens, of those that match, in execution order."""
    seq2seq = bool(getattr(subject.model.config, "is_encoder_decoder", False))
    kinds = ("self",) if seq2seq else ("self", "causal")
    there = subject.sites
    found = tuple(
        name for name in matching(there, patterns) if there[name].kind in kinds and there[name].keys == "tokens"
    )
    if not found:
        listed = ", ".join(f"{name} ({site.kind})" for name, site in there.items())
        raise BadConfig(
            f"trees are compared with attention from the words of a text to its words (kind self); there is"
            f" none at these sites of {subject.name}. There are: {listed}"
        )
    return found


def run(subject: Subject, batch: Batch) -> None:
    """The part of the model that reads the text: no head, and of a translator no decoder."""
    model: Any = subject.model
    body = model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model.base_model
    body(**batch.inputs)


@torch.no_grad()
def sentence_weights(
    context: "Context", forest: Forest, number: int, how: Measuring
) -> Mapping[str, Float[ndarray, "head word word"]]:
    """The words' attention in one sentence, of every head of every site."""
    found: dict[str, list[ndarray]] = {}
    example = forest.sentences[number].example
    batch = context.subject.read([context.examples[example]], [example])
    watcher = TreeComparison(batch, forest, how, {})
    watcher.streams_heads = False
    if number not in watcher.numbers:
        return {}
    place = watcher.numbers.index(number)

    def keep(call: Call) -> None:
        found.setdefault(call.site.name, []).append(watcher.words(call)[0][place])

    with attending(context.subject.model, watch=dict.fromkeys(self_attention_sites(context.subject, how.sites), keep)):
        run(context.subject, batch)
    size = len(forest.sentences[number].heads)
    return {name: np.concatenate(parts)[:, :size, :size] for name, parts in found.items()}
