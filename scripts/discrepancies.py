"""Discrepancies in the papers that Whence reproduces, each shown in seconds: `python scripts/discrepancies.py [NAME]`.

What each means, and those that need a training: docs/reproductions/discrepancies.md.
"""

import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import torch
from scipy.stats import kendalltau

import whence
from whence.data.syntax.random_trees import arc_standard, uniform
from whence.explainers.lat import accumulated
from whence.models.additive import AdditiveConfig, AdditiveForSequenceClassification
from whence.reproducing.relative_loss import published_losses
from whence.reproducing.study import RelativeLoss
from whence.reproducing.study_files import read


def relative_decrease() -> None:
    """Vashishth et al. 2019, §4.1: the average decrease of single texts does not follow from Table 1."""
    study = read("vashishth2019")
    (summary,) = (one for one in study.summary if isinstance(one, RelativeLoss))
    text = {"single texts": 0.1, "pairs of texts": 49.5, "translation": 51.2}
    for group, share in published_losses(study, summary).items():
        print(f"{group}: {text[group]} % in the text, {share:.1f} % from the tables")


@torch.no_grad()
def only_path() -> None:
    """Vashishth et al. 2019, Table 2: without attention the second text cannot reach the prediction at all."""
    torch.manual_seed(0)
    model = AdditiveForSequenceClassification(AdditiveConfig(vocab_size=50, pairs=True)).eval()
    texts = torch.randint(5, 50, (100, 12))
    kinds = (torch.arange(12) >= 8).long().expand_as(texts)
    other = torch.cat([texts[:, :8], texts[:, 8:].roll(1, 0)], 1)  # the second text of another pair
    for name, rule in (("its own attention", None), ("uniform attention", whence.uniform)):
        with whence.attending(model, override=rule, watch=None):
            one, two = (model(ids, torch.ones_like(ids), kinds).logits for ids in (texts, other))
        print(f"{name}: another second text changes the logits by at most {float((one - two).abs().max()):.1e}")
    for system, accuracy, change in (("Bahdanau", 75.7, -41.8), ("Rocktäschel", 78.1, -44.2)):
        print(f"published, SNLI, {system}: {accuracy} {change} = {accuracy + change:.1f}, in three classes")


def random_parser(draws: int = 20_000) -> None:
    """Varano 2019, §3.3: the random parser, meant as chance, prefers flat trees."""
    for name, draw in (("random arc-standard parser", arc_standard), ("uniform", uniform)):
        rng = np.random.default_rng(0)
        found = Counter(draw((1, 2, 3, -1), rng) for _ in range(draws))
        shares = sorted(count * 4**3 / draws for count in found.values())  # 64 trees of four words
        print(f"{name}: {len(found)} trees, each {shares[0]:.2f} to {shares[-1]:.2f} times as likely as it should be")


def safe_point() -> None:
    """Yang 2019, §5: by the authors' own numbers there is no λ up to which adversaries keep their F1."""
    numbers = [number for figure in read("yang2019").figure for number in figure.number if number.where]
    sweep = {
        float(number.quantity.removeprefix("share at ")): float(number.value)
        for number in numbers
        if number.quantity.startswith("share at ") and isinstance(number.value, float)
    }
    turns = [after for before, after in pairwise(sorted(sweep)) if (sweep[before] < 0.8) != (sweep[after] < 0.8)]
    for strength in turns:
        print(f"λ = {strength}: F1 {sweep[strength]} ({'broken' if sweep[strength] < 0.8 else 'kept'})")


def head_numbers(texts: int = 200) -> None:
    """Wu et al. 2020, Eq. 10: LAT follows each head to the head of the same number, and numbers are arbitrary."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(6, texts, 8, 12, 12, generator=generator).mul(4).softmax(-1)  # [depth batch head query key]
    start = torch.rand(texts, 12, generator=generator).softmax(-1)
    renumbered = torch.stack([layer[:, torch.randperm(8, generator=generator)] for layer in weights])
    lat = [accumulated(start, one)[0].sum(1).numpy() for one in (weights, renumbered)]
    mixed = [accumulated(start, one.mean(2, keepdim=True))[0].sum(1).numpy() for one in (weights, renumbered)]
    for name, (one, two) in (("LAT", lat), ("mean of the heads", mixed)):
        tau = np.mean([kendalltau(a, b).statistic for a, b in zip(one, two, strict=True)])
        print(f"{name}: Kendall's τ {tau:.2f} between scores of one model whose heads are numbered in two ways")


SHOWN = {one.__name__: one for one in (relative_decrease, only_path, random_parser, safe_point, head_numbers)}


def main(names: list[str]) -> None:
    """Show the named discrepancies, or all."""
    unknown = sorted(set(names) - set(SHOWN))
    if unknown:
        sys.exit(f"no discrepancy is called {', '.join(unknown)}; choose from: {', '.join(SHOWN)}")
    for name in names or SHOWN:
        print(f"{SHOWN[name].__doc__}")
        SHOWN[name]()
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
