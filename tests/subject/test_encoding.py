"""Tokens, the words they are pieces of, and padding: by hand."""

import pytest
import torch
import transformers as hf
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers import models as token_models
from tokenizers.processors import ByteLevel

from support import zoo
from support.models.classifier import classifier
from support.tokenizing import byte_pairs, is_reader, reader, wordpiece
from whence.core.errors import BadData, CannotLoad
from whence.data.examples import Example
from whence.subject.encoding import DEFAULT_LIMIT, bucketed
from whence.subject.subject import Subject
from whence.training.vocabulary import word_tokenizer


def gpt2(**tokenizer):
    torch.manual_seed(0)
    config = hf.GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)
    return Subject(hf.GPT2LMHeadModel(config), byte_pairs(**tokenizer))


# tokens and words


def test_pieces_of_words_specials_and_padding_by_hand():
    batch = reader("bert").encode([Example("Unbelievable movies!"), Example("bad")], [7, 3])
    assert batch.tokens == (
        ("[CLS]", "un", "##believ", "##able", "movie", "##s", "!", "[SEP]"),
        ("[CLS]", "bad", "[SEP]", "[PAD]", "[PAD]", "[PAD]", "[PAD]", "[PAD]"),
    )
    assert batch.word.tolist() == [[-1, 0, 0, 0, 1, 1, 2, -1], [-1, 0, -1, -1, -1, -1, -1, -1]]
    assert batch.special.nonzero().tolist() == [[0, 0], [0, 7], [1, 0], *[[1, place] for place in range(2, 8)]]
    assert batch.mask[1].tolist()[:4] == [True, True, True, False]
    assert batch.examples.tolist() == [7, 3]
    assert len(batch) == 2


def test_words_of_a_pair_are_counted_in_each_text():
    batch = reader("bert").encode([Example("the movies was unbelievable", pair="good film ?")])
    assert batch.tokens[0] == (
        "[CLS]",
        "the",
        "movie",
        "##s",
        "was",
        "un",
        "##believ",
        "##able",
        "[SEP]",
        "good",
        "film",
        "?",
        "[SEP]",
    )
    assert batch.word[0].tolist() == [-1, 0, 1, 1, 2, 3, 3, 3, -1, 0, 1, 2, -1]
    assert batch.segment[0].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0]
    assert batch.inputs["token_type_ids"][0].tolist() == [0] * 9 + [1] * 4
    assert batch.special[0].nonzero().flatten().tolist() == [0, 8, 12]


def test_an_unknown_word_is_a_word_and_not_special():
    batch = reader("bert").encode([Example("a zebra")])
    assert batch.tokens[0] == ("[CLS]", "a", "zebra", "[SEP]")
    assert batch.special[0].tolist() == [True, False, False, True]


def test_words_of_the_corpus_count_where_it_has_some():
    """`good.` is two words to the tokenizer; the corpus says it is one."""
    words = ("unbelievable", "story", "good.", "!")
    plain = reader("bert").encode([Example(" ".join(words))])
    given = reader("bert").encode([Example(" ".join(words), words=words, pair="a b", pair_words=("a b",))])
    assert plain.word[0].tolist() == [-1, 0, 0, 0, 1, 2, 3, 4, -1]
    assert given.word[0].tolist() == [-1, 0, 0, 0, 1, 2, 2, 3, -1, 0, 0, -1]


@pytest.mark.parametrize("trim", [True, False])
def test_words_are_tokenized_as_in_a_text(trim):
    """A byte-level tokenizer that is given words one by one would lose the spaces that are part of its tokens."""
    subject = gpt2()
    subject.tokenizer.backend_tokenizer.post_processor = ByteLevel(trim_offsets=trim)
    words = ("the", "movie", "was", "x-good", "é")
    batch = subject.encode([Example(" ".join(words), words=words)])
    assert batch.inputs["input_ids"][0].tolist() == subject.tokenizer(" ".join(words))["input_ids"]
    spelled: list[list[int]] = [[] for _ in words]
    for token, number in zip(batch.inputs["input_ids"][0].tolist(), batch.word[0].tolist(), strict=True):
        spelled[number].append(token)
    assert [subject.tokenizer.decode(ids).strip() for ids in spelled] == list(words)


LETTERS = st.characters(codec="utf-8", exclude_categories=["Z", "C"])


@settings(max_examples=50)
@given(st.lists(st.text(LETTERS, min_size=1, max_size=6), min_size=2, max_size=6))
def test_every_piece_lies_in_its_word(words):
    subject = BYTES
    batch = subject.encode([Example(" ".join(words), words=tuple(words))])
    spelled: dict[int, list[int]] = {}
    for token, number in zip(batch.inputs["input_ids"][0].tolist(), batch.word[0].tolist(), strict=True):
        spelled.setdefault(number, []).append(token)
    assert [subject.tokenizer.decode(spelled[n]).strip() for n in range(len(words))] == words


def test_a_tokenizer_that_does_not_split_texts_has_words_between_spaces():
    pieces = {"[PAD]": 0, "a": 1, "b": 2, " ": 3, "ab": 4, " b": 5}
    whole = Tokenizer(token_models.BPE(pieces, [("a", "b"), (" ", "b")]))
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=whole, pad_token="[PAD]")
    batch = classifier(tokenizer=tokenizer).encode([Example("ab ba  a b")])
    assert batch.tokens[0] == ("ab", " b", "a", " ", " ", "a", " b")
    assert batch.word[0].tolist() == [0, 1, 1, 1, 2, 2, 3]


def test_word_level_tokens_are_the_words():
    corpus = [Example("Where is Clara ?"), Example("She left .")]
    model = zoo.BY_NAME["additive-lstm-additive"].build()
    batch = Subject(model, word_tokenizer(corpus)).encode(corpus)
    assert batch.tokens == (
        ("<s>", "where", "is", "clara", "?", "</s>"),
        ("<s>", "she", "left", ".", "</s>", "<pad>"),
    )
    assert batch.word.tolist() == [[-1, 0, 1, 2, 3, -1], [-1, 0, 1, 2, -1, -1]]


# too long, empty, and other bad texts


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2", "opt", "t5", "xlm", "transformer-post-learned"])
def test_a_text_that_is_too_long_is_cut_and_flagged(name):
    model = zoo.BY_NAME[name].build()
    tokenizer = wordpiece(model_max_length=10**30)
    subject = Subject(model, tokenizer)
    subject.encoder.max_length = min(subject.encoder.max_length, 600 if name == "t5" else 10**9)
    limit = subject.encoder.max_length
    long, short = " ".join(["good"] * 3000), "good"
    batch = subject.encode([Example(long, target="a"), Example(short, target="a")])
    assert batch.truncated.tolist() == [True, False]
    assert batch.special.shape[1] == limit
    assert subject.predict(batch).isfinite().all()


@pytest.mark.parametrize(
    ("name", "limit"), [("roberta", 511), ("bert", 512), ("gpt2", 1024), ("xlm", 64), ("opt", 2048)]
)
def test_the_longest_text_is_what_the_positions_allow(name, limit):
    """By hand: RoBERTa's 512 positions begin after its padding number 0; the others begin at 0."""
    assert Subject(zoo.BY_NAME[name].build(), wordpiece(model_max_length=10**30)).encoder.max_length == limit


@pytest.mark.parametrize("name", ["xlnet", "t5", "additive-lstm-dot", "bloom"])
def test_a_model_without_a_limit_has_its_tokenizers(name):
    assert reader(name).encoder.max_length == 64
    unlimited = Subject(zoo.BY_NAME[name].build(), wordpiece(model_max_length=10**30))
    batch = unlimited.encode([Example("good " * 700, target="a")])
    assert batch.special.shape[1] == 702
    assert not batch.truncated.any()


def test_a_pair_that_is_too_long_is_flagged():
    batch = reader("bert").encode([Example("good " * 10, pair="bad " * 100), Example("good", pair="bad")])
    assert batch.truncated.tolist() == [True, False]


def test_a_target_that_is_too_long_is_flagged():
    examples = [Example("good", target="bad " * 100), Example("good", target="bad"), Example("good " * 99, target="a")]
    assert reader("bart").encode(examples).truncated.tolist() == [True, False, True]


@pytest.mark.parametrize("empty", ["", "   ", "\n\t"])
@pytest.mark.parametrize("name", ["bert", "t5", "llama", "xlm-roberta", "additive-lstm-additive"])
def test_an_empty_text_is_refused_by_its_number(name, empty):
    with pytest.raises(BadData, match=r"example 12 \(counted from 0\): its text is empty; .*remove the ex"):
        reader(name).encode([Example("good", target="a"), Example(empty, target="a")], [3, 12])


def test_no_words_at_all_are_refused():
    with pytest.raises(BadData, match="example 0 "):
        reader("bert").encode([Example("", words=())])


def test_a_language_model_needs_two_tokens():
    subject = gpt2()
    assert subject.encode([Example("xy")]).predicted_positions.tolist() == [[True]]
    with pytest.raises(BadData, match=r"example 1 .*: there is nothing to predict \(each token from those before it\)"):
        subject.encode([Example("the movie"), Example("a")])


def test_some_pairs_and_some_not_are_refused():
    with pytest.raises(BadData, match="some examples have a second text and some have none"):
        reader("bert").encode([Example("good", pair="bad"), Example("good")])


# padding


def test_padding_on_the_left_is_put_right_where_positions_are_counted_from_the_left():
    subject = gpt2(padding_side="left")
    texts = [Example("the movie"), Example("the story was bad and long")]
    together = subject.encode(texts)
    for row, example in enumerate(texts):
        alone = subject.encode([example])
        expected = torch.tensor(subject.tokenizer(example.text)["input_ids"])[None]
        plain = subject.model(input_ids=expected).logits[:, :-1].softmax(-1)
        torch.testing.assert_close(subject.predict(alone), plain, atol=1e-5, rtol=0)
        torch.testing.assert_close(
            subject.predict(together)[row][together.predicted_positions[row]], plain[0], atol=1e-5, rtol=0
        )


def test_a_classifier_that_decodes_needs_no_padding_token_of_its_own():
    model = hf.GPT2ForSequenceClassification(hf.GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=4))
    assert model.config.pad_token_id is None
    subject = Subject(model, byte_pairs())
    texts = [Example("the movie"), Example("the story was bad and long")]
    alone = [subject.predict(subject.encode([text]))[0] for text in texts]
    torch.testing.assert_close(subject.predict(subject.encode(texts)), torch.stack(alone), atol=1e-5, rtol=0)


def test_the_models_padding_token_is_preferred_to_the_end():
    model = zoo.BY_NAME["llama"].build()
    tokenizer = wordpiece()
    tokenizer.pad_token = None
    assert Subject(model, tokenizer).tokenizer.pad_token == "[PAD]"
    model.config.pad_token_id = -1
    tokenizer.pad_token = None
    assert Subject(model, tokenizer).tokenizer.pad_token == "[SEP]"


def test_a_tokenizer_that_can_pad_with_nothing_is_refused():
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=wordpiece().backend_tokenizer)
    model = zoo.BY_NAME["llama"].build()
    model.config.pad_token_id = None
    with pytest.raises(CannotLoad, match="neither a padding nor an end token"):
        Subject(model, tokenizer)


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 7))
def test_buckets_hold_every_example_once_and_like_lengths_together(lengths, size):
    batches = list(bucketed(lengths, size))
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    assert [len(batch) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    flat = [lengths[number] for batch in batches for number in batch]
    assert flat == sorted(lengths)


READS_LEFT_PADDING = {"deepseek-v32", "glm-moe-dsa"}  # transformers' indexer spends its top-k on padding, unwatched too


@pytest.mark.parametrize(
    "family", [family.name for family in filter(is_reader, zoo.EVERY) if family.name not in READS_LEFT_PADDING]
)
def test_every_family_predicts_in_a_batch_as_it_does_alone(family):
    subject = reader(family)
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    examples = [
        Example("the movie was good", pair=pair, target="the good movie"),
        Example("the story was not unbelievable !", pair=pair, target="a"),
    ]
    together = subject.encode(examples)
    probs = subject.predict(together)
    torch.testing.assert_close(probs.sum(-1), torch.ones(probs.shape[:-1]))
    for row, example in enumerate(examples):
        alone = subject.encode([example])
        expected = subject.predict(alone)[0][alone.predicted_positions[0]]
        torch.testing.assert_close(probs[row][together.predicted_positions[row]], expected, atol=2e-5, rtol=1e-4)


BYTES = gpt2()


def test_where_no_limit_is_stated_there_is_one():
    config = hf.BloomConfig(vocab_size=300, hidden_size=8, n_layer=1, n_head=2)
    subject = Subject(hf.BloomForCausalLM(config), byte_pairs(model_max_length=10**30))
    assert subject.encoder.max_length == DEFAULT_LIMIT == 4096


def test_a_tokenizer_of_another_model_is_refused():
    config = hf.BertConfig(**(zoo.BERT | {"vocab_size": 6}), id2label={0: "a", 1: "b"})
    subject = Subject(hf.BertForSequenceClassification(config), wordpiece())
    with pytest.raises(CannotLoad, match=r"tokenizer does not belong to the model: it gives the token id \d+, and"):
        subject.encode([Example("the movies was unbelievable")])
