"""Word-level tokenizers for the reference models, made from a corpus."""

from collections import Counter
from collections.abc import Collection, Iterable

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace, WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from whence.data.examples import Example

PAD, UNK, BOS, EOS = "<pad>", "<unk>", "<s>", "</s>"
SPECIALS = (PAD, UNK, BOS, EOS)
LONGEST = 5_000  # tokens; a recurrent model has no limit of its own


def word_tokenizer(
    examples: Collection[Example], *, min_count: int = 1, lowercase: bool = True
) -> PreTrainedTokenizerFast:
    """A tokenizer whose tokens are the words of these examples, `<s> text </s> second text </s>`.

    Texts that come in words are taken as they are; others are split into words and punctuation. A word seen fewer than
    `min_count` times is `<unk>`.
    """
    in_words = all(example.words is not None for example in examples)
    splitter = WhitespaceSplit() if in_words else Whitespace()
    normalizer = Lowercase() if lowercase else None
    counts = Counter(_words(examples, splitter, normalizer))
    kept = [word for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count >= min_count]
    numbers = {word: number for number, word in enumerate([*SPECIALS, *(w for w in kept if w not in SPECIALS)])}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=UNK))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    tokenizer.post_processor = TemplateProcessing(
        single=f"{BOS} $A {EOS}",
        pair=f"{BOS} $A {EOS} $B:1 {EOS}:1",
        special_tokens=[(BOS, numbers[BOS]), (EOS, numbers[EOS])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, unk_token=UNK, bos_token=BOS, eos_token=EOS,
        model_max_length=LONGEST, model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip


def _words(
    examples: Iterable[Example], splitter: Whitespace | WhitespaceSplit, normalizer: Lowercase | None
) -> Iterable[str]:
    for example in examples:
        for text in (example.text, example.pair):
            if text is not None:  # lowercased as the tokenizer will: Python's own makes another word of ΟΔΟΣ
                normal = text if normalizer is None else normalizer.normalize_str(text)
                yield from (word for word, _ in splitter.pre_tokenize_str(normal))
