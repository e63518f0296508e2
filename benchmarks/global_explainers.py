"""Global explainers compared with the plain way of computing the same: flow and value zeroing; and long texts.

*Flow* of 100 tokens through MiniLM's 6 layers, from [CLS] to every token, compared with networkx's `edmonds_karp`,
which is what the authors' code calls once for each token; that takes minutes, so it is run for some tokens and
extrapolated from these. *Value zeroing* of every token in every layer, compared with one pass of the whole model for
each token and layer; and, without a limit, compared with the same code with one token at a time, each layer by itself.
Each pair is checked to give the same; leaving tokens out is in *erasing*. *Memory* is the highest of a process that
does nothing else, Python and torch and all, at 4,096 tokens through 12 layers of 12 heads.
"""

import json
import resource
import sys
import time
from collections.abc import Callable

import networkx
import numpy as np
import torch
from numpy import ndarray
from transformers import AutoTokenizer

from benchmarks.measure import in_own_process, interleaved, table, verdict
from benchmarks.models import MINILM, long_encoder, minilm, texts
from whence import adopt
from whence.attribution.registry import explainer
from whence.attribution.single_layers import Zeroed
from whence.core.attending import attending
from whence.core.streaming import augmented
from whence.data.examples import Example
from whence.explainers import value_zeroing
from whence.explainers.flow import flows
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target
from whence.training.vocabulary import word_tokenizer

TOKENS, SOME = 100, (0, 7, 50, 99)  # tokens of the text; those for which networkx is run
ROUNDS = 3
TEXT = "the film is not a bad story but it never was as good as the book that it was made from"
LONG, ROOM = 4096, 8  # tokens; GB


def report() -> str:
    subject = Subject(adopt(minilm()), AutoTokenizer.from_pretrained(MINILM), "sequence-classification")
    rows = [flow_row(subject), *zeroing_rows(subject)]
    times = table(["", "the plain way", "ours", "times faster"], rows)
    long = table([f"{LONG:,} tokens, 12 layers, 12 heads", "highest memory of the process"], memory_rows())
    return f"{times}\n\n{long}"


def flow_row(subject: Subject) -> list[str]:
    with attending(subject.model) as tape:
        subject.model(**texts(1, TOKENS))
    layers = [augmented(call.weights.mean(1))[0].double().numpy() for call in tape.calls()]
    start = np.eye(TOKENS)[0]
    began = time.perf_counter()
    slow = by_networkx(layers)
    seconds = (time.perf_counter() - began) / len(SOME) * TOKENS
    ours = interleaved({"flow": lambda: flows(layers, start)}, ROUNDS)
    np.testing.assert_allclose(flows(layers, start)[list(SOME)], slow, atol=1e-5)
    return [
        f"flow, {TOKENS} tokens, {len(layers)} layers, all tokens",
        f"networkx edmonds_karp: {seconds:.0f} s (extrapolated from {len(SOME)} tokens)",
        f"{ours.median('flow'):.3f} s",
        verdict(seconds / ours.median("flow"), 1000, at_least=True),
    ]


def by_networkx(layers: list[ndarray]) -> list[float]:
    graph = networkx.DiGraph()
    for layer, matrix in enumerate(layers):
        for upper, lower in zip(*np.nonzero(matrix), strict=True):
            graph.add_edge((layer + 1, int(upper)), (layer, int(lower)), capacity=float(matrix[upper, lower]))
    algorithm = networkx.algorithms.flow.edmonds_karp
    top = (len(layers), 0)
    return [networkx.maximum_flow_value(graph, top, (0, token), flow_func=algorithm) for token in SOME]


def zeroing_rows(subject: Subject) -> list[list[str]]:
    batch = subject.encode([Example(TEXT)])
    target = first_class(batch)
    zeroing = explainer("value_zeroing")
    variants: dict[str, Callable[[], object]] = {
        "ours": lambda: zeroing(subject, batch, target),
        "plain": lambda: passes_for_each_token(subject, batch),
        "one": lambda: one_at_a_time(lambda: zeroing(subject, batch, target)),
    }
    last = zeroing(subject, batch, target, layer="last").scores
    np.testing.assert_allclose(last[0], passes_for_each_token(subject, batch)[-1], atol=1e-4)
    times = interleaved(variants, ROUNDS)
    what, ours = f"value zeroing, {batch.special.shape[1]} tokens, {len(subject.sites)} layers", times.median("ours")
    return [
        [
            what,
            f"a pass for each token and layer: {times.median('plain'):.2f} s",
            f"{ours:.2f} s",
            verdict(times.ratio("plain", "ours"), 3, at_least=True),
        ],
        [
            "",
            f"each layer by itself, a token at a time: {times.median('one'):.2f} s",
            f"{ours:.2f} s",
            f"{times.ratio('one', 'ours'):.3g}×",
        ],
    ]


def one_at_a_time(run: Callable[[], object]) -> object:
    usual, value_zeroing.TOKENS = value_zeroing.TOKENS, 1
    try:
        return run()
    finally:
        value_zeroing.TOKENS = usual


def passes_for_each_token(subject: Subject, batch: Batch) -> list[ndarray]:
    """Of each layer, how far [CLS] turns without each token's value; the whole model runs each time."""
    layers = subject.model.bert.encoder.layer
    found = []
    for site, module in zip(subject.sites, layers, strict=True):
        seen: list[torch.Tensor] = []
        hook = module.register_forward_hook(
            lambda m, a, out, seen=seen: seen.append(out if isinstance(out, torch.Tensor) else out[0])
        )
        subject.model(**batch.inputs)
        for token in range(batch.special.shape[1]):
            with attending(subject.model, {site: Zeroed(torch.tensor([token]), 1)}, watch=None):
                subject.model(**batch.inputs)
        hook.remove()
        turned = 1 - torch.cosine_similarity(seen[0][:, 0].double(), torch.cat(seen[1:])[:, 0].double(), -1)
        found.append((turned / turned.sum()).numpy())
    return found


def first_class(batch: Batch) -> Target:
    """What is explained does not matter to the time."""
    nothing = torch.zeros(len(batch), dtype=torch.long)
    return Target(nothing, nothing)


def memory_rows() -> list[list[str]]:
    rows = []
    for method in ("rollout", "lat"):
        gigabytes = in_own_process("benchmarks.global_explainers", method, str(LONG)) / 1e9
        rows.append([method, f"{gigabytes:.2f} GB (≤ {ROOM}: {'yes' if gigabytes <= ROOM else 'NO'})"])
    return rows


def long_run(method: str, length: int) -> None:
    """One text of so many tokens through one explainer; prints the highest memory of the process, in bytes."""
    examples = [Example("so it goes " * (length // 3 + 1))]
    subject = Subject(adopt(long_encoder()), word_tokenizer(examples), "sequence-classification")
    subject.encoder.max_length = length
    batch = subject.encode(examples)
    assert batch.special.shape[1] == length
    explainer(method)(subject, batch, first_class(batch), row="first")
    print(json.dumps(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))


if __name__ == "__main__":
    with torch.no_grad():
        long_run(sys.argv[1], int(sys.argv[2]))
