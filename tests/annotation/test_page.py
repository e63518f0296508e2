"""The page in a browser: two annotators, keys and taps, a server that is killed and started again, nothing lost."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support import studies
from whence.analysis.human_evaluation import COLUMNS
from whence.analysis.human_evaluation_verdict import verdict
from whence.annotation.answers import AnswerFile, read_answers
from whence.annotation.rows import rows_of
from whence.annotation.study import read_study, save_study

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = "/usr/bin/chromium"
PATIENCE = 180_000  # milliseconds: a busy machine is no failure
pytestmark = pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="no chromium; `apt-get install chromium` brings it")


class Served:
    """A study served by the command, as a user starts it."""

    def __init__(self, folder, port="0"):
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "whence",
                "annotate",
                "serve",
                str(folder),
                "--annotators",
                "ada,ben",
                "--port",
                port,
            ],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline() for _ in range(2)]
        self.links = dict(line.strip().split(": ", 1) for line in lines)
        self.port = re.search(r":(\d+)/", lines[0])[1]

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def served(tmp_path):
    running = []

    def serve(folder, port="0"):
        running.append(Served(folder, port))
        return running[-1]

    yield serve
    for one in running:
        if one.process.poll() is None:
            one.end()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE)
        yield opened
        opened.close()


def opened(browser, link, **options):
    """A page of its own, as another person's; what its scripts complain about is kept."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(PATIENCE)
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(link)
    page.wait_for_selector("main:not([hidden])")
    return page


def started(page):
    page.keyboard.press("Enter")
    page.wait_for_selector("#item:not([hidden])")
    return page


def shown(page):
    """The number of the item that is shown, from 1; 0 at the end."""
    found = re.match(r"Item (\d+) of", page.text_content("#count"))
    return int(found[1]) if found else 0


def press(page, key):
    """Press a key, and wait until another item is shown."""
    before = page.text_content("#count")
    page.keyboard.press(key)
    page.wait_for_function("before => document.getElementById('count').textContent !== before", arg=before)


def test_two_annotators_one_of_whom_is_cut_off_and_resumes(tmp_path, served, browser):
    made = studies.study(n=20)
    save_study(made, tmp_path)
    server = served(tmp_path)
    ada, ben = (started(opened(browser, server.links[name])) for name in ("ada", "ben"))
    for key in ("yn" * 10)[:7]:
        press(ada, key)
    for key in "nnyys" + "b":
        press(ben, key)
    assert shown(ben) == 5
    server.end(signal.SIGKILL)  # in the middle of everything

    ada.keyboard.press("y")
    ada.wait_for_selector("#error:not([hidden])")
    assert "cannot be reached" in ada.text_content("#error")
    assert shown(ada) == 8  # the answer was not saved, so the item stays

    again = served(tmp_path, server.port)
    assert again.links == server.links
    ada.keyboard.press("n")
    ada.wait_for_function("() => document.getElementById('count').textContent.startsWith('Item 9')")
    ada = started(opened(browser, again.links["ada"]))  # and from another device
    assert shown(ada) == 9
    for key in "yn" * 6:
        press(ada, key)
    ada.wait_for_selector("#done:not([hidden])")
    ben = started(opened(browser, again.links["ben"]))
    assert shown(ben) == 6
    for key in "y" * 15:
        press(ben, key)
    ben.wait_for_selector("#done:not([hidden])")

    study = read_study(tmp_path)
    found = read_answers(tmp_path, study)
    expected = {"ada": "ynynyny" + "n" + "yn" * 6, "ben": "nnyys" + "y" * 15}
    letters = {name: "".join(given[item.id].answer[0] for item in study.items) for name, given in found.items()}
    assert letters == expected
    assert all(one.seconds is not None and one.seconds > 0 for given in found.values() for one in given.values())
    table = COLUMNS.table(rows_of(tmp_path))
    assert len(table) == 40
    assert verdict(table).question == 6
    assert [page.complaints for page in (ada, ben)] == [[], []]


def test_back_changes_an_answer_and_pause_stops_the_clock(tmp_path, served, browser):
    save_study(studies.study(n=4), tmp_path)
    page = opened(browser, served(tmp_path).links["ada"])
    page.clock.install()  # the page's own clock, which the test moves
    page.reload()
    page.wait_for_selector("#instructions:not([hidden])")
    started(page)
    press(page, "y")
    press(page, "n")
    press(page, "b")
    page.clock.fast_forward(5_000)
    assert page.eval_on_selector_all("#answers .given", "all => all.map(one => one.dataset.answer)") == ["no"]
    page.keyboard.press("p")
    page.wait_for_selector("#paused:not([hidden])")
    assert not page.is_visible("#answers")
    page.keyboard.press("y")  # nothing is answered while paused
    page.clock.fast_forward(3_600_000)
    page.keyboard.press("Enter")
    page.wait_for_selector("#item:not([hidden])")
    press(page, "y")
    assert shown(page) == 3
    study = read_study(tmp_path)
    history = AnswerFile(tmp_path, study, "ada").history()
    assert [(one.item, one.answer) for one in history] == [("item00", "yes"), ("item01", "no"), ("item01", "yes")]
    assert 5 <= history[-1].seconds < 3600  # five seconds were looked at, the hour was paused


def test_texts_are_shown_as_text_and_highlights_as_prepared(tmp_path, served, browser):
    made = studies.study(n=4)
    save_study(made, tmp_path)
    page = started(opened(browser, served(tmp_path).links["ada"]))
    for item in made.items:
        lines = page.eval_on_selector_all("#item .text", "all => all.map(one => one.textContent.trim())")
        assert lines == [" ".join(words) for words in item.texts]
        marked = page.eval_on_selector_all("#item mark", "all => all.map(one => one.textContent)")
        assert marked == [item.texts[text][word] for text, word in item.panels[0]]
        assert page.query_selector("#item b:not(.prediction b)") is None  # "<b>" is a word of the text
        press(page, "y")


def test_words_are_marked_with_keys_alone_and_preferences_chosen(tmp_path, served, browser):
    for task in ("marking", "preference"):
        save_study(studies.study(task, n=2), tmp_path / task)
    page = started(opened(browser, served(tmp_path / "marking").links["ada"]))
    page.keyboard.press("Enter")
    page.wait_for_selector("#error:not([hidden])")
    assert "No word is marked" in page.text_content("#error")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Space", "ArrowLeft", "Space", "Space"):
        page.keyboard.press(key)
    press(page, "Enter")
    page.click('.word[data-place="1,2"]')
    page.click("#answers button")
    page.wait_for_selector("#done:not([hidden])")
    study = read_study(tmp_path / "marking")
    latest = AnswerFile(tmp_path / "marking", study, "ada").latest()
    assert [one.marked for one in latest.values()] == [((0, 2),), ((1, 2),)]
    page = started(opened(browser, served(tmp_path / "preference").links["ada"]))
    assert page.eval_on_selector_all("#item .panel", "all => all.length") == 2
    press(page, "2")
    press(page, "0")
    study = read_study(tmp_path / "preference")
    latest = AnswerFile(tmp_path / "preference", study, "ada").latest()
    assert [one.answer for one in latest.values()] == ["second", "same"]


def test_on_a_phone_everything_fits_and_taps_answer(tmp_path, served, browser):
    save_study(studies.study(n=4), tmp_path)
    phone = {"viewport": {"width": 360, "height": 640}, "is_mobile": True, "has_touch": True}
    page = opened(browser, served(tmp_path).links["ada"], **phone)
    page.tap("#start")
    page.wait_for_selector("#item:not([hidden])")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360
    for name in ("#answers button:first-child", "#answers button:last-child", "#back", "#skip", "#pause"):
        box = page.query_selector(name).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert box["y"] + box["height"] <= 640
        assert box["height"] >= 30
    page.tap("#answers button:first-child")
    page.wait_for_function("() => document.getElementById('count').textContent.startsWith('Item 2')")
    assert AnswerFile(tmp_path, read_study(tmp_path), "ada").latest()["item00"].answer == "yes"
