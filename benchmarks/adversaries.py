"""Other attention for the same prediction, text by text: all texts and restarts together, compared with loops over
batches.

Five restarts of 500 steps for each of 1,000 sentences of the Stanford Sentiment Treebank, with an untrained additive
model of the usual size; ours from texts to table, every adversary checked by a forward pass. The loops are in the
manner of Jain & Wallace 2019, in our own words, 32 texts at a time, with the hidden states held fixed: one restart
after another; the restarts of a batch together, as in the code that they released; and that with the term that keeps
restarts apart, which their code has, and which ours has then too (`--spread 0.8`).
"""

import os
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from benchmarks.measure import table, verdict
from whence.core.site import masked_softmax
from whence.data.examples import Example
from whence.data.registry import load
from whence.evaluation.context import Context
from whence.experiments import instance_adversary
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.training.config import Training
from whence.training.init import untrained

SENTENCES, RESTARTS, STEPS = 1000, 5, 500
PENALISED, LIMIT = 0.01, 0.05
TINY = 1e-10
COMPARED = (
    ("one restart after another", False, 0.0),
    ("restarts together", True, 0.0),
    ("restarts together and kept apart", True, 0.8),
)


def report() -> str:
    """The experiment compared with both loops, in one run."""
    if "WHENCE_DATA" not in os.environ:
        return "The comparison on the Stanford Sentiment Treebank needs its files: set WHENCE_DATA."
    corpus = load("sst")
    subject = untrained(Training(data="sst", embedding_size=100), corpus)
    examples = corpus["test"][:SENTENCES]
    rows = []
    for name, together, spread in COMPARED:
        slowly, taken = timed(partial(loop, subject, examples, together, spread))
        ours, *seconds = timed(partial(whole, subject, examples, spread), times=3)
        ratio = taken / statistics.median(seconds)
        rows.append(
            [
                name,
                f"{taken:.1f} s",
                f"{statistics.median(seconds):.1f} s",
                verdict(ratio, 5, True),
                f"{ours:.3f} / {slowly:.3f}",
            ]
        )
    header = [
        f"{SENTENCES:,} sentences, {RESTARTS} × {STEPS} steps",
        "loop, once",
        "`instance_adversary`, median of 3",
        "speed-up",
        "mean of the furthest JSD, ours / loop",
    ]
    return table(header, rows)


def timed(run: Callable[[], float], times: int = 1) -> tuple[float, ...]:
    """What it gives, and the seconds it takes, each time."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - start)
    return found, *seconds


def whole(subject: Subject, examples: Sequence[Example], spread: float) -> float:
    """The experiment, from texts to table, every adversary checked by a forward pass: the mean JSD."""
    context = Context(subject, examples, range(len(examples)), quiet=True)
    config = instance_adversary.Config(
        model="additive",
        data="sst",
        restarts=RESTARTS,
        steps=STEPS,
        keep="last",
        penalised_change=PENALISED,
        max_output_change=(LIMIT,),
        spread=spread,
        learning_rate=0.01,
        penalty=500.0,
        probabilities="model",
        change_decision=True,
        divergence="row",
    )
    return float(instance_adversary.run(config, context)["jsd"].mean())


def loop(subject: Subject, examples: Sequence[Example], together: bool, spread: float) -> float:
    """Batch after batch, and in it restart after restart or all together: the mean JSD."""
    furthest = []
    for batch in subject.batches(examples, 32):
        times = 1 if together else RESTARTS
        found = [climbed(subject, batch, RESTARTS // times, spread) for _ in range(times)]
        furthest.append(torch.cat([torch.where(change <= LIMIT, jsd, 0.0) for jsd, change in found], 1).amax(1))
    return float(torch.cat(furthest).mean())


@torch.enable_grad()
def climbed(subject: Subject, batch: Batch, restarts: int, spread: float) -> tuple[Tensor, Tensor]:
    """JSD and change of the attention that each restart ends with: [batch restart]."""
    model, mask = subject.model, ~batch.special[:, None]  # [batch 1 token]
    hidden = model.encoder(model.embeddings(batch.inputs["input_ids"]), batch.inputs["attention_mask"].bool())[
        0
    ].detach()
    own = masked_softmax(model.score(hidden)[:, None, None], mask[:, None])[:, 0].detach()  # [batch 1 token]
    base = model.decoder.classify(own @ hidden).softmax(-1).detach()  # [batch 1 class]
    logits = torch.randn(len(batch), restarts, mask.shape[-1]).mul_(3).requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=0.01, amsgrad=True)
    for step in range(STEPS + 1):
        weights = logits.masked_fill(~mask, -torch.inf).softmax(-1)  # [batch restart token]
        change = (model.decoder.classify(weights @ hidden).softmax(-1) - base).abs().sum(-1) / 2
        jsd = divergence(weights, own)
        if step == STEPS:
            break
        loss = (500 * (change - PENALISED).relu() - jsd).sum()
        if spread:
            loss = loss - divergence(weights[:, None], weights[:, :, None]).sum(0).mean()
        optimiser.zero_grad()
        loss.backward(inputs=[logits])
        optimiser.step()
    return jsd.detach(), change.detach()


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """Jensen–Shannon divergence over the last axis."""
    middle = (p + q) / 2
    parts = [(one * ((one + TINY).log() - (middle + TINY).log())).sum(-1) for one in (p, q)]
    return torch.stack(parts).mean(0)


if __name__ == "__main__":
    with torch.no_grad():
        print(report())
