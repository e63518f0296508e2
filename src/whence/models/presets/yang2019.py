"""Three readings of Yang 2019's model, the `transformer` as a tagger of chunks: its text, its authors' code, corrected.

- `paper`: "the encoder part setup is identical to Vaswani et al., 2017" (§4.1), so layer norm after each sub-layer and
  words scaled by the root of the width; "the attention mask is disable".
- `author-code`: the encoder of torchnlp, with layer norm first, ReLU and dropout also after the second map of the
  feed-forward, and dropout on whole sums; padding is attended to. Words that are digits alone are 0: train on
  `conll2000:digits`. The best epoch was chosen on the test sentences.
- `corrected`: the same encoder without the additional ReLU and dropout, and padding is masked.

What only the code says holds in all three: one layer of 128 units (§4.1: four heads), 128 inside the feed-forward;
dropout .2; word vectors that are not trained, of the words of all splits, projected to 128 by a map without bias; Adam
with β = (.9, .98), its rate going up for 500 steps and then down with the root of the steps; batches of 100, up to 100
epochs, until five were no better.

*Differs from the authors' code*, where words are GloVe's 200 dimensions and 100 of character n-grams, and a word
without a vector is zero (here it is drawn); sines and cosines of positions stand in two blocks; the deviation of a
layer norm is the unbiased one; the loss is the mean over all places, those of padding and of the special tokens
included.
"""

from typing import Any

FROM_CODE: dict[str, Any] = {
    "hidden_size": 128,
    "layers": 1,
    "heads": 4,
    "feed_forward_size": 128,
    "dropout": 0.2,
    "freeze": True,
    "batch_size": 100,
    "epochs": 100,
    "patience": 5,
    "optimizer": "adam98",
    "schedule": "noam",
    "warm_up": 500,
    "learning_rate": round(0.2 * 10 / (128 * 500) ** 0.5, 5),
    "weight_decay": 0.0,
    "clip": 0.0,
}
MODES: dict[str, dict[str, Any]] = {
    "paper": {**FROM_CODE, "norm": "post", "form": "vaswani", "rectified": False, "masks_padding": False},
    "author-code": {
        **FROM_CODE,
        "norm": "pre",
        "form": "torchnlp",
        "rectified": True,
        "masks_padding": False,
        "select_on": "test",
    },
    "corrected": {**FROM_CODE, "norm": "pre", "form": "torchnlp", "rectified": False, "masks_padding": True},
}
