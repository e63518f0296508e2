"""Every head of every layer compared with the trees of a treebank, true and random: one pass, compared with the model's
own.

*plain pass* is the encoder as it comes, nothing recorded; *every head and N trees* is that pass with all heads of all
layers measured against the true tree of each sentence and the random ones (six kinds, three draws each but of chains),
which are drawn beforehand. *loop per head and word* takes the weights that the model gives out when it is asked for
them and does the same for the true trees alone, one sentence after another, word by word; it is run on a few of the
sentences.
"""

import os
from collections.abc import Callable, Sequence

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from benchmarks.measure import interleaved, table, verdict
from benchmarks.models import MINILM
from whence.data.examples import Example
from whence.data.registry import load
from whence.data.syntax.forest import TRUE, Forest, Measuring, grown
from whence.data.syntax.random_trees import BASELINES
from whence.evaluation.context import Context
from whence.evaluation.tree_attention import run, tree_divergences
from whence.subject.batch import Batch
from whence.subject.subject import Subject

SENTENCES, LOOPED, ROUNDS = 2000, 5, 3
PLAIN, LOOP = "plain pass", "loop per head and word"


def run_all(subject: Subject, batches: Sequence[Batch]) -> None:
    for batch in batches:
        run(subject, batch)


def report() -> str:
    """Times over the sentences, and how far the loop's numbers are from ours."""
    if "WHENCE_DATA" not in os.environ:
        return "Trees of Universal Dependencies need their files: set WHENCE_DATA."
    examples = load("ud_ewt")["train"][:SENTENCES]
    subject = Subject(AutoModel.from_pretrained(MINILM), AutoTokenizer.from_pretrained(MINILM), "base")
    forest = grown(examples, BASELINES, 3)
    context = Context(subject, examples, range(len(examples)), quiet=True, predictions=False)
    batches = list(context.batches())
    n_trees = sum(map(len, forest.kinds.values()))
    ours = f"every head and {n_trees} trees"
    variants: dict[str, Callable[[], object]] = {
        PLAIN: lambda: run_all(subject, batches),
        ours: lambda: tree_divergences(context, forest, Measuring()),
    }
    times = interleaved(variants, ROUNDS)
    cells = {PLAIN: "", ours: verdict(times.ratio(ours, PLAIN), 1.5)}
    rows = [[name, str(len(examples)), f"{times.median(name):.1f} s", cell] for name, cell in cells.items()]
    return table(
        ["MiniLM, 6 × 12 heads", "sentences", "median", f"compared with the {PLAIN}"], [*rows, *looped(examples)]
    )


def looped(examples: Sequence[Example]) -> list[list[str]]:
    """The loop compared with ours on a few sentences."""
    few = [example for example in examples if len(example.words or ()) > 1][:LOOPED]
    model = AutoModel.from_pretrained(MINILM, attn_implementation="eager").eval()
    subject = Subject(AutoModel.from_pretrained(MINILM), AutoTokenizer.from_pretrained(MINILM), "base")
    forest = grown(few, (), 1)
    context = Context(subject, few, range(len(few)), quiet=True, predictions=False)
    ours = "every head and 1 tree"
    times = interleaved(
        {LOOP: lambda: loop(model, subject, forest, few), ours: lambda: divergences(context, forest)}, ROUNDS
    )
    off = np.abs(loop(model, subject, forest, few) - divergences(context, forest)).max()
    faster = verdict(times.ratio(LOOP, ours), 10, at_least=True)
    cells = {LOOP: "", ours: f"{faster} the loop's speed; off by {off:.0e}"}
    return [[name, str(len(few)), f"{times.median(name):.2f} s", cell] for name, cell in cells.items()]


def divergences(context: Context, forest: Forest) -> np.ndarray:
    """Ours: [sentence layer head]."""
    found = tree_divergences(context, forest, Measuring())
    return np.stack([one.divergence[TRUE] for one in found.values()], axis=1)


def loop(model: torch.nn.Module, subject: Subject, forest: Forest, examples: Sequence[Example]) -> np.ndarray:
    """As one would write it down: [sentence layer head]."""
    found = []
    for sentence in forest.sentences:
        batch = subject.read([examples[sentence.example]])
        layers = model(**batch.inputs, output_attentions=True).attentions
        words = batch.word[0].tolist()
        pieces = [
            [place for place, word in enumerate(words) if word == number] for number in range(len(sentence.heads))
        ]
        found.append(
            [[mean_divergence(weights, pieces, sentence.heads) for weights in layer[0].numpy()] for layer in layers]
        )
    return np.array(found)


def mean_divergence(weights: np.ndarray, pieces: list[list[int]], heads: Sequence[int]) -> float:
    """-ln of the parent's share of what a word gives to words, mean over the words that have a parent."""
    each = []
    for word, head in enumerate(heads):
        if head >= 0:
            rows = weights[pieces[word]]
            given = [float(rows[:, pieces[other]].sum(-1).mean()) for other in range(len(heads))]
            each.append(-np.log(given[head] / sum(given)))
    return float(np.mean(each))
