"""Tokens that break pages, and a reader of pages."""

from html.parser import HTMLParser

NASTY = [
    "<script>alert(1)</script>",
    "50%",
    "a_b",
    "\\",
    "שלום",
    "\u202eevil",
    "zero\u200bwidth",
    "\x1b[31mred",
    "\ud800",
    "",
]


class Reader(HTMLParser):
    """Tags and text as a browser would see them."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data
