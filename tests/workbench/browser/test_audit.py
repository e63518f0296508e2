"""An audit that is started, stopped, resumed, watched and read in the browser, and found again by its link."""

import re

from whence.workbench.audits import Audits
from workbench.browser.conftest import TEXT, saved_kinds, settled

ENOUGH = 400_000  # milliseconds for a small audit on a busy machine


def start(page):
    page.get_by_label("Budget in minutes").fill("0.05")
    page.get_by_label("run with too small a budget").check()
    page.get_by_label("measure each head").check()
    page.get_by_label("Leave out").fill("controls, faithfulness")
    page.get_by_role("button", name="Start").click()


def test_an_audit_is_started_stopped_resumed_and_its_verdict_read(page, served):
    page.goto(served.link("/audit"))
    page.get_by_text("None yet.").first.wait_for()
    start(page)
    page.get_by_role("list", name="audit: messages").get_by_role("listitem").first.wait_for(timeout=ENOUGH)
    page.get_by_role("button", name="stop (can be resumed)").click()
    page.get_by_text("stopped", exact=True).wait_for(timeout=ENOUGH)
    (record,) = Audits(served.bench).all()
    assert record["state"] == "interrupted"
    start(page)
    page.locator("iframe.report").wait_for(timeout=ENOUGH)
    (record,) = Audits(served.bench).all()
    past = page.get_by_role("region", name="Audits in this folder")
    verdicts = [record["answer"], *(one["verdict"] for one in record["verdicts"])]
    assert past.locator(".badge").all_inner_texts() == verdicts
    assert page.frame_locator("iframe.report").locator(".answer").first.inner_text()
    row = page.get_by_role("region", name="Results").get_by_role("row").filter(has_text="ablation")
    row.first.wait_for()
    page.reload()
    page.locator("iframe.report").wait_for()
    row.first.wait_for()
    for place in (past, row.first, page.get_by_role("region", name="Results").locator(".card-tools")):
        saved_kinds(page, place)
    the_head_has_its_verdict(page, served)


def the_head_has_its_verdict(page, served):
    """Beside its picture: whether the prediction needs this head, what is lost without it, and the interval."""
    page.goto(served.link("/", text=TEXT, layer=1, heads=0))
    page.locator(".strip").first.wait_for()
    settled(page)
    words = page.get_by_role("region", name="Head", exact=True).locator(".verdict").inner_text()
    assert "this head" in words
    assert re.search(r"\[−?[\d.e−-]+, −?[\d.e−-]+\] nats", words)
