"""An audit that is started, watched and read in the browser, and found again by its link."""

from whence.workbench.audits import Audits

ENOUGH = 400_000  # milliseconds for a small audit on a busy machine


def test_an_audit_is_started_and_its_verdict_read(page, served):
    page.goto(served.link("/audit"))
    page.get_by_text("None yet.").first.wait_for()
    page.get_by_label("Budget in minutes").fill("0.05")
    page.get_by_label("run with too small a budget").check()
    page.get_by_label("Leave out").fill("controls")
    page.get_by_role("button", name="Start").click()
    page.locator("iframe.report").wait_for(timeout=ENOUGH)
    (record,) = Audits(served.bench).all()
    past = page.get_by_role("region", name="Audits in this folder")
    verdicts = [record["answer"], *(one["verdict"] for one in record["verdicts"])]
    assert past.locator(".badge").all_inner_texts() == verdicts
    assert page.frame_locator("iframe.report").locator(".answer").first.inner_text()
    page.get_by_role("region", name="Results").get_by_text("ablation").first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").first.click()
    assert download.value.path().read_text().count("\n") > 1
    page.reload()
    page.locator("iframe.report").wait_for()
