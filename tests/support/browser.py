"""A page in a browser without a window: what it looks like to its scripts when it has run."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1700,1300",
)


def outcome(page, folder, *flags):
    """What the page's scripts put as JSON into the element `outcome`."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no chromium here to open a page with; `apt-get install chromium` brings it")
    (folder / "page.html").write_text(page, encoding="utf-8")
    address, mine = (folder / "page.html").as_uri(), f"--user-data-dir={folder / 'browser'}"
    run = subprocess.run(
        [found, *FLAGS, *flags, mine, "--dump-dom", address], capture_output=True, text=True, timeout=120, check=False
    )
    said = re.search(r'<pre id="outcome">(.*?)</pre>', run.stdout, flags=re.DOTALL)
    assert said, f"the page said nothing; the browser: {run.stderr[-2000:]}"
    return json.loads(unescape(said[1]))


def with_script(page, script):
    """The page with a script at the end of its module, where the module's own functions can be called."""
    told = 'Object.assign(document.body.appendChild(document.createElement("pre")), {id: "outcome"}).textContent ='
    end = "</script></body></html>"
    assert page.count(end) == 1
    return page.replace(
        end, f"\nfunction tests() {{\n{script}\n}}\nconst found = JSON.stringify(tests());\n{told} found;\n{end}"
    )
