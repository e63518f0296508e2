"""Changing attention as a person does: predictions move by what the Python API computes, and edits are undone."""

import contextlib
import io

import pytest

import whence
from whence.data.examples import Example
from workbench.browser.conftest import TEXT, choice, settled


@pytest.fixture(scope="module")
def subject(served):
    return served.bench.model("").subject


def predicted(subject, rule=None):
    batch = subject.encode([Example(TEXT)])
    with whence.attending(subject.model, override=rule, watch=None) if rule else contextlib.nullcontext():
        return dict(zip(subject.labels, subject.predict(batch)[0, 0].tolist(), strict=True))


def shown(page):
    """The exact probabilities before and after, by class."""
    settled(page)
    rows = page.get_by_role("region", name="Before and after").locator("tbody tr").all()
    numbers = [[float(cell.get_attribute("data-exact")) for cell in row.locator("[data-exact]").all()] for row in rows]
    names = [row.locator("th").inner_text() for row in rows]
    return [dict(zip(names, column, strict=True)) for column in zip(*numbers, strict=True)]


def opened(page, served, **state):
    page.goto(served.link("/change", text=TEXT, **state))
    page.get_by_role("button", name="Apply").wait_for()
    page.locator("#python").wait_for()


def test_uniform_attention_changes_the_prediction_as_in_python(page, served, subject):
    opened(page, served)
    choice(page, "Make it").select_option("uniform")
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("uniform, all layers, all heads").wait_for()
    before, after = shown(page)
    special = subject.encode([Example(TEXT)]).special
    assert before == pytest.approx(predicted(subject), abs=1e-6)
    assert after == pytest.approx(predicted(subject, whence.uniform.sparing(special)), abs=1e-6)
    assert after != pytest.approx(before, abs=1e-3)
    distance = sum(abs(before[name] - after[name]) for name in before) / 2
    assert float(page.locator("#tvd").get_attribute("data-exact")) == pytest.approx(distance, abs=1e-6)
    page.locator("[data-moved=raw_attention]").wait_for()


def test_code_that_is_copied_gives_the_same_numbers(page, served, subject):
    opened(page, served)
    page.get_by_label("Layers").fill("1")
    choice(page, "Make it").select_option("temperature")
    page.get_by_label("Temperature").fill("3")
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("temperature 3, layer 1, all heads").wait_for()
    _, after = shown(page)
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(page.locator("#python").inner_text(), names)
    assert dict(zip(subject.labels, names["after"].tolist(), strict=True)) == pytest.approx(after, abs=1e-6)  # type: ignore[attr-defined]


def test_tokens_are_chosen_and_edits_undone_redone_and_restored_by_link(page, served, subject):
    opened(page, served)
    choice(page, "Make it").select_option("without")
    page.get_by_role("group", name="tokens").get_by_role("button").nth(2).click()
    page.get_by_role("button", name="Apply").click()
    page.locator(".edits li").wait_for()
    _, after = shown(page)
    assert after == pytest.approx(predicted(subject, whence.without([2])), abs=1e-6)
    link = page.url
    page.get_by_role("button", name="undo", exact=False).first.click()
    page.get_by_text("Nothing is changed yet").wait_for()
    page.get_by_role("button", name="redo").click()
    page.locator(".edits li").wait_for()
    assert shown(page)[1] == pytest.approx(after, abs=1e-9)
    page.goto("about:blank")
    page.goto(link)
    page.locator(".edits li").wait_for()
    page.locator("#python").wait_for()
    assert shown(page)[1] == pytest.approx(after, abs=1e-9)


def test_wrong_places_get_a_sentence(page, served):
    opened(page, served)
    page.get_by_label("Layers").fill("7")
    page.get_by_role("button", name="Apply").click()
    assert "numbers from 0 to 1" in page.get_by_role("alert").inner_text()
    page.get_by_label("Layers").fill("")
    choice(page, "Make it").select_option("only")
    page.get_by_role("button", name="Apply").click()
    assert "Choose one token or more" in page.get_by_role("alert").inner_text()


def test_one_row_is_dragged(page, served, subject):
    opened(page, served, layer=1, heads=0)
    settled(page)
    choice(page, "Row (query)").select_option("0")
    slider = page.locator(".row-editor input").nth(3)
    key = int(slider.get_attribute("data-key"))
    slider.focus()
    slider.press("End")
    page.get_by_text("row of “[CLS]”, layer 1, head 0").wait_for()
    _, after = shown(page)
    row = [float(place == key) for place in range(len(subject.encode([Example(TEXT)]).tokens[0]))]

    def dragged(call):
        weights = call.weights.clone()
        weights[:, 0, 0] = weights.new_tensor(row)
        return weights

    site = list(subject.sites)[1]
    assert after == pytest.approx(predicted(subject, {site: dragged}), abs=1e-6)


def test_an_adversary_is_searched_for_and_imposed(page, served):
    opened(page, served)
    page.get_by_label("at most ε =").fill("0.2")
    page.get_by_role("button", name="search", exact=True).click()
    page.get_by_text("gives the same prediction").wait_for()
    page.get_by_text("rows, layer").wait_for()
    before, after = shown(page)
    assert sum(abs(before[name] - after[name]) for name in before) / 2 <= 0.2 + 1e-3
