"""Both sides are read back into numbers, word by word, by another program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.core.errors import BadConfig
from whence.data.registry import load
from whence.data.synthetic import numerals

# fmt: off
SMALL = (
    "zero null", "one eins", "two zwei", "three drei", "four vier", "five fünf", "six sechs", "seven sieben",
    "eight acht", "nine neun", "ten zehn", "eleven elf", "twelve zwölf", "thirteen dreizehn", "fourteen vierzehn",
    "fifteen fünfzehn", "sixteen sechzehn", "seventeen siebzehn", "eighteen achtzehn", "nineteen neunzehn",
)
LARGE = {
    20: "twenty zwanzig", 30: "thirty dreißig", 40: "forty vierzig", 50: "fifty fünfzig", 60: "sixty sechzig",
    70: "seventy siebzig", 80: "eighty achtzig", 90: "ninety neunzig", 100: "hundred hundert", 1000: "thousand tausend",
}
# fmt: on
ENGLISH = {words.split()[0]: number for number, words in (*enumerate(SMALL), *LARGE.items())}
GERMAN = {"ein": 1} | {words.split()[1]: number for number, words in (*enumerate(SMALL), *LARGE.items())}


def value(words: list[str], values: dict[str, int]) -> int:
    """Add up what is said, multiplying by hundred and thousand."""
    total = group = 0
    for word in words:
        if values[word] == 1000:
            total, group = group * 1000, 0
        elif values[word] == 100:
            group *= 100
        else:
            group += values[word]
    return total + group


@given(st.integers(0, 999_999))
def test_both_sides_say_the_number_and_the_links_join_equal_words(number):
    e = numerals.example(number)
    german = e.target.split()
    assert value(e.words, ENGLISH) == number
    assert value([word for word in german if word != "und"], GERMAN) == number
    assert all(ENGLISH[e.words[i]] == GERMAN[german[j]] for i, j in e.alignment)
    assert sorted(i for i, _ in e.alignment) == list(range(len(e.words)))
    assert sorted(j for _, j in e.alignment) == [j for j, word in enumerate(german) if word != "und"]


@pytest.mark.parametrize(
    ("number", "english", "german"),
    [
        (0, "zero", "null"),
        (1, "one", "eins"),
        (17, "seventeen", "siebzehn"),
        (21, "twenty one", "ein und zwanzig"),
        (42, "forty two", "zwei und vierzig"),
        (100, "one hundred", "ein hundert"),
        (101, "one hundred one", "ein hundert eins"),
        (1000, "one thousand", "ein tausend"),
        (1001, "one thousand one", "ein tausend eins"),
        (21_021, "twenty one thousand twenty one", "ein und zwanzig tausend ein und zwanzig"),
        (101_000, "one hundred one thousand", "ein hundert ein tausend"),
        (
            316_530,
            "three hundred sixteen thousand five hundred thirty",
            "drei hundert sechzehn tausend fünf hundert dreißig",
        ),
        (
            999_999,
            "nine hundred ninety nine thousand nine hundred ninety nine",
            "neun hundert neun und neunzig tausend neun hundert neun und neunzig",
        ),
    ],
)
def test_numbers_known_by_hand(number, english, german):
    e = numerals.example(number)
    assert (e.text, e.target) == (english, german)


def test_alignments_cross():
    assert numerals.example(42).alignment == ((0, 2), (1, 0))


def test_no_number_comes_twice_and_long_ones_are_many():
    corpus = load("numerals")
    texts = [e.text for examples in corpus.splits.values() for e in examples]
    assert len(texts) == len(set(texts)) == 5000
    assert sum("thousand" in text for text in texts) > 2000
    assert [len(corpus[split]) for split in ("train", "dev", "test")] == [4000, 500, 500]
    assert corpus.labels == ()


def test_the_seed_decides_and_too_many_are_refused():
    assert numerals.load(1, {"a": 9}).checksum == numerals.load(1, {"a": 9}).checksum
    assert numerals.load(1, {"a": 9}).checksum != numerals.load(2, {"a": 9}).checksum
    with pytest.raises(BadConfig, match="there are 1,000,000 numerals; expected sizes of at most half"):
        numerals.load(sizes={"a": 600_000})


def test_what_decides_the_last_word_is_what_it_translates():
    assert numerals.example(42).text == "forty two"
    assert numerals.example(42).deciding == (True, False), "zwei und vierzig ends with the forty"
    assert numerals.example(107).deciding == (False, False, True)
