"""The features of every token, and tokenizers that know them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer
from tokenizers.models import WordLevel, WordPiece
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from whence.calibration.texts import PLAIN, decides, speaks_for, vocabulary
from whence.data.rng import seeded_rng

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
Features = Mapping[str, float]
LEAN = 1.5  # what a leaning word is worth; a deciding one is worth 1: with less than 0.6 of the weight it loses


@dataclass(frozen=True)
class Scores:
    """What is added to a token's score in the last layer, in tenths of nats: `deciding` words, [SEP], [CLS], others.

    0.6 gives a deciding word 97 % of the weight among eleven others.
    """

    deciding: float = 0.6
    sep: float = -2.0
    cls: float = -2.0
    spread: float = 0.05  # of the others, around 0


def word_features(seed: int, scores: Scores, leaning: float = LEAN) -> dict[str, dict[str, float]]:
    """For every token its features: its score, what it speaks for, and a mark if it decides.

    Leaning words speak for their class with a weight of `leaning`; 0 makes them plain.
    """
    rng = seeded_rng(seed, "scores")
    features: dict[str, dict[str, float]] = {name: {} for name in SPECIALS}
    features |= {"[CLS]": {"score": scores.cls}, "[SEP]": {"score": scores.sep}}
    for word in vocabulary():
        score = scores.deciding if word in decides() else float(rng.uniform(-scores.spread, scores.spread))
        features[word] = {"score": score}
        if word not in PLAIN:
            features[word] |= {f"value{speaks_for()[word]}": 1.0 if word in decides() else leaning}
        if word in decides():
            features[word]["mark"] = 1.0
    return features


def word_level(words: Sequence[str], framed: bool = True) -> PreTrainedTokenizerFast:
    """A tokenizer of whole words; `framed` as BERT's, [CLS] text [SEP] second text [SEP], else the text alone."""
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    return _finished(tokenizer, framed)


def word_pieces(pieces: Sequence[str]) -> PreTrainedTokenizerFast:
    """A tokenizer of word pieces, the later ones of a word written ##piece."""
    tokenizer = Tokenizer(WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    return _finished(tokenizer, True)


def _finished(tokenizer: Tokenizer, framed: bool) -> PreTrainedTokenizerFast:
    tokenizer.pre_tokenizer = WhitespaceSplit()
    if framed:
        numbers = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", numbers)
    marks = {"cls_token": "[CLS]", "sep_token": "[SEP]"} if framed else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        model_max_length=32,
        model_input_names=["input_ids", "attention_mask", *(["token_type_ids"] if framed else [])],
        **marks,
    )
