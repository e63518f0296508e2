"""Pairs of texts, tags of words, words in pieces, and two copies of the deciding word."""

from dataclasses import replace

from whence.calibration import claims
from whence.calibration.case import HEADLINE, Case, Claim, Kind
from whence.calibration.cases.attends import READING, attends, case, scale_of
from whence.calibration.hand_set.bert import Readout, bert_classifier, bert_tagger, linear_readout
from whence.calibration.hand_set.features import ONE, Head, by_score, moving
from whence.calibration.hand_set.words import Scores, word_features, word_level, word_pieces
from whence.calibration.measured import accuracy
from whence.calibration.texts import LABELS, PREFIX, Texts, decides
from whence.data.examples import Corpus, Example
from whence.data.rng import seeded_rng
from whence.subject.subject import Subject

FIRST_TEXT = Head([({ONE: 1.0}, {"score": 10.0, "segment": -20.0})], moving("value", "read"))
SECOND_TEXT = Head([({ONE: 1.0}, {"score": 10.0, "segment": 20.0})], moving("value", "carried"))
MATCH = ("same", "different")


def matching(seed: int, n: int) -> Case:
    """Two heads read a deciding word in each of two texts; the label says whether they speak for the same class.

    With x, y = ±1 read, the pooler has tanh(5(x + y − 1)) and tanh(5(−x − y − 1)): one of them is 1 if x = y, else both
    are −1. The second text has plain words only, so that uniform attention turns x and blurs y.
    """
    features = word_features(seed, Scores())
    x_and_y = {"read0": 5.0, "read1": -5.0, "carried0": 5.0, "carried1": -5.0}
    hidden = [(x_and_y, -5.0), ({name: -value for name, value in x_and_y.items()}, -5.0)]
    scale = scale_of(seed) / 2
    readout = Readout(hidden, [[scale, scale], [-scale, -scale]], [scale, -scale])
    subject = bert_classifier(features, [[FIRST_TEXT, SECOND_TEXT]], readout, MATCH, word_level(list(features)), "pair")
    first, second = Texts(longest=9).examples(seed, n), Texts(longest=9, leaning=False).examples(seed, n, "second")
    examples = tuple(_pair(one, two) for one, two in zip(first, second, strict=True))
    proof = (
        claims.right(subject, examples),
        claims.deciding_word_decides(subject, examples),
        claims.other_words_are_idle(subject, examples),
        claims.attends_to_deciding(subject, examples, at_least=0.45),
        claims.wrong_if_uniform(subject, examples, at_most=0.75),
    )
    return Case(subject, Corpus("calibration", {"test": examples}, MATCH), {1: "yes", 3: "not no"}, proof)


def _pair(one: Example, two: Example) -> Example:
    label = MATCH[0] if one.label == two.label else MATCH[1]
    return replace(one, label=label, pair=two.text, pair_words=two.words)


def first_of_pair(seed: int, n: int) -> Case:
    """Pairs of texts of which only the first decides; the words of the second lean as those of the first do."""
    texts, rng = Texts(longest=9), seeded_rng(seed, "second texts")
    examples = []
    for one in texts.examples(seed, n):
        words = tuple(texts.other_word(rng, 1 - texts.labels.index(str(one.label))) for _ in range(6))
        examples.append(replace(one, pair=" ".join(words), pair_words=words))
    return case(attends(seed, [FIRST_TEXT]), Corpus("calibration", {"test": tuple(examples)}, LABELS[:2]))


def sentence_tagger(seed: int, n: int) -> Case:
    """A BERT that tags every word with the class of the deciding word, which all attend to."""
    features, corpus = word_features(seed, Scores()), Texts().corpus(seed, n)
    logits = [{f"read{number}": scale_of(seed)} for number in range(2)]
    subject = bert_tagger(features, [[READING]], logits, corpus.labels, word_level(list(features)))
    examples = tuple(
        replace(example, label=None, tags=(str(example.label),) * len(example.words or ()))
        for example in corpus["test"]
    )
    return case(subject, replace(corpus, splits={"test": examples}))


def in_pieces(seed: int, n: int) -> Case:
    """The deciding word is two pieces, of which the second decides and is attended to."""
    return _case_of_pieces(*_pieces(seed, n, {}))


def both_pieces(seed: int, n: int) -> Case:
    """The deciding word is two pieces, both attended to, of which the second decides."""
    return _case_of_pieces(*_pieces(seed, n, {"score": Scores().deciding}))


def _case_of_pieces(subject: Subject, corpus: Corpus) -> Case:
    """Weight may move to the first piece, which speaks for nothing: whether attention is exclusive is left open."""
    examples = corpus["test"]
    proof = (
        claims.right(subject, examples),
        claims.attends_to_deciding(subject, examples),
        claims.deciding_word_decides(subject, examples),
        claims.other_words_are_idle(subject, examples),
        claims.wrong_if_uniform(subject, examples),
    )
    return Case(subject, corpus, {1: "yes", 3: "yes", 6: "yes", HEADLINE: "not no"}, proof)


def _pieces(seed: int, n: int, first: dict[str, float]) -> tuple[Subject, Corpus]:
    """The deciding words with a first piece in front that is always the same."""
    whole = word_features(seed, Scores())
    features = {(f"##{word}" if word in decides() else word): value for word, value in whole.items()}
    features[PREFIX] = first
    readout = linear_readout(2, scale_of(seed) * (2 if first else 1))
    subject = bert_classifier(features, [[READING]], readout, LABELS[:2], word_pieces(list(features)), "pieces")
    corpus = Texts().corpus(seed, n)
    return subject, replace(corpus, splits={"test": tuple(_prefixed(example) for example in corpus["test"])})


def _prefixed(example: Example) -> Example:
    words = tuple(PREFIX + word if word in decides() else word for word in example.words or ())
    return replace(example, text=" ".join(words), words=words)


def two_copies(seed: int, n: int) -> Case:
    """The deciding word stands twice, and the first has most attention: the other one would serve as well."""
    texts = Texts(copies=2, shortest=9)
    earlier = Head([by_score(), ({ONE: 1.0}, {"cos": 20.0})], moving("value", "read"))
    features = word_features(seed, Scores(deciding=5.0, sep=-20.0, cls=-20.0))
    readout = linear_readout(2, scale_of(seed))
    subject = bert_classifier(features, [[earlier]], readout, texts.labels, word_level(list(features)), "copies")
    corpus = texts.corpus(seed, n)
    examples = corpus["test"]
    once = tuple(_without_first(example) for example in examples)
    proof = (
        claims.right(subject, examples),
        claims.attends_to_deciding(subject, examples),
        Claim("accuracy without the first copy", accuracy(subject, once), at_least=1.0),
        claims.wrong_if_uniform(subject, examples),
        claims.attention_decides(subject, examples, at_least=0.3),
    )
    return Case(subject, corpus, {1: "yes", 5: "no", 6: "yes"}, proof)


def _without_first(example: Example) -> Example:
    place = (example.rationale or ()).index(True)
    words = tuple(word for number, word in enumerate(example.words or ()) if number != place)
    return Example(" ".join(words), example.label, words=words)


KINDS = (
    Kind("pair-matching", "BERT on pairs: do two deciding words speak for the same class?", matching),
    Kind("pair-first", "BERT on pairs: a word of the first text decides", first_of_pair),
    Kind("tagger-sentence", "BERT that tags all words with the class of the deciding word", sentence_tagger),
    Kind("pieces", "BERT, the deciding word in two pieces, attends to the one that decides", in_pieces),
    Kind("pieces-both", "BERT, the deciding word in two pieces, attends to both", both_pieces),
    Kind("two-copies", "BERT, two copies of the deciding word, attends to the first", two_copies),
)
