"""Every view can be saved as SVG, PNG, CSV and a page that needs no server, and shown on the whole screen."""

import json

import pytest

from workbench.browser.conftest import TEXT, saved_kinds, settled

OTHER = TEXT.replace("great", "dull")
VIEWS = {
    "look": ("/", {"text": TEXT, "flow": 1, "find": json.dumps({"pattern": "previous"})}, ".found li a"),
    "thumbnails": ("/", {"text": TEXT, "by": "thumbnails"}, ".map-cell canvas"),
    "change": ("/change", {"text": TEXT, "edits": json.dumps([{"stack": "self", "override": "uniform"}])}, "#python"),
    "compare": ("/compare", {"text": TEXT, "b_text": OTHER}, ".panes canvas"),
    "explorer": ("/explore", {}, ".text-cell"),
}
CARDS: dict[str, set[str | None]] = {
    "look": {"Prediction", "Heads", "Token scores", "Head", "Find this in the table", "Flow of attention"},
    "thumbnails": {"Heads"},
    "change": {"Before and after", "Scores that moved", "The weights, before and after"},
    "compare": {"Prediction of A", "Prediction of B", "Difference of each head", "Head"},
    "explorer": {None},
}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_saved_in_every_format(page, served, view):
    path, state, there = VIEWS[view]
    page.goto(served.link(path, **state))
    page.locator(there).first.wait_for()
    settled(page)
    page.locator(".card-tools").nth(len(CARDS[view]) - 1).wait_for()
    for name in CARDS[view]:
        place = page.get_by_role("region", name=name, exact=True) if name else page.locator(".card")
        assert place.get_by_role("button", name="full screen").count() == 1, name
        saved_kinds(page, place)


def test_a_card_fills_the_screen_and_goes_back(page, served):
    page.goto(served.link("/", text=TEXT))
    page.locator(".strip").first.wait_for()
    place = page.get_by_role("region", name="Head", exact=True)
    for full in (True, False):
        place.get_by_role("button", name="full screen").click()
        page.wait_for_function(f"() => Boolean(document.fullscreenElement) === {str(full).lower()}")


def test_a_locked_token_and_a_search_are_in_the_link(page, served):
    page.goto(served.link("/", text=TEXT))
    page.locator(".strip").first.wait_for()
    settled(page)
    page.get_by_role("toolbar", name="tokens that look", exact=True).get_by_role("button").nth(3).click()
    page.locator(".lock").wait_for()
    told = page.locator(".lock").inner_text()
    page.get_by_role("combobox", name="This head looks from a token to").select_option("itself")
    page.get_by_role("button", name="search the table").click()
    page.locator(".found li a").first.wait_for()
    found = page.locator(".found").inner_text()
    page.reload()
    page.locator(".lock").wait_for()
    page.locator(".found li a").first.wait_for()
    assert page.locator(".lock").inner_text() == told
    assert page.locator(".found").inner_text() == found
