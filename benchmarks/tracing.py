"""Layer-wise attention tracing compared with a plain eager pass: over the sentences of a test set, and by depth.

*plain eager pass* is the model as it comes with eager attention, nothing asked; `lat`, `lat_mixed` and `rollout` are
the explainers, pass and all. All get the same batches, encoded beforehand. Memory is the peak above what was held
before, with a narrow model of 12 heads on 2 × 512 tokens, median of three
processes; it must not grow with depth.
"""

import json
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, PreTrainedModel

from benchmarks.measure import in_own_process, interleaved, peak_above_start, table, verdict
from benchmarks.models import MINILM, minilm, texts
from whence import adopt
from whence.attribution.attribution import Attribution
from whence.attribution.registry import explainer
from whence.data.examples import Example
from whence.data.registry import load
from whence.explainers.lat import traced
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target
from whence.training.config import Training
from whence.training.init import untrained

PLAIN, METHODS, ROUNDS = "plain eager pass", ("lat", "lat_mixed", "rollout"), 3
DEPTHS = (6, 12, 24)
BATCH, LENGTH = 2, 512


def report() -> str:
    """Times over the test set, and memory by depth."""
    return f"{treebank_report()}\n\n{depth_report()}"


def first_classes(batch: Batch) -> Target:
    """What is explained does not matter to tracing; asking the model for it would be another pass."""
    nothing = torch.zeros(len(batch), dtype=torch.long)
    return Target(nothing, nothing)


def explained(method: str, subject: Subject, batches: Sequence[Batch]) -> list[Attribution]:
    return [explainer(method)(subject, batch, first_classes(batch)) for batch in batches]


def treebank_report() -> str:
    if "WHENCE_DATA" not in os.environ:
        return "Tracing over the Stanford Sentiment Treebank needs its files: set WHENCE_DATA."
    corpus = load("sst:fine")
    examples = [replace(example, label=None) for example in corpus["test"]]  # nobody was trained to name them
    minilm_subject = Subject(adopt(minilm("eager")), AutoTokenizer.from_pretrained(MINILM), "sequence-classification")
    pooled = untrained(Training(model="pooled", data="sst:fine"), corpus)
    compared = {"MiniLM": (minilm("eager"), minilm_subject), "the model of Wu et al. 2020": (pooled.model, pooled)}
    rows = [row for name, (plain, subject) in compared.items() for row in traced_rows(name, plain, subject, examples)]
    return table([f"{len(examples)} sentences of SST", "", "median", f"compared with the {PLAIN}"], rows)


def traced_rows(name: str, plain: PreTrainedModel, subject: Subject, examples: Sequence[Example]) -> list[list[str]]:
    batches = list(subject.batches(examples))
    variants: dict[str, Callable[[], object]] = {PLAIN: lambda: [plain(**batch.inputs) for batch in batches]}
    for method in METHODS:
        variants[method] = partial(explained, method, subject, batches)
    times = interleaved(variants, ROUNDS)
    return [
        [
            name,
            variant,
            f"{times.median(variant):.1f} s",
            "" if variant == PLAIN else verdict(times.ratio(variant, PLAIN), 1.3),
        ]
        for variant in variants
    ]


def narrow(depth: int) -> PreTrainedModel:
    """So many layers of 12 heads, width 192, random weights."""
    torch.manual_seed(0)
    config = BertConfig(hidden_size=192, intermediate_size=384, num_hidden_layers=depth, vocab_size=30_522)
    return BertForSequenceClassification(config).eval()


def run(what: str, depth: int) -> None:
    subject = Subject(adopt(narrow(depth)), AutoTokenizer.from_pretrained(MINILM))
    examples = texts(BATCH, LENGTH)
    empty = torch.zeros(BATCH, LENGTH, dtype=torch.bool)
    batch = Batch(
        examples,
        torch.arange(BATCH),
        (("",) * LENGTH,) * BATCH,
        empty,
        empty.long(),
        empty.long(),
        torch.ones(BATCH, 1, dtype=torch.bool),
        torch.zeros(BATCH, 1, dtype=torch.long),
        empty[:, 0],
    )
    subject.model(**examples)  # the libraries have what they keep
    if what == PLAIN:
        subject.model.set_attn_implementation("eager")
        print(json.dumps(peak_above_start(lambda: subject.model(**examples))))
        return
    explain = traced if what == "traced" else explainer(what)
    print(json.dumps(peak_above_start(lambda: explain(subject, batch, target=first_classes(batch)))))


def depth_report() -> str:
    rows, layer = [], 4 * 12 * BATCH * LENGTH**2
    for what in (PLAIN, "lat", "rollout", "traced"):
        peaks = [
            statistics.median(in_own_process("benchmarks.tracing", what, str(depth)) for _ in range(3))
            for depth in DEPTHS
        ]
        grown = (peaks[-1] - peaks[0]) / layer
        limit = "" if what in (PLAIN, "traced") else f" (≤ 1: {'yes' if grown <= 1 else 'NO'})"
        rows.append([what, *(f"{peak / 2**20:.0f} MB" for peak in peaks), f"{grown:.1f}{limit}"])
    header = [f"peak memory (weights of a layer: {layer / 2**20:.0f} MB)", *(f"{depth} layers" for depth in DEPTHS)]
    return table([*header, f"{DEPTHS[-1]} less {DEPTHS[0]}, in layers of weights"], rows)


if __name__ == "__main__":
    with torch.no_grad():
        run(sys.argv[1], int(sys.argv[2]))
