"""The core at work: watch and replace the attention of a small model, and see what becomes of its predictions.

A small classifier learns to say whether a sentence holds more good words than bad ones. Its one attention is then
watched, made uniform, shuffled a hundred times, and deprived of its favourite word.
"""

import torch

from whence import Replay, attending, permuted, random, uniform, without
from whence.core.seeds import stream
from whence.models import AdditiveConfig, AdditiveForSequenceClassification

GOOD, BAD = ["good", "fine", "lovely", "superb"], ["bad", "dull", "awful", "clumsy"]
FILLER = ["the", "a", "film", "plot", "actor", "scene", "was", "is", "and", "very"]
WORDS = ["<pad>", *GOOD, *BAD, *FILLER]
ID = {word: i for i, word in enumerate(WORDS)}


def sentences(n: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Ten words each, one to three of them opinions; label 1 if more are good than bad, and never a draw."""
    ids = torch.randint(ID["the"], len(WORDS), (n, 10), generator=generator)
    labels = torch.randint(2, (n,), generator=generator)
    for row in range(n):
        opinions = 1 + 2 * int(torch.randint(2, (), generator=generator))  # one or three
        places = torch.randperm(10, generator=generator)[:opinions]
        against = int(opinions == 3)
        for i, place in enumerate(places):
            good = bool(labels[row]) == (i >= against)
            words = GOOD if good else BAD
            ids[row, place] = ID[words[int(torch.randint(4, (), generator=generator))]]
    return ids, labels


def trained(generator: torch.Generator) -> AdditiveForSequenceClassification:
    """A BiLSTM with additive attention, trained for a few seconds."""
    torch.manual_seed(0)
    config = AdditiveConfig(vocab_size=len(WORDS), embedding_size=16, hidden_size=16)
    model = AdditiveForSequenceClassification(config)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(200):
        ids, labels = sentences(64, generator)
        optimiser.zero_grad()
        model(ids, labels=labels).loss.backward()
        optimiser.step()
    return model.eval()


@torch.no_grad()
def main() -> None:
    """Train, watch, replace."""
    generator = stream(0, "sentences")
    with torch.enable_grad():
        model = trained(generator)
    ids, labels = sentences(500, generator)

    with attending(model) as tape:
        probs = model(ids).logits.softmax(-1)
    weights = tape.only("attention").weights[:, 0, 0]  # [batch token]
    print("where the first sentence's attention lies:")
    for word, weight in zip(ids[0], weights[0], strict=True):
        print(f"  {WORDS[word]:8s} {weight:.2f} {'█' * round(40 * float(weight))}")

    def accuracy(**options: object) -> float:
        with attending(model, watch=None, **options):  # type: ignore[arg-type]
            return 100 * float((model(ids).logits.argmax(-1) == labels).float().mean())

    print("\naccuracy on 500 new sentences")
    print(f"  as trained             {accuracy():5.1f} %")
    print(f"  uniform attention      {accuracy(override=uniform):5.1f} %")
    print(f"  random attention       {accuracy(override=random(0)):5.1f} %")
    print(f"  permuted attention     {accuracy(override=permuted(0)):5.1f} %")
    favourite = torch.nn.functional.one_hot(weights.argmax(-1), 10).bool()
    print(f"  without its favourite  {accuracy(override=without(favourite)):5.1f} %")

    moved = Replay(model, "attention", {"input_ids": ids})(permuted(0), times=100).softmax(-1)  # [100 batch class]
    total_variation = (moved - probs).abs().sum(-1).div(2).median(0).values  # [batch]
    print("\nhow far the prediction moves when attention is shuffled (median of 100, total variation)")
    for low, high in [(0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.01)]:
        chosen = (weights.amax(-1) >= low) & (weights.amax(-1) < high)
        if bool(chosen.any()):
            print(f"  largest weight {low:.2f}-{min(high, 1):.2f}: {float(total_variation[chosen].mean()):.2f}"
                  f"  ({int(chosen.sum())} sentences)")  # fmt: skip


if __name__ == "__main__":
    main()
