"""Each kind of model opens in Look with the view that suits it."""

import pytest

from support import saved_models
from support.shared import once
from workbench.browser.conftest import TEXT, choice, opened, running, settled

TWO = "the film was great . the story was dull ."


def trained(name):
    """A reference model, trained on a few reviews."""
    from whence.data.synthetic import reviews
    from whence.training.config import Training
    from whence.training.train import train

    corpus = reviews.load(sizes={"train": 60, "dev": 20, "test": 20})
    training = Training(model=name, data="reviews", hidden_size=12, epochs=1)
    return once(f"browser-{name}", lambda folder: train(training, folder, corpus=corpus, quiet=True))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    models = (
        saved_models.speaker(),
        saved_models.translator(),
        saved_models.additive(),
        *map(trained, ("hierarchical", "disan")),
    )
    with running(opened(tmp_path_factory.mktemp("folder"), *models)) as made:
        yield made


def show(page, served, number, text=TEXT, **state):
    name = list(served.bench.served)[number]
    page.goto(served.link("/", model=name, text=text, **state))
    page.locator(".strip").first.wait_for()
    settled(page)


def test_a_decoder_looks_back_alone(page, served):
    show(page, served, 0)
    assert "causal" in page.get_by_role("region", name="Heads").inner_text()
    first = page.get_by_role("toolbar", name="tokens that look", exact=True).get_by_role("button").first
    first.hover()
    told = page.get_by_role("region", name="Head", exact=True).get_by_role("status").first.inner_text()
    name = first.inner_text()
    assert told.startswith(f"“{name}” looks mostly at “{name}” (100\u00a0%).")  # it can only look at itself


def test_an_encoder_and_decoder_opens_with_its_cross_attention(page, served):
    show(page, served, 1, target_text="great film")
    assert choice(page, "Attention").input_value() == "cross"
    queries = page.get_by_role("toolbar", name="tokens that look", exact=True).inner_text()
    keys = page.get_by_role("toolbar", name="tokens that are looked at", exact=True).inner_text()
    assert "great" in queries.replace("##", "").replace("\n", "")
    assert queries != keys


def test_additive_attention_is_one_row_of_words(page, served):
    show(page, served, 2)
    assert page.locator(".pool .strip").count() == 1
    assert page.locator("canvas").count() == 0
    shares = page.locator(".pool ~ table .figure").all_inner_texts()
    assert sum(float(one.rstrip("\u00a0%")) for one in shares) == pytest.approx(100, abs=1)


def test_words_lie_within_sentences(page, served):
    show(page, served, 3, TWO)
    lines = page.locator(".strip-line.sentence")
    assert lines.count() == 2
    assert "sentence 1" in lines.first.inner_text()
    assert "great" in lines.first.inner_text()
    assert "dull" in lines.nth(1).inner_text()


def test_features_are_a_map_of_many(page, served):
    show(page, served, 4)
    assert page.locator("[role=gridcell]").count() == 12
