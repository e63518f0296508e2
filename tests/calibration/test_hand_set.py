"""Models with hand-set weights compute what their heads say: compared with the formulas, written out in numpy."""

import numpy as np
import pytest
import torch
from scipy.special import softmax

from whence.calibration import measured
from whence.calibration.cases import attends, carriers
from whence.calibration.hand_set.features import ANCHOR, FEATURES, WIDTH, Head, by_distance, make_identity, vector
from whence.calibration.hand_set.words import LEAN, Scores, word_features
from whence.calibration.texts import DECIDING, LEANING, Texts
from whence.data.examples import Example
from whence.subject.subject import load

EXAMPLES = Texts(clear_end=1).examples(7, 20)


def test_layer_norm_leaves_a_state_with_the_anchor_as_it_is():
    norm = torch.nn.LayerNorm(WIDTH)
    make_identity(norm)
    state = vector({"score": 0.6, "value1": 1.5, "mark": 1.0, "cos": 0.7, "sin": -0.7})
    torch.testing.assert_close(norm(state), state, atol=0.01, rtol=5e-4)
    assert state[FEATURES.index("anchor")] == ANCHOR


def by_hand(example: Example, seed: int, specials: bool) -> np.ndarray:
    """The logits of a model that attends by score: softmax of 10 · score, and the values it weighs."""
    features = word_features(seed, Scores())
    tokens = ["[CLS]", *(example.words or ()), "[SEP]"] if specials else list(example.words or ())
    weights = softmax([10 * features[token].get("score", 0.0) for token in tokens])
    values = np.array([[features[token].get(f"value{number}", 0.0) for number in range(2)] for token in tokens])
    return attends.scale_of(seed) * weights @ values


@pytest.mark.parametrize(
    ("make", "specials"), [(attends.bert, True), (attends.decoder, False), (attends.pooled, False)]
)
def test_logits_are_those_of_the_formula(make, specials):
    subject = make(3, 20).subject
    expected = [by_hand(example, 3, specials) for example in EXAMPLES]
    np.testing.assert_allclose(measured.last_logits(subject, EXAMPLES), expected, atol=0.05)


def test_a_carrier_reads_the_word_before_the_one_it_attends_to():
    features = word_features(0, carriers.PLAIN)
    subject = carriers.subject_of(0, [[Head(by_distance(1), carriers.CARRYING)], [carriers.READING]], features)
    weights = measured.word_weights(subject, EXAMPLES)
    places = measured.deciding_places(EXAMPLES)
    assert [int(row.argmax()) for row in weights] == [place + 1 for place in places]


def test_leaning_words_win_if_the_deciding_word_has_less_than_six_tenths():
    subject = attends.attends(0)
    site = next(iter(subject.sites))

    def decision(share: float) -> int:
        from whence.core.attending import attending
        from whence.core.overrides import imposed

        words = (DECIDING[0][0], *LEANING[1][:3])
        batch = subject.encode([Example(" ".join(words), "first", words=words)])
        row = torch.tensor([0.0, share, *[(1 - share) / 3] * 3, 0.0])
        with attending(subject.model, override={site: imposed(row.expand(1, 1, 6, 6).clone())}, watch=None):
            return int(subject.logits(batch)[0, 0].argmax())

    limit = LEAN / (1 + LEAN)
    assert decision(limit + 0.02) == 0
    assert decision(limit - 0.02) == 1


def test_a_saved_case_is_loaded_as_the_same_model_and_table(tmp_path):
    from whence.data.tables.reader import Columns, read_table

    case = attends.bert(1, 20)
    case.save(tmp_path)
    again = load(tmp_path)
    np.testing.assert_allclose(
        measured.last_logits(again, EXAMPLES), measured.last_logits(case.subject, EXAMPLES), atol=1e-6
    )
    corpus = read_table(tmp_path / "data.csv", Columns())
    assert [e.label for e in corpus["test"]] == [e.label for e in case.corpus["test"]]
    assert [e.words for e in corpus["test"]] == [e.words for e in case.corpus["test"]]


def test_relatives_of_bert_predict_and_attend_as_it_does():
    from whence.calibration import measured
    from whence.calibration.cases import attends
    from whence.calibration.hand_set.relatives import as_distilbert, as_roberta
    from whence.calibration.texts import Texts

    examples = Texts(classes=3).examples(0, 8)
    for make in (as_roberta, as_distilbert):
        bert = attends.attends(0, texts=Texts(classes=3))
        logits, weights = measured.last_logits(bert, examples), measured.word_weights(bert, examples)
        other = make(bert)
        assert (measured.last_logits(other, examples) - logits).abs().max() < 0.1
        for one, same in zip(measured.word_weights(other, examples), weights, strict=True):
            assert abs(one - same).max() < 1e-3
