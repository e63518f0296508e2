"""What watching costs: recording everything, one layer, a streaming rollout, and nothing at all."""

import json
import sys

import torch

from benchmarks.measuring import in_own_process, interleaved, peak_above_start, table, verdict
from benchmarks.models import MODELS, texts
from whence import Rollout, adopt, attending, sites

SHAPES = [(16, 128), (4, 512)]


def variants(make, inputs):
    native, eager, adopted = make("sdpa"), make("eager"), adopt(make("sdpa"))
    middle = list(sites(adopted))[len(sites(adopted)) // 2]

    def watched(watch):
        with attending(adopted, watch=watch):
            adopted(**inputs)

    return {
        "native sdpa": lambda: native(**inputs),
        "native eager, output_attentions": lambda: eager(**inputs, output_attentions=True),
        "adopted, nothing asked": lambda: adopted(**inputs),
        "adopted, recording everything": lambda: watched("*"),
        "adopted, one layer watched": lambda: watched(middle),
        "adopted, streaming rollout": lambda: watched(Rollout()),
    }


def report() -> str:
    """Times as ratios, and peak memory."""
    rows = []
    for name, make in MODELS.items():
        for batch, length in SHAPES:
            with torch.no_grad():
                seconds = interleaved(variants(make, texts(batch, length)))
            sdpa = seconds["native sdpa"]
            eager = seconds["native eager, output_attentions"]
            peaks = {
                variant: in_own_process("benchmarks.recording", name, str(batch), str(length), variant)
                for variant in seconds
            }
            recording = peaks["adopted, recording everything"]
            for variant, time in seconds.items():
                against = {
                    "adopted, nothing asked": verdict(time / sdpa, 1.02),
                    "adopted, recording everything": f"{verdict(time / eager, 1.05)} of eager",
                    "adopted, one layer watched": verdict(time / sdpa, 1.10),
                    "adopted, streaming rollout": verdict(time / sdpa, 1.3),
                }.get(variant, f"{time / sdpa:.3g}×")
                share = f"{peaks[variant] / 2**20:.0f} MB"
                if variant == "adopted, streaming rollout":
                    share += f" = {verdict(peaks[variant] / recording, 0.2)} of recording"
                rows.append([f"{name} {batch} × {length}", variant, f"{1000 * time:.0f} ms", against, share])
    return table(["model, batch", "variant", "median", "ratio to native sdpa", "peak memory"], rows)


if __name__ == "__main__":
    model, batch, length, variant = sys.argv[1:]
    inputs = texts(int(batch), int(length))
    with torch.no_grad():
        run = variants(MODELS[model], inputs)[variant]
        MODELS[model]("sdpa")(**texts(1, 8))  # warm up what a first pass loads
        print(json.dumps(peak_above_start(run)))
