"""Watch and replace the attention of a small model, and see how its predictions change.

A BiLSTM with one additive attention learns to classify synthetic film reviews (seconds on a CPU). Its attention is then
recorded, made uniform, shuffled a hundred times, and kept from its favourite token.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import torch

import whence

SMALL = {"embedding_size": 32, "hidden_size": 32, "epochs": 7, "patience": 7, "learning_rate": 1e-2}


@torch.no_grad()
def main() -> None:
    """Train, watch, replace."""
    with TemporaryDirectory() as folder, torch.enable_grad():
        subject = whence.train("additive", data="reviews", out=Path(folder) / "model", **SMALL)
    batch = subject.encode(whence.corpus("reviews")["test"])
    labels = batch.labels[:, 0]

    with whence.attending(subject.model) as tape:
        probabilities = subject.predict(batch)[:, 0]  # [batch class]
    weights = tape.only("attention").weights[:, 0, 0]  # [batch token]
    print("attention to the tokens of the first review:")
    for token, weight, special in zip(batch.tokens[0], weights[0], batch.special[0], strict=True):
        if not special:
            print(f"  {token:10s} {weight:.2f} {'█' * round(40 * float(weight))}")

    def accuracy(override: object = None) -> float:
        with whence.attending(subject.model, watch=None, override=override):
            return 100 * float((subject.predict(batch)[:, 0].argmax(-1) == labels).float().mean())

    print(f"\naccuracy on {len(batch)} test reviews")
    print(f"  as trained                   {accuracy():5.1f} %")
    print(f"  uniform attention            {accuracy(whence.uniform):5.1f} %")
    print(f"  random attention             {accuracy(whence.random(0)):5.1f} %")
    print(f"  permuted attention           {accuracy(whence.permuted(0)):5.1f} %")
    favourite = torch.nn.functional.one_hot(weights.argmax(-1), weights.shape[1]).bool()
    print(f"  without its favourite token  {accuracy(whence.without(favourite)):5.1f} %")

    replay = whence.Replay(subject.model, "attention", batch.inputs)
    permuted = replay(whence.permuted(0), times=100).softmax(-1)  # [100 batch class]
    total_variation = (permuted - probabilities).abs().sum(-1).div(2).median(0).values  # [batch]
    print("\nchange of the prediction under permuted attention (total variation, median of 100 permutations)")
    for low, high in [(0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.01)]:
        chosen = (weights.amax(-1) >= low) & (weights.amax(-1) < high)
        if bool(chosen.any()):
            change = float(total_variation[chosen].mean())
            print(f"  largest weight {low:.2f}-{min(high, 1):.2f}: {change:.2f}  ({int(chosen.sum())} reviews)")


if __name__ == "__main__":
    main()
