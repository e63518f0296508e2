"""One hundred permutations of attention: partial recomputation compared with full forward passes, and with a loop.

*last* is what a classifier's prediction needs: only the row that is read. *every row wanted* asks for all hidden states
of the last layer; what must be computed then (output projection and feed-forward of every row) is 3/4 of a layer of
six, so that about 8 times is the most that arithmetic allows; short texts gain more, since single passes use the
machine badly.
"""

import os
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from benchmarks.measure import interleaved, table, verdict
from benchmarks.models import minilm, texts
from whence import Replay, adopt, attending, imposed, permuted, sites
from whence.core.site import masked_softmax
from whence.data.registry import load
from whence.evaluation.context import Context
from whence.experiments import permutation
from whence.models import AdditiveConfig, AdditiveForSequenceClassification
from whence.training.config import Training
from whence.training.init import untrained

TIMES, ROUNDS = 100, 5


def report() -> str:
    """All comparisons."""
    return f"{minilm_report()}\n\n{additive_report()}\n\n{treebank_report()}"


def minilm_report() -> str:
    model = adopt(minilm())
    names = list(sites(model))
    rows = []
    for length in (25, 128):
        inputs = texts(1, length)
        for place, limit in [("first", 1), ("middle", 2), ("last", 10), ("last, every row wanted", 10)]:
            site = names[{"first": 0, "middle": 3}.get(place, 5)]
            rows.append([f"{length}", place, *compared(model, site, inputs, place, limit)])
    header = [
        "tokens",
        "layer",
        "way",
        "100 full passes",
        "recorded once, then 100",
        "speed-up",
        "with recording",
        "off by",
    ]
    return table(header, rows)


def compared(model, site, inputs, place, limit) -> list[str]:
    every_row = place.endswith("wanted")
    inputs = inputs | ({"output_hidden_states": True} if every_row else {})

    def read(output):
        return output.hidden_states[-1] if every_row else output.logits

    def full(override):
        with attending(model, override={site: override}, watch=None):
            return read(model(**inputs))

    replay = Replay(model, site, inputs, read=read)
    times = interleaved(
        {
            "full": lambda: [full(shuffle) for shuffle in [permuted(0)] for _ in range(TIMES)],
            "replay": lambda: replay(permuted(0), TIMES),
            "record": lambda: Replay(model, site, inputs, read=read),
        },
        ROUNDS,
    )
    weights = [permuted(seed)(replay.call) for seed in range(5)]
    off = max(float((replay(imposed(w))[0] - full(imposed(w))).abs().max()) for w in weights)
    bounded = every_row and inputs["input_ids"].shape[1] > 25
    recorded_too = times.median("full") / (times.median("record") + times.median("replay"))
    if replay.strategy == "rows":
        limit = 40
    return [
        replay.strategy,
        f"{times.median('full'):.2f} s",
        f"{times.median('replay'):.3f} s",
        f"{times.ratio('full', 'replay'):.3g}×" if bounded else verdict(times.ratio("full", "replay"), limit, True),
        f"{recorded_too:.1f}×",
        f"{off:.1g}",
    ]


def loop_over_permutations(model, inputs: dict[str, Tensor], hidden: Tensor, generator: np.random.Generator) -> Tensor:
    """A straightforward loop in the manner of the code released with Jain & Wallace 2019, in our own words.

    The encoder has run once. For each permutation the attention is computed anew, each text's weights are shuffled in
    a Python loop, and the decoder is applied.
    """
    mask = inputs["attention_mask"].bool()
    attended = [row.nonzero().flatten().numpy() for row in mask]
    outputs = []
    for _ in range(TIMES):
        weights = masked_softmax(model.score(hidden)[:, None, None], mask[:, None, None])[:, 0, 0]
        shuffled = weights.clone()
        for text, places in enumerate(attended):
            shuffled[text, places] = weights[text, generator.permutation(places)]
        mean = (shuffled[:, :, None] * hidden).sum(1)
        outputs.append(model.decoder.classify(mean))
    return torch.stack(outputs)


def additive_report() -> str:
    torch.manual_seed(0)
    model = AdditiveForSequenceClassification(AdditiveConfig(vocab_size=5000)).eval()
    rows = []
    for length in (25, 200):
        inputs = {"input_ids": torch.randint(1, 5000, (32, length)), "attention_mask": torch.ones(32, length).long()}
        for text in range(32):  # texts of many lengths
            inputs["attention_mask"][text, length - text * length // 64 :] = 0
        generator = np.random.default_rng(0)

        def encode(inputs=inputs):
            return model.encoder(model.embeddings(inputs["input_ids"]), inputs["attention_mask"].bool())[0]

        def loop(hidden=None, inputs=inputs, generator=generator, encode=encode):
            return loop_over_permutations(model, inputs, encode() if hidden is None else hidden, generator)

        def replayed(inputs=inputs):
            return Replay(model, "attention", inputs)(permuted(0), TIMES)

        hidden, replay = encode(), Replay(model, "attention", inputs)

        def loop_encoded(hidden=hidden, loop=loop):
            return loop(hidden)

        def replayed_encoded(replay=replay):
            return replay(permuted(0), TIMES)

        times = interleaved(
            {
                "loop": loop,
                "ours": replayed,
                "loop, encoded": loop_encoded,
                "ours, encoded": replayed_encoded,
            },
            ROUNDS,
        )
        weights = permuted(1)(replay.call)
        slowly = model.decoder.classify((weights[:, 0, 0, :, None] * hidden).sum(1))
        off = float((replay(imposed(weights))[0] - slowly).abs().max())
        whole, decoder = times.ratio("loop", "ours"), times.ratio("loop, encoded", "ours, encoded")
        cells = [f"{1000 * times.median(name):.0f} ms" for name in times.seconds]
        rows.append(
            [
                f"32 × {length}",
                *cells[:2],
                verdict(whole, 5, True),
                *cells[2:],
                verdict(decoder, 12, True),
                f"{off:.1g}",
            ]
        )
    header = [
        "additive, batch",
        "loop",
        "ours",
        "end to end",
        "loop, encoded",
        "ours, encoded",
        "without the encoder",
        "off by",
    ]
    return table(header, rows)


if __name__ == "__main__":
    with torch.no_grad():
        print(report())


def treebank_report() -> str:
    """The experiment `permutation` on the test set of the Stanford Sentiment Treebank, compared with a plain loop over
    it.
    """
    if "WHENCE_DATA" not in os.environ:
        return "The comparison on the Stanford Sentiment Treebank needs its files: set WHENCE_DATA."
    corpus = load("sst")
    subject = untrained(Training(data="sst", embedding_size=100), corpus)
    examples, generator = corpus["test"], np.random.default_rng(0)
    context = Context(subject, examples, range(len(examples)), quiet=True)
    config = permutation.Config(model="additive", data="sst", permutations=TIMES)

    def loop() -> list[Tensor]:
        medians = []
        for batch in subject.batches(examples):
            inputs = dict(batch.inputs) | {"attention_mask": (~batch.special).long()}
            ids, mask = batch.inputs["input_ids"], batch.inputs["attention_mask"].bool()
            hidden, _ = subject.model.encoder(subject.model.embeddings(ids), mask)
            probs = subject.model(**batch.inputs).logits.softmax(-1)
            permuted = loop_over_permutations(subject.model, inputs, hidden, generator).softmax(-1)
            medians.append(((permuted - probs).abs().sum(-1) / 2).median(0).values)
        return medians

    def ours() -> object:
        return permutation.run(config, replace(context))

    times = interleaved({"loop": loop, "ours": ours}, 3)
    mine, theirs = ours()["median_tvd"].mean(), float(torch.cat(loop()).mean())
    row = [
        f"{len(examples)}",
        *(f"{times.median(name):.1f} s" for name in ("loop", "ours")),
        verdict(times.ratio("loop", "ours"), 5, True),
        f"{mine:.4f} / {theirs:.4f}",
    ]
    return table(["sentences of SST", "loop", "`permutation`", "speed-up", "mean of the medians, ours / loop"], [row])
