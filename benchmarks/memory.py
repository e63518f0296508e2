"""Memory that recording holds at 4,096 tokens, 12 layers, 12 heads: never more than a layer or so of weights."""

import json
import sys

import torch

from benchmarks.measure import in_own_process, peak_above_start, table
from benchmarks.models import long_encoder, texts
from whence import HeadProduct, Rollout, Summary, adopt, attending

LENGTH, LAYERS, HEADS = 4096, 12, 12
WATCHERS = {"nothing (sdpa)": None, "Summary": Summary, "Rollout": Rollout, "HeadProduct": HeadProduct, "Tape": None}


def run(name: str) -> None:
    model, inputs = adopt(long_encoder()), texts(1, LENGTH, 1000)
    make = WATCHERS[name]
    watch = "*" if name == "Tape" else None if make is None else make()
    model(**texts(1, 8, 1000))

    def forward():
        with attending(model, watch=watch):
            return model(**inputs)

    print(json.dumps(peak_above_start(forward)))


def report() -> str:
    """Peak memory above a pass without recording, in weights of one layer (heads × N × N floats)."""
    layer = 4 * HEADS * LENGTH**2
    peaks = {name: in_own_process("benchmarks.memory", name) for name in WATCHERS}
    plain = peaks["nothing (sdpa)"]
    rows = [
        [name, f"{peak / 2**20:,.0f} MB", f"{(peak - plain) / 2**20:,.0f} MB", f"{(peak - plain) / layer:.2f}"]
        for name, peak in peaks.items()
    ]
    header = ["watcher", "peak", "above sdpa", f"in layers of weights ({layer / 2**20:,.0f} MB each)"]
    return table(header, rows)


if __name__ == "__main__":
    with torch.no_grad():
        run(sys.argv[1])
