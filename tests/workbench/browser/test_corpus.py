"""Comparing two texts and two models, and exploring a table, from whose rows one comes to Look."""

import csv
import io
import re

import pytest
import torch

import whence
from support import saved_models
from whence.data.examples import Example
from workbench.browser.conftest import TEXT, choice, opened, running, saved, settled

OTHER = TEXT.replace("great", "dull")
FEW = 20  # steps: a second model that attends differently


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A BERT that was trained on reviews, the same one trained shorter, and the table."""
    models = (saved_models.bert(), saved_models.bert(FEW))
    with running(opened(tmp_path_factory.mktemp("folder"), *models, data=saved_models.labelled())) as made:
        yield made


def recorded(subject):
    """Probabilities, and weights as [layer head query key]."""
    with torch.no_grad(), whence.attending(subject.model) as tape:
        probabilities = subject.predict(subject.encode([Example(TEXT)]))[0, 0]
    return probabilities, torch.stack([tape.select(layer=layer).only().weights[0] for layer in range(2)])


def test_two_models_are_compared(page, served):
    one, other = list(served.bench.served)
    page.goto(served.link("/compare", text=TEXT, model=one))
    page.get_by_role("region", name="B", exact=True).get_by_label("Text", exact=True).fill(TEXT)
    choice(page.get_by_role("region", name="B", exact=True), "Model").select_option(other)
    page.get_by_role("region", name="B", exact=True).get_by_label("Text", exact=True).fill(TEXT)
    page.get_by_role("button", name="Open B").click()
    page.get_by_text("The largest difference of a weight").wait_for()
    (p, first), (q, second) = (recorded(served.bench.model(name).subject) for name in (one, other))
    told = page.get_by_role("region", name="Difference of each head").inner_text()
    assert float(re.search(r"differ by ([\d.]+)", told)[1]) == pytest.approx(float((p - q).abs().sum() / 2), rel=5e-3)
    place = page.get_by_role("region", name="Difference of each head")
    rows = list(csv.DictReader(io.StringIO(saved(page, place, "csv").decode())))
    expected = (first - second).abs().sum(-1).mean(-1).flatten() / 2  # total variation, mean over queries
    assert [float(row["difference"]) for row in rows] == pytest.approx(expected.tolist(), abs=2e-3)


def test_two_texts_are_compared(page, served):
    subject = served.bench.model("").subject
    page.goto(served.link("/compare", text=TEXT, b_text=OTHER, layer=1, heads=1))
    page.get_by_role("heading", name="Layer 1, head 1").wait_for()
    page.get_by_text("The largest difference of a weight").wait_for()
    predictions = [subject.predict(subject.encode([Example(text)]))[0, 0] for text in (TEXT, OTHER)]
    for side, expected in zip("AB", predictions, strict=True):
        rows = page.get_by_role("region", name=f"Prediction of {side}").locator("tbody tr").all()
        shown = {
            row.locator("th").inner_text(): float(row.locator("[data-exact]").get_attribute("data-exact"))
            for row in rows
        }
        assert shown == pytest.approx(dict(zip(subject.labels, expected.tolist(), strict=True)), abs=1e-6)
    distance = float((predictions[0] - predictions[1]).abs().sum() / 2)
    told = page.get_by_role("region", name="Difference of each head").inner_text()
    assert float(re.search(r"differ by ([\d.]+)", told)[1]) == pytest.approx(distance, rel=5e-3)
    assert page.locator("[role=gridcell]").count() == 4


def test_the_difference_that_is_saved_is_that_of_the_weights(page, served):
    """Both texts are the same but for their model's attention: none, so all differences are zero."""
    page.goto(served.link("/compare", text=TEXT, b_text=TEXT))
    page.get_by_text("The largest difference of a weight is 0.").wait_for()
    place = page.get_by_role("region", name="Difference of each head")
    rows = list(csv.DictReader(io.StringIO(saved(page, place, "csv").decode())))
    assert [float(row["difference"]) for row in rows] == [0.0] * 4


def test_the_table_is_computed_sorted_filtered_and_leads_to_look(page, served):
    page.goto(served.link("/explore"))
    page.get_by_role("button", name="compute for all rows").click()
    page.get_by_role("button", name="confidence").wait_for()
    page.get_by_text("done", exact=True).wait_for()
    page.locator("[data-sort=confidence]").click()
    settled(page)
    subject, examples = served.bench.model("").subject, served.bench.examples
    with torch.no_grad():
        confidence = sorted(float(subject.predict(subject.encode([one]))[0, 0].max()) for one in examples)
    head, *rows = csv.reader(io.StringIO(saved(page, page.locator("main"), "csv").decode()))
    assert [float(row[head.index("confidence")]) for row in rows] == pytest.approx(confidence, abs=1e-4)
    page.get_by_label("filter", exact=True).fill("great")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.text-cell')].every((one) => one.textContent.includes('great'))"
    )
    assert "filter=great" in page.url
    text = page.locator(".text-cell a").first.inner_text()
    page.locator(".text-cell a").first.click()
    page.locator(".strip").first.wait_for()
    assert page.get_by_label("Text", exact=True).input_value() == text


def test_texts_are_found_in_which_a_head_does_this(page, served):
    page.goto(served.link("/", text=TEXT, layer=1, heads=0))
    page.locator(".strip").first.wait_for()
    choice(page, "This head looks from a token to").select_option("previous")
    page.get_by_role("button", name="search the table").click()
    first = page.locator(".found li").first
    first.wait_for()
    subject, strongest = served.bench.model("").subject, 0.0
    for example in served.bench.examples:
        with torch.no_grad(), whence.attending(subject.model) as tape:
            subject.predict(subject.encode([example]))
        weights = tape.select(layer=1, head=0).only().weights[0, 0]
        strongest = max(strongest, float(weights.diagonal(-1).max()))
    assert float(first.locator(".figure").inner_text().rstrip("\u00a0 %")) == pytest.approx(100 * strongest, rel=0.02)
