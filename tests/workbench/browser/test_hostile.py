"""Texts that would be markup, that hide themselves, or that run from right to left are shown as text in every view."""

import json

import pytest

from support import saved_models
from workbench.browser.conftest import opened, running, settled

TEXTS = {
    "script": "<script>window.harmed=1</script> great",
    "image": '"><img src=x onerror=window.harmed=1> great',
    "right to left": "שלום great مرحبا",
    "hidden": "gre\u200bat \u202efilm\u202c \u2066x\u2069",
}
VIEWS = {
    "/": ".strip",
    "/change": "#python",
    "/compare": "[role=gridcell]",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A BERT, and a table of such texts."""
    folder = tmp_path_factory.mktemp("folder")
    rows = [{"text": text, "label": label} for text in TEXTS.values() for label in saved_models.LABELS]
    with running(opened(folder, saved_models.bert(), data=saved_models.table(folder / "texts.csv", rows))) as made:
        yield made


def test_a_table_of_such_texts_is_only_ever_text(page, served):
    page.goto(served.link("/explore"))
    page.locator(".text-cell").first.wait_for()
    cells = page.locator(".text-cell").all_inner_texts()
    assert TEXTS["script"] in cells
    assert TEXTS["image"] in cells
    assert "gre‹U+200B›at" in " ".join(cells)
    assert page.evaluate("window.harmed") is None
    assert page.locator("main img, main script").count() == 0


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("view", VIEWS)
def test_a_text_is_only_ever_text(page, served, view, text):
    search = {"flow": 1, "find": json.dumps({"pattern": "previous"})}
    state = {"text": text, **{"/": search, "/compare": {"b_text": text}}.get(view, {})}
    page.goto(served.link(view, **state))
    page.locator(VIEWS[view]).first.wait_for()
    settled(page)
    assert page.evaluate("window.harmed") is None
    assert page.locator("main img, main script").count() == 0
    assert page.get_by_label("Text", exact=True).first.input_value() == text
    shown = page.locator("main").inner_text()
    assert not set("\u200b\u202e\u2066") & set(shown)


def test_tokens_of_other_scripts_are_isolated_and_hidden_characters_named(page, served):
    page.goto(served.link("/", text=TEXTS["right to left"]))
    page.locator(".strip").first.wait_for()
    directions = page.locator(".strip bdi").evaluate_all("all => all.map((one) => getComputedStyle(one).unicodeBidi)")
    assert set(directions) == {"isolate"}
