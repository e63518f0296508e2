"""What recording costs: recording everything, one layer, a streaming rollout, and nothing at all.

Each variant is timed in turn with what it is measured against, two at a time, so that the passes of a round follow one
another at once: the speed of a machine that others share drifts within a minute by more than is to be measured. A ratio
has the 95 % interval of its median over the rounds; recording goes on until its interval leaves the limit on one side,
or for four minutes.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import torch
from transformers import PreTrainedModel

from benchmarks.measure import Times, in_own_process, interleaved, peak_above_start, table, verdict
from benchmarks.models import MODELS, texts
from whence import Rollout, adopt, attending, release, sites

SHAPES = [(16, 128), (4, 512)]
SDPA, EAGER = "native sdpa", "native eager, output_attentions"
IDLE, ALL, ONE, ROLLOUT = (
    "adopted, nothing recorded",
    "adopted, recording everything",
    "adopted, one layer watched",
    "adopted, streaming rollout, read from the first token",
)
BASES = {IDLE: SDPA, ALL: EAGER, ONE: SDPA, ROLLOUT: SDPA}  # what each variant is measured against
VARIANTS = [SDPA, EAGER, *BASES]
LIMITS = {IDLE: 1.02, ALL: 1.05, ONE: 1.10, ROLLOUT: 1.3}
ROUNDS = 9


class Watched:
    """One model, adopted or as it was: variants that share it do not differ in where memory put it."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model, self.how = model, SDPA

    def be(self, how: str) -> PreTrainedModel:
        """The model as it is wanted: native sdpa, native eager, or adopted; a change costs a pass, in the run that is
        not timed.
        """
        how = how if how in (SDPA, EAGER) else "adopted"
        if how != self.how:
            if self.how == "adopted":
                release(self.model)
            if how == "adopted":
                self.model.set_attn_implementation("sdpa")
                adopt(self.model)
            else:
                self.model.set_attn_implementation("eager" if how == EAGER else "sdpa")
            self.how = how
        return self.model


def prepared(variant: str, subject: Watched, inputs: dict[str, Any]) -> Callable[[], object]:
    """A variant, ready to run."""
    first = torch.zeros(inputs["input_ids"].shape).index_fill_(1, torch.tensor([0]), 1.0)  # [batch query]

    def run() -> object:
        model = subject.be(variant)
        if variant == EAGER:
            return model(**inputs, output_attentions=True)
        if variant in (SDPA, IDLE):
            return model(**inputs)
        watch = {ALL: "*", ONE: middle(model), ROLLOUT: Rollout()}[variant]
        with attending(model, watch=watch) as tape:
            logits = model(**inputs)
        return logits, watch.read_from(first) if isinstance(watch, Rollout) else tape

    return run


def middle(model: PreTrainedModel) -> str:
    """The name of the site half-way up."""
    return list(sites(model))[len(sites(model)) // 2]


def report() -> str:
    """Times as ratios, and peak memory."""
    return table(
        ["model, batch", "variant", "median", "time, as a ratio", "peak memory"],
        [row for name in MODELS for shape in SHAPES for row in rows(name, *shape)],
    )


def rows(name: str, batch: int, length: int) -> list[list[str]]:
    inputs = texts(batch, length)
    subject = Watched(MODELS[name]("sdpa"))
    run = {variant: prepared(variant, subject, inputs) for variant in VARIANTS}
    times = {one: interleaved({one: run[one], BASES[one]: run[BASES[one]]}, ROUNDS, settled(one)) for one in BASES}
    medians = {SDPA: times[IDLE].median(SDPA), EAGER: times[ALL].median(EAGER)}
    medians |= {one: times[one].median(one) for one in BASES}
    peaks = {
        variant: in_own_process("benchmarks.recording", name, str(batch), str(length), variant) for variant in VARIANTS
    }
    ratios = {one: ratio(times[one], one, name) for one in BASES}
    ratios[EAGER] = f"{medians[EAGER] / medians[SDPA]:.3g}× sdpa"
    memory = {variant: f"{peak / 2**20:.0f} MB" for variant, peak in peaks.items()}
    share = peaks[ROLLOUT] / peaks[ALL]
    memory[ROLLOUT] += f" = {verdict(share, 0.2) if length == 512 else f'{share:.3g}×'} recording"  # set for 4 × 512
    return [
        [
            f"{name} {batch} × {length}",
            variant,
            f"{1000 * medians[variant]:.0f} ms",
            ratios.get(variant, ""),
            memory[variant],
        ]
        for variant in VARIANTS
    ]


def touched(model: PreTrainedModel, inputs: dict[str, Any]) -> PreTrainedModel:
    """The model after a pass of this shape: its weights are in memory, and the libraries have what they keep."""
    model(**inputs)
    return model


def settled(variant: str) -> Callable[[Times], bool]:
    """Whether it is known on which side of its limit recording is; what has more room ends when its time is over."""
    if variant != ALL:
        return lambda _: True

    def leaves_the_limit(times: Times) -> bool:
        low, high = times.interval(ALL, EAGER)
        return not low <= LIMITS[ALL] <= high

    return leaves_the_limit


def ratio(times: Times, variant: str, model: str) -> str:
    """A variant's time compared with its base's, its limit, and the interval. One layer of twelve has a limit; MiniLM
    has six layers.
    """
    base = BASES[variant]
    taken, (low, high) = times.ratio(variant, base), times.interval(variant, base)
    judged = f"{taken:.3g}×" if variant == ONE and model == "MiniLM" else verdict(taken, LIMITS[variant])
    judged = judged.replace(")", ", not settled)") if low <= LIMITS[variant] <= high else judged
    return f"{judged} {'eager' if base == EAGER else 'sdpa'}; {low:.2f} to {high:.2f}"


if __name__ == "__main__":
    model, batch, length, variant = sys.argv[1:]
    inputs = texts(int(batch), int(length))
    with torch.no_grad():
        subject = Watched(touched(MODELS[model]("sdpa"), inputs))
        subject.be(variant)
        run = prepared(variant, subject, inputs)
        print(json.dumps(peak_above_start(run)))
