"""Every page by its accessibility tree, its contrasts in light and dark, its order of focus, and in a narrow window."""

import json

import pytest

from workbench.browser.conftest import TEXT, settled

EDITS = json.dumps([{"stack": "self", "override": "uniform"}])
VIEWS = {
    "Look": ("/", {"text": TEXT, "flow": 1}, ".strip"),
    "Change": ("/change", {"text": TEXT, "edits": EDITS}, "#python"),
    "Compare": ("/compare", {"text": TEXT, "b_text": TEXT.replace("great", "dull")}, ".panes canvas"),
    "Audit": ("/audit", {}, "form"),
    "Explorer": ("/explore", {}, ".text-cell"),
}
OPERATED = {"button", "link", "combobox", "textbox", "searchbox", "gridcell", "slider", "checkbox", "spinbutton"}
LEAST = 4.5  # WCAG 2.2, 1.4.3: contrast of text
# Texts whose contrast with what is behind them is below the least, by the formula of WCAG; disabled buttons are exempt.
FAINT = """(least) => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => rgb.slice(0, 3).map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const over = (top, under) => [0, 1, 2].map((at) => top[at] * (top[3] ?? 1) + under[at] * (1 - (top[3] ?? 1)));
  const ground = (element) => {
    const all = [];
    for (let one = element; one; one = one.parentElement) all.push(parts(getComputedStyle(one).backgroundColor));
    return all.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const found = [];
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    const exempt = element.disabled || element.closest('.unseen, option');
    if (!own || exempt || !box.width || style.visibility === 'hidden') continue;
    const [a, b] = [light(over(parts(style.color), ground(element))), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least) found.push(`${element.className} "${element.textContent.slice(0, 30)}" ${ratio.toFixed(2)}`);
  }
  return found;
}"""


def nodes(page):
    """The accessibility tree, as a screen reader gets it: role and name of everything."""
    session = page.context.new_cdp_session(page)
    tree = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    value = lambda node, key: node.get(key, {}).get("value", "")  # noqa: E731
    return [(value(node, "role"), value(node, "name")) for node in tree if not node.get("ignored")]


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_is_named_contrasted_ordered_and_fits(page, served, view):
    path, state, there = VIEWS[view]
    page.goto(served.link(path, **state))
    page.locator(there).first.wait_for()
    settled(page)
    found = nodes(page)
    roles = [role for role, _ in found]
    assert [roles.count(role) for role in ("main", "banner", "navigation")] == [1, 1, 1]
    assert ("heading", view) in found
    assert {role for role, name in found if role in OPERATED and not name.strip()} == set()
    assert all(name for role, name in found if role in ("region", "toolbar", "grid", "table", "progressbar"))
    for theme in ("light", "dark"):
        page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
        page.evaluate("() => globalThis.dispatchEvent(new Event('whence-theme'))")
        assert page.evaluate(FAINT, LEAST) == [], theme
    assert page.locator("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").count() == 0
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    for width in (1280, 800):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_focus_follows_the_order_of_the_page_and_is_never_caught(page, served):
    page.goto(served.link("/", text=TEXT))
    page.locator(".strip").first.wait_for()
    settled(page)
    page.evaluate(
        "() => { window.places = []; document.addEventListener('focusin', (event) => places.push(event.target)); }"
    )
    page.locator(".skip").focus()
    for _ in range(25):
        page.keyboard.press("Tab")
    inorder = "(a, b) => Boolean(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING)"
    assert page.evaluate(
        f"() => new Set(places).size === 26 && places.slice(1).every((one, at) => ({inorder})(places[at], one))"
    )
    outlined = "() => getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outlined) == "solid"
