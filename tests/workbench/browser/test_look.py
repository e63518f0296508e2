"""Looking at a text as a person does: type, click a head, point at tokens, hide some, save, and come back by link."""

import csv
import io
import re
from xml.etree import ElementTree

import pytest
import torch

import whence
from whence.data.examples import Example
from workbench.browser.conftest import TEXT, TOKEN, choice, look_at, saved, settled

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def subject(served):
    return served.bench.model("").subject


@pytest.fixture(scope="module")
def weights(subject):
    """[layer head query key], by the Python API."""
    batch = subject.encode([Example(TEXT)])
    with torch.no_grad(), whence.attending(subject.model) as tape:
        subject.predict(batch)
    return torch.stack([tape.select(layer=layer).only().weights[0] for layer in range(2)])


def head_card(page):
    return page.get_by_role("region", name="Head", exact=True)


def open_head(page, layer, head):
    page.get_by_role("gridcell", name=re.compile(f"layer {layer}, head {head}")).click()
    page.get_by_role("heading", name=f"Layer {layer}, head {head}").wait_for()
    settled(page)


def table(content):
    return list(csv.reader(io.StringIO(content.decode())))


def test_a_typed_text_is_predicted_as_by_python(page, subject):
    look_at(page)
    probabilities = subject.predict(subject.encode([Example(TEXT)]))[0, 0]
    rows = page.locator("table.prediction tbody tr")
    shown = {
        row.locator("th").inner_text(): float(row.locator("[data-exact]").get_attribute("data-exact"))
        for row in rows.all()
    }
    assert shown == pytest.approx(dict(zip(subject.labels, probabilities.tolist(), strict=True)), abs=1e-6)


def test_a_clicked_head_is_shown_and_saved_with_its_weights(page, weights):
    look_at(page)
    open_head(page, 0, 1)
    rows = table(saved(page, head_card(page), "csv"))
    shown = torch.tensor([[float(cell) for cell in row[1:]] for row in rows[1:]])
    assert shown.shape == weights[0, 1].shape
    assert torch.allclose(shown, weights[0, 1], atol=float(weights[0, 1].max()) / 255)
    picture = ElementTree.fromstring(saved(page, head_card(page), "svg"))
    assert picture.findall(f"{SVG}image")
    names = [one.text for one in picture.findall(f"{SVG}text")]
    assert "truly" in "".join(names).replace("##", "")
    assert saved(page, head_card(page), "png").startswith(b"\x89PNG")


def test_special_tokens_and_sinks_are_hidden(page, weights):
    look_at(page)
    layer, head = max(((a, b) for a in range(2) for b in range(2)), key=lambda at: float(weights[at].mean(0).max()))
    open_head(page, layer, head)
    count = weights.shape[-1]
    keys = page.get_by_role("toolbar", name="tokens that are looked at", exact=True).get_by_role("button")
    assert keys.count() == count
    page.get_by_role("button", name="hide special tokens").click()
    assert keys.count() == count - 2
    page.get_by_role("button", name="hide sinks").click()
    resting = weights[layer, head].mean(0) > 0.3
    assert keys.count() == count - 2 - int(resting[1:-1].sum())
    assert "special=1" in page.url


def test_a_token_is_locked_by_a_click_and_let_go_by_escape(page, weights):
    look_at(page)
    open_head(page, 1, 0)
    told = head_card(page).get_by_role("status")
    token = page.get_by_role("toolbar", name="tokens that look", exact=True).get_by_role("button").nth(2)
    token.hover()
    name = token.inner_text()
    told.get_by_text(f"“{name}” looks mostly at").wait_for()
    token.click()
    page.mouse.move(5, 5)
    head_card(page).get_by_text(f"locked: {name}").wait_for()
    assert token.get_attribute("aria-pressed") == "true"
    strongest = int(weights[1, 0, 2].argmax())
    shown = float(re.findall(r"\(([\d.]+)", told.inner_text())[0])
    assert shown == pytest.approx(100 * float(weights[1, 0, 2, strongest]), abs=0.51)
    page.keyboard.press("Escape")
    head_card(page).get_by_text("Point at a token").wait_for()


def test_heads_are_combined(page, weights):
    look_at(page)
    open_head(page, 1, 0)
    page.get_by_role("button", name="combine heads").click()
    page.get_by_role("gridcell", name=re.compile("layer 1, head 1")).click()
    page.get_by_role("heading", name="Layer 1, mean of all heads").wait_for()
    settled(page)
    rows = table(saved(page, head_card(page), "csv"))
    shown = torch.tensor([[float(cell) for cell in row[1:]] for row in rows[1:]])
    assert torch.allclose(shown, weights[1].mean(0), atol=1 / 255)


def test_the_map_is_used_with_the_keyboard(page):
    look_at(page)
    page.get_by_role("gridcell", name=re.compile("layer 0, head 0")).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Layer 1, head 1").wait_for()
    chosen = page.locator("[role=gridcell][aria-selected=true]")
    assert "layer 1, head 1" in chosen.get_attribute("aria-label")
    choice(page, "Show").select_option("thumbnails")
    page.locator(".map-cell canvas").first.wait_for()
    choice(page, "Show").select_option("importance")
    page.get_by_text("Michel et al. 2019").wait_for()


def test_methods_are_scored_side_by_side_pinned_and_moved(page, subject):
    explained = whence.explain(subject, TEXT, methods=("raw_attention", "leave_one_out"), words=True)
    look_at(page)
    card = page.get_by_role("region", name="Token scores")
    choice(card, "Add a method").select_option("random")
    card.locator("tr[data-method=random] .scored").first.wait_for()
    settled(page)
    expected = {one.method: one.scores[0] for one in explained.attributions}
    card.get_by_role("button", name="whole words").click()
    card.locator("tr[data-method=random] .scored").first.wait_for()
    settled(page)
    card.get_by_role("button", name="pin leave_one_out").click()
    card.get_by_role("button", name="move random up").click()
    assert [row.get_attribute("data-method") for row in card.locator("tr[data-method]").all()] == [
        "leave_one_out", "raw_attention", "random", "gradient_x_input",
    ]  # fmt: skip
    head, *rows = table(saved(page, card, "csv"))
    shown = dict(zip(head, zip(*rows, strict=True), strict=True))
    for method in ("raw_attention", "leave_one_out"):
        assert list(map(float, shown[method])) == pytest.approx(expected[method], abs=1e-6)


def test_a_link_restores_the_view_for_another_visitor(page, browser, served):
    look_at(page)
    open_head(page, 0, 1)
    page.get_by_role("button", name="hide special tokens").click()
    choice(page, "Show").select_option("largest")
    shown = page.get_by_role("toolbar", name="tokens that are looked at", exact=True).inner_text()
    other = browser.new_context()
    again = other.new_page()
    again.goto(f"{page.url}&token={TOKEN}")
    again.get_by_role("heading", name="Layer 0, head 1").wait_for()
    settled(again)
    assert again.get_by_role("toolbar", name="tokens that are looked at", exact=True).inner_text() == shown
    assert choice(again, "Show").input_value() == "largest"
    assert again.get_by_label("Text", exact=True).input_value() == TEXT
    assert TOKEN not in again.url
    other.close()


def test_a_contrast_is_asked_for(page):
    look_at(page)
    choice(page, "Explain").select_option("negative")
    choice(page, "against").select_option("positive")
    page.get_by_role("button", name="Look", exact=True).click()
    page.get_by_text("why negative, not positive").wait_for()


def test_a_row_of_the_table_is_picked(page, served):
    page.get_by_text("pick from").click()
    page.get_by_label("filter the table").fill("great")
    row = page.locator(".picker .rows button").first
    row.wait_for()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.picker bdi')].every((one) => one.textContent.includes('great'))"
    )
    text = row.locator("bdi").inner_text()
    row.click()
    page.locator(".strip").first.wait_for()
    assert page.get_by_label("Text", exact=True).input_value() == text


def test_the_flow_is_drawn(page):
    look_at(page)
    page.get_by_text("draw how the prediction").click()
    page.get_by_role("toolbar", name="heads").get_by_role("button").first.wait_for()


def test_a_saved_page_needs_no_server(page, context, tmp_path):
    look_at(page)
    open_head(page, 1, 1)
    (tmp_path / "head.html").write_bytes(saved(page, head_card(page), "html"))
    alone, said = context.new_page(), []
    alone.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    alone.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    alone.goto((tmp_path / "head.html").as_uri())
    alone.get_by_role("heading", name="Layer 1, head 1").wait_for()
    alone.get_by_role("button", name="hide special tokens").click()
    assert said == []


def test_a_notebook_s_view_works_offline(browser, subject, tmp_path):
    """As an exported notebook holds it: the output of a cell in a page, opened without any network."""
    cell = whence.show(subject, TEXT, target="negative", against="positive")._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{cell}", encoding="utf-8")
    context, said = browser.new_context(offline=True), []
    alone = context.new_page()
    alone.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    alone.on("pageerror", lambda error: said.append(str(error)))
    alone.goto((tmp_path / "notebook.html").as_uri())
    frame = alone.frame_locator("iframe")
    frame.get_by_text("why negative, not positive").wait_for()
    frame.get_by_role("gridcell", name=re.compile("layer 0, head 1")).click()
    frame.get_by_role("heading", name="Layer 0, head 1").wait_for()
    assert said == []
    context.close()
