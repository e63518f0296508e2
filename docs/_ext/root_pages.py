"""Links of pages that also stand in the repository: to files outside the docs they become plain names.

CHANGELOG.md, CONTRIBUTING.md and others are included. On the repository's own pages their links go to `docs/PAGE.md`
and to source files; on the site the former go to the page, and the latter have nowhere to go.
"""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)\s]+)\)")


def on_the_site(text: str, page: Path, docs: Path) -> str:
    """The page with its links as the site has them."""

    def link(found: re.Match[str]) -> str:
        words, (target, hash_mark, anchor) = found[1], found[2].partition("#")
        file = next((f for f in (page.parent / target, ROOT / target) if f.exists()), None)
        if file is None or file.is_dir() or not file.resolve().is_relative_to(docs):
            return words if file else found[0]
        inside = Path("/") / file.resolve().relative_to(docs)
        return f"[{words}]({inside.as_posix()}{hash_mark}{anchor})"

    return LINK.sub(link, text)


def _read(app: Any, name: str, source: list[str]) -> None:
    source[0] = on_the_site(source[0], Path(app.env.doc2path(name)), Path(app.srcdir).resolve())


def _included(app: Any, path: Path, parent: str, source: list[str]) -> None:
    source[0] = on_the_site(
        source[0], ROOT / path if not Path(path).is_absolute() else Path(path), Path(app.srcdir).resolve()
    )


def setup(app: Any) -> dict[str, bool]:
    """Look at every page as it is read."""
    app.connect("source-read", _read)
    app.connect("include-read", _included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
