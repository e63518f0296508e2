"""Three readings of Wu et al. 2020's model, `pooled`: its text, its authors' code, corrected.

- `paper`: cross-entropy (§5.1), and an encoder "identical to the original Transformer encoder" (§2): words scaled by
  the root of the width and sinusoidal positions, and layer norm after each sub-layer, as Vaswani et al. 2017 have it.
- `author-code`: no positions, so that a text is a bag of words; layer norm before attention on the queries alone; a
  sigmoid for each class with binary cross-entropy, summed over classes and texts, so that weight decay has little
  effect; dropout in the first epoch alone, because nothing switches it on again after the first evaluation on dev.
- `corrected`: the authors' encoder without likely errors. Cross-entropy, since a text has one label; dropout
  throughout; layer norm before attention on queries, keys and values alike. Still no positions, as in the code that
  made the published numbers.

What text and code agree on, or one of them alone says, holds in all three: Adam at 1e-4 (§6.1), weight decay 1e-4 on
everything, batches of 500 texts (25 narratives for SEND), up to 300 epochs, the best on dev kept; word vectors that are
not trained, of the words of all splits.

Differs from the paper: word vectors narrower than the hidden states (300) are projected to that width by a learned
linear map; a word without a vector gets a random one (the code for SEND: zeros); training ends after 20 epochs that are
no better on dev. The code cuts sentence scores from 0 to 1 at .2, .4, .6 and .8, a score on a cut going to the lower
class; `sst:fine` takes the label 0 to 4 at the root of each published tree, which is the same division.
"""

from typing import Any

PRESETS: dict[str, Any] = {
    "batch_size": 500,
    "epochs": 300,
    "patience": 20,
    "optimizer": "adam",
    "learning_rate": 1e-4,
    "weight_decay": 1e-4,
}
MODES: dict[str, dict[str, Any]] = {
    "paper": {"positions": "sinusoidal", "norm": "post", "loss": "cross_entropy", "dropout_epochs": 0},
    "author-code": {"positions": "none", "norm": "query", "loss": "binary", "dropout_epochs": 1},
    "corrected": {"positions": "none", "norm": "pre", "loss": "cross_entropy", "dropout_epochs": 0},
}
SERIES_MODES = {  # a series has its squared error, and dropout throughout
    mode: {name: options[name] for name in ("positions", "norm")} for mode, options in MODES.items()
}
