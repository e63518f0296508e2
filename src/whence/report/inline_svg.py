"""Figures inlined into a page: checked, with unique ids, left out where the page would grow too large."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable

from whence.core.errors import BadData
from whence.figures.style import with_ids
from whence.report.page_model import AuditPage

_FORBIDDEN = {"script", "foreignObject", "iframe", "image", "style", "a", "animate", "set"}


def checked(svg: str, prefix: str) -> str:
    """The SVG with unique ids, if it is only a picture: no scripts, no links, nothing external."""
    try:
        if "<!" in svg:
            raise ValueError("it has declarations or comments")
        elements = list(ElementTree.fromstring(svg).iter())
    except (ElementTree.ParseError, ValueError) as error:
        raise BadData(f"a figure must be SVG as whence.figures makes it; this one cannot be read: {error}") from error
    if _local(elements[0].tag) != "svg":
        raise BadData(f"a figure must be SVG; this is <{_local(elements[0].tag)}>: draw it with whence.figures")
    for element in elements:
        _refuse_what_acts(element)
    return with_ids(svg, prefix)


def _refuse_what_acts(element: ElementTree.Element) -> None:
    tag = _local(element.tag)
    if tag in _FORBIDDEN:
        raise BadData(f"a figure may not hold <{tag}>; draw it with whence.figures")
    for name, value in element.attrib.items():
        outside = _local(name) == "href" and not value.startswith("#")
        if outside or _local(name).lower().startswith("on") or "url(" in value.replace("url(#", ""):
            raise BadData(
                f"a figure may not hold the attribute {_local(name)}={value[:40]!r}; draw it with whence.figures"
            )


def _local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]


def places(page: AuditPage) -> Iterable[tuple[tuple[int, int, int], int]]:
    """Every figure of the page as (part, question, number), with its size in bytes."""
    for part_number, part in enumerate(page.parts):
        for question, figures in part.figures.items():
            for number, (_, svg) in enumerate(figures):
                yield (part_number, question, number), len(svg.encode())


def too_many(page: AuditPage, excess: int) -> set[tuple[int, int, int]]:
    """The largest figures, as many as must be left out to save so many bytes."""
    left_out: set[tuple[int, int, int]] = set()
    for place, size in sorted(places(page), key=lambda figure: (-figure[1], figure[0])):
        if excess <= 0:
            break
        left_out.add(place)
        excess -= size - 400  # the note in its place takes some
    return left_out
