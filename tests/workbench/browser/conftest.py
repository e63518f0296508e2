"""A workbench with small models on a real socket, and a browser without a window that uses it as a person does."""

import csv
import io
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
import uvicorn
from PIL import Image

from support import saved_models
from support.browser import FLAGS, NAMES
from whence.workbench.access import Access, secured
from whence.workbench.application import application
from whence.workbench.opening import Opening, open_workbench
from whence.workbench.server import bound_socket

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
TOKEN = "a-token-for-tests-in-a-browser"
TEXT = "the film was truly great and the story fine"
PATIENCE = 60_000  # milliseconds; a busy machine is no failure


class Served:
    """A workbench that runs, and its address."""

    def __init__(self, bench, address):
        self.bench, self.address = bench, address

    def link(self, page="/", **state):
        return f"{self.address}{page}" + (f"?{urlencode(state)}" if state else "")


@contextmanager
def running(bench) -> Iterator[Served]:
    """The application of a workbench, served by a thread."""
    with bound_socket("127.0.0.1", 0) as listening:
        app = secured(application(bench), Access(TOKEN))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive(), "the server did not start"
                time.sleep(0.02)
            yield Served(bench, f"http://127.0.0.1:{listening.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join()


def opened(folder, *models, data=None):
    first, *others = map(str, models)
    return open_workbench(
        Opening(model=first, also=tuple(others), data=data and str(data), folder=folder), say=lambda _: None
    )


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A BERT that was trained on reviews, and their table."""
    with running(opened(tmp_path_factory.mktemp("folder"), saved_models.bert(), data=saved_models.labelled())) as made:
        yield made


@pytest.fixture(scope="module")
def browser():
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no chromium here to open a page with; `make browser` brings it")
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=found, args=[*FLAGS, "--disable-quic"])
        yield made
        made.close()


@pytest.fixture
def context(browser):
    """A visitor who has opened nothing yet."""
    made = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


@pytest.fixture
def page(context, served):
    """A page of a visitor who came by the printed address; nothing may be said on its console as an error."""
    said: list[str] = []
    made = context.new_page()
    made.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    made.on("pageerror", lambda error: said.append(str(error)))
    made.goto(f"{served.address}/?token={TOKEN}")
    yield made
    assert said == []


def look_at(page, text=TEXT):
    """Type a text and ask to see it."""
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Look", exact=True).click()
    page.locator(".strip").first.wait_for()


def choice(place, name):
    """A list to choose from, by its label."""
    return place.get_by_role("combobox", name=name, exact=True)


def settled(page):
    """Wait until nothing is being worked on."""
    page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")


def saved(page, place, kind):
    """The file that a button of a part of the page saves; pressed again if a slow machine swallowed the first press."""
    for patience in (20_000, 60_000):
        try:
            with page.expect_download(timeout=patience) as download:
                place.locator(f"[data-save={kind}]").click()
            return download.value.path().read_bytes()
        except sync_api.TimeoutError:
            settled(page)
    raise AssertionError(f"{kind} was not saved")


def saved_kinds(page, place):
    """Save a part of the page in every format, and see that each is one."""
    drawn = ElementTree.fromstring(saved(page, place, "svg"))
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(drawn.iter())) > 3
    with Image.open(io.BytesIO(saved(page, place, "png"))) as picture:
        assert picture.format == "PNG"
        assert len(picture.convert("RGB").getcolors(1 << 24) or ()) > 1, "an empty picture"
    rows = list(csv.reader(io.StringIO(saved(page, place, "csv").decode())))
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1
    alone = saved(page, place, "html").decode()
    assert "Content-Security-Policy" in alone
    assert not re.search(r'(src|href)="(https?:)?/', alone), "needs a server"
