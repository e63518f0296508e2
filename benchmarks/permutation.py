"""One hundred permutations of attention: partial recomputation beside full forward passes, and beside a loop."""

import numpy as np
import torch
from torch import Tensor

from benchmarks.measuring import interleaved, table, verdict
from benchmarks.models import minilm, texts
from whence import Replay, adopt, attending, imposed, permuted, sites
from whence.core.site import masked_softmax
from whence.models import AdditiveConfig, AdditiveForSequenceClassification

TIMES, ROUNDS = 100, 5


def report() -> str:
    """Both comparisons."""
    return f"{minilm_report()}\n\n{additive_report()}"


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
    recorded_too = times.median("full") / (times.median("record") + times.median("replay"))
    if replay.way == "rows":
        limit = 40
    return [
        replay.way,
        f"{times.median('full'):.2f} s",
        f"{times.median('replay'):.3f} s",
        verdict(times.ratio("full", "replay"), limit, at_least=True),
        f"{recorded_too:.1f}×",
        f"{off:.1g}",
    ]


def loop_over_permutations(model, inputs: dict[str, Tensor], hidden: Tensor, generator: np.random.Generator) -> Tensor:
    """A straightforward loop in the manner of the code released with Jain & Wallace 2019, in our own words.

    The encoder has run once. For each permutation the attention is computed anew, each text's weights are shuffled in
    a Python loop, and the decoder is applied.
    """
    mask = inputs["attention_mask"].bool()
    outputs = []
    for _ in range(TIMES):
        weights = masked_softmax(model.score(hidden)[:, None, None], mask[:, None, None])[:, 0, 0]
        shuffled = weights.clone()
        for text, tokens in enumerate(mask.sum(1).tolist()):
            shuffled[text, :tokens] = weights[text, torch.from_numpy(generator.permutation(tokens))]
        context = (shuffled[:, :, None] * hidden).sum(1)
        outputs.append(model.decoder(context))
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

        hidden, replay = encode(), Replay(model, "attention", inputs)
        times = interleaved(
            {
                "loop": loop,
                "ours": lambda inputs=inputs: Replay(model, "attention", inputs)(permuted(0), TIMES),
                "loop, encoded": lambda hidden=hidden, loop=loop: loop(hidden),
                "ours, encoded": lambda replay=replay: replay(permuted(0), TIMES),
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
    header = ["additive, batch", "loop", "ours", "end to end", "loop, encoded", "ours, encoded", "without the encoder",
              "off by"]  # fmt: skip
    return table(header, rows)


if __name__ == "__main__":
    with torch.no_grad():
        print(report())
