"""Word-level tokenizers for the reference models, made from a corpus."""

from collections import Counter
from collections.abc import Collection, Iterable

from tokenizers import Tokenizer
from tokenizers.decoders import Metaspace as MetaspaceDecoder
from tokenizers.models import BPE, WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Metaspace, Punctuation, Sequence, Whitespace, WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

from whence.data.examples import Example

PAD, UNK, BOS, EOS = "<pad>", "<unk>", "<s>", "</s>"
SPECIAL_TOKENS = (PAD, UNK, BOS, EOS)
LONGEST = 5_000  # tokens; a recurrent model has no limit of its own


def word_tokenizer(
    examples: Collection[Example], *, min_count: int = 1, lowercase: bool = True, framed: bool = True
) -> PreTrainedTokenizerFast:
    """A tokenizer whose tokens are the words of these examples, `<s> text </s> second text </s>`.

    Texts that come in words are taken as they are; others are split into words and punctuation. A word seen fewer than
    `min_count` times is `<unk>`. For translators texts are not `framed`: `text </s>`, and target words are words too.
    """
    in_words = all(example.words is not None for example in examples)
    splitter = WhitespaceSplit() if in_words else Whitespace()
    normalizer = Lowercase() if lowercase else None
    counts = Counter(_words(examples, splitter, normalizer))
    kept = [word for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count >= min_count]
    numbers = {
        word: number for number, word in enumerate([*SPECIAL_TOKENS, *(w for w in kept if w not in SPECIAL_TOKENS)])
    }
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=UNK))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    return _finished(tokenizer, framed)


def subword_tokenizer(
    examples: Collection[Example], size: int, *, lowercase: bool = True, framed: bool = True
) -> PreTrainedTokenizerFast:
    """A tokenizer of `size` subwords (byte-pair encoding, Sennrich et al. 2016), learned from these examples."""
    tokenizer = Tokenizer(BPE(unk_token=UNK))
    if lowercase:
        tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Sequence([Metaspace(), Punctuation()])
    tokenizer.decoder = MetaspaceDecoder()
    trainer = BpeTrainer(vocab_size=size, special_tokens=list(SPECIAL_TOKENS), show_progress=False)
    tokenizer.train_from_iterator(_texts(examples), trainer)
    return _finished(tokenizer, framed)


def _finished(tokenizer: Tokenizer, framed: bool) -> PreTrainedTokenizerFast:
    """With the special tokens around a text, or after it."""
    begin = f"{BOS} " if framed else ""
    tokenizer.post_processor = TemplateProcessing(
        single=f"{begin}$A {EOS}",
        pair=f"{begin}$A {EOS} $B:1 {EOS}:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (BOS, EOS)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        unk_token=UNK,
        bos_token=BOS,
        eos_token=EOS,
        model_max_length=LONGEST,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def _texts(examples: Iterable[Example]) -> Iterable[str]:
    for example in examples:
        yield from (text for text in (example.text, example.pair, example.target) if text is not None)


def _words(
    examples: Iterable[Example], splitter: Whitespace | WhitespaceSplit, normalizer: Lowercase | None
) -> Iterable[str]:
    for text in _texts(examples):  # lowercased as the tokenizer will: Python's own makes another word of ΟΔΟΣ
        normal = text if normalizer is None else normalizer.normalize_str(text)
        yield from (word for word, _ in splitter.pre_tokenize_str(normal))
