import numpy as np
import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.figures.style import PALETTE, QUIET
from whence.figures.word_cloud import picture, word_cloud

TABLE = pd.DataFrame(
    {"word": ["good", "the", "bad", "dull"], "mean": [0.9, 0.5, 0.4, -1.0], "stop": [False, True, False, False]}
)


def hexes(image):
    packed = np.unique(np.ascontiguousarray(image).view(np.uint32))
    return {f"#{r:02X}{g:02X}{b:02X}" for r, g, b, a in packed.view(np.uint8).reshape(-1, 4).tolist() if a == 255}


def test_a_cloud_follows_its_seed_and_stop_words_are_grey():
    scores = dict(zip(TABLE["word"][:3], TABLE["mean"][:3], strict=True))
    image, drawn = picture(scores, {"the"}, 0)
    assert drawn == 3
    assert {PALETTE[0].upper(), QUIET.upper()} <= hexes(image)
    assert QUIET.upper() not in hexes(picture(scores, set(), 0)[0])
    np.testing.assert_array_equal(image, picture(scores, {"the"}, 0)[0])
    assert not np.array_equal(image, picture(scores, {"the"}, 1)[0])


def test_scores_that_are_not_above_zero_have_no_size():
    figure = word_cloud(TABLE, "word", "mean", "stop")
    assert figure.axes[0].texts[0].get_text() == "3 of 3 words; larger: higher score; grey: stop words"
    assert word_cloud(TABLE.assign(mean=np.nan), "word", "mean").axes[0].texts[0].get_text().startswith("0 of 0 words")


def test_a_word_comes_once():
    with pytest.raises(BadData, match="'good' comes twice"):
        word_cloud(pd.concat([TABLE, TABLE]), "word", "mean")
    with pytest.raises(BadData, match="no column size"):
        word_cloud(TABLE, "word", "size")


def test_without_the_package_words_are_listed_by_score(monkeypatch):
    monkeypatch.setattr("whence.figures.word_cloud.find_spec", lambda name: None)
    figure = word_cloud(TABLE, "word", "mean", "stop")
    note, *words = sorted(figure.axes[0].texts, key=lambda text: "words;" not in text.get_text())
    ranked = TABLE[TABLE["mean"] > 0].sort_values("mean", ascending=False)["word"].tolist()[:30]
    assert [word.get_text() for word in words] == ranked
    assert "first: higher score" in note.get_text()
    assert not figure.axes[0].images
