"""Word-level tokenizers: what a word is, what is unknown, and that nothing seen is."""

from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from whence.data.examples import Example
from whence.training.vocabulary import SPECIAL_TOKENS, word_tokenizer


def of_words(*words, **more):
    return Example(" ".join(words), words=words, **more)


def test_words_by_how_often_they_are_seen_then_by_the_alphabet():
    tokenizer = word_tokenizer([of_words("b", "a", "c", "c"), of_words("a", "c")])
    assert tokenizer.get_vocab() == {"<pad>": 0, "<unk>": 1, "<s>": 2, "</s>": 3, "c": 4, "a": 5, "b": 6}


def test_rare_words_are_unknown():
    tokenizer = word_tokenizer([of_words("good", "good", "Good", "film", "film", "zebra")], min_count=2)
    assert set(tokenizer.get_vocab()) == {*SPECIAL_TOKENS, "good", "film"}
    assert tokenizer("good zebra film").tokens(0) == ["<s>", "good", "<unk>", "film", "</s>"]


def test_words_that_come_as_words_are_not_cut_and_others_are():
    assert "don't" in word_tokenizer([of_words("don't", "stop.")]).get_vocab()
    cut = word_tokenizer([Example("don't stop.")]).get_vocab()
    assert {"don", "'", "t", "stop", "."} <= set(cut)
    assert "don't" not in cut


def test_pairs_and_their_segments():
    tokenizer = word_tokenizer([of_words("she", "left", pair="where ?", pair_words=("where", "?"))])
    encoded = tokenizer("she left", "where ?")
    assert encoded.tokens(0) == ["<s>", "she", "left", "</s>", "where", "?", "</s>"]
    assert encoded["token_type_ids"] == [0, 0, 0, 0, 1, 1, 1]


def test_case_is_kept_where_it_is_asked_for():
    tokenizer = word_tokenizer([of_words("Us", "us")], lowercase=False)
    assert tokenizer("Us us US").tokens(0) == ["<s>", "Us", "us", "<unk>", "</s>"]


@given(st.lists(st.text(max_size=12), min_size=1, max_size=4), st.booleans())
def test_no_word_of_the_corpus_is_unknown(texts, lowercase):
    tokenizer = word_tokenizer([Example(text) for text in texts], lowercase=lowercase)
    for text in texts:
        assert "<unk>" not in tokenizer(text).tokens(0)


def test_capitals_that_have_two_small_letters():
    """Python makes a final sigma of the last letter, the tokenizer does not."""
    tokenizer = word_tokenizer([Example("ΟΔΟΣ İstanbul")])
    assert "<unk>" not in tokenizer("ΟΔΟΣ İstanbul").tokens(0)


def test_a_saved_vocabulary_is_the_same(tmp_path):
    tokenizer = word_tokenizer([of_words("she", "left")])
    tokenizer.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again.get_vocab() == tokenizer.get_vocab()
    assert again("She left zebra")["input_ids"] == tokenizer("She left zebra")["input_ids"]
    assert (again.pad_token_id, again.bos_token_id, again.eos_token_id, again.model_max_length) == (0, 2, 3, 5000)
