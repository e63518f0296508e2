"""Small tokenizers of several kinds whose pieces are known, and subjects of the zoo that read with them."""

from functools import cache

import transformers as hf
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from support import zoo
from whence.subject.subject import Subject

SPECIALS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
WORDS = [
    "the",
    "a",
    "movie",
    "film",
    "story",
    "was",
    "good",
    "bad",
    "not",
    ".",
    "!",
    "?",
    "un",
    "##believ",
    "##able",
    "##s",
]
TEXTS = ["the movie was good", "the story was bad and long", "an unbelievably moving film"]


def wordpiece(**options: object) -> hf.PreTrainedTokenizerFast:
    """As BERT's: [CLS] text [SEP] second text [SEP], lower case, punctuation apart."""
    numbers = {piece: number for number, piece in enumerate(SPECIALS + WORDS)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    given = {"model_input_names": ["input_ids", "token_type_ids", "attention_mask"], "model_max_length": 64, **options}
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        eos_token="[SEP]",
        unk_token="[UNK]",
        **given,
    )


def byte_pairs(**options: object) -> hf.PreTrainedTokenizerFast:
    """As GPT-2's: a space is part of the token after it, there are no special tokens but an end."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=290,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    return hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", **options)


@cache
def reader(name: str) -> Subject:
    """A subject of the zoo that reads with word pieces; built once a process."""
    return Subject(zoo.BY_NAME[name].build(), wordpiece(), name=name)


def is_reader(family: zoo.Family) -> bool:
    """Whether the family reads texts and answers with classes."""
    return family.name not in ("vit", "deit", "beit", "whisper", "pooled-series")
