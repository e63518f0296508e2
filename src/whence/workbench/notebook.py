"""`whence.show(subject, text)`: the head view of the workbench in a notebook, which works offline when exported."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.attribution.registry import EXPLAINERS, names
from whence.core.errors import BadConfig
from whence.options import checked
from whence.results.atomic_write import saving
from whence.subject.subject import Subject, load
from whence.workbench.operations.embedding import page_answers
from whence.workbench.operations.looking import Look, complete, look
from whence.workbench.operations.requests import LookRequest, content_id
from whence.workbench.standalone import in_frame, standalone


@dataclass(frozen=True, eq=False)
class Shown:
    """A text's attention as a page: shown by a notebook in a frame that can reach nothing around it."""

    look: Look
    page: str

    def save(self, path: str | Path) -> Path:
        """Write the page, which needs neither a server nor a network."""
        path = Path(path)
        if path.suffix != ".html":
            raise BadConfig(f"the page is written to a file ending in .html; {path.name!r} does not")
        with saving(path):
            path.write_text(self.page, encoding="utf-8", newline="\n")
        return path

    def _repr_html_(self) -> str:
        return in_frame(self.page, f"attention: {self.look.request.text[:80]}")

    def __repr__(self) -> str:
        stacks = ", ".join(f"{one.id} {len(one.weights)} × {max(map(len, one.weights))}" for one in self.look.stacks)
        return f"Shown({self.look.request.text[:60]!r}; layers × heads: {stacks}; {len(self.page):,} characters)"


def show(model: Subject | str | Path, text: str, pair: str | None = None, **options: Any) -> Shown:
    """Look at the attention of a text in a notebook: prediction, token scores, every head.

    `options` are those of a look: `target`, `against`, `at`, `measure`, and `target_text` of a translator. Weights are
    held in eight bits, as many heads as fit into about twelve megabytes before compression.
    """
    subject = model if isinstance(model, Subject) else load(model)
    asked = checked(LookRequest, {"text": text, "pair": pair, "model": "model", **options})
    request = complete(subject, asked)
    seen = look(subject, request, content_id(request))
    methods = {name: EXPLAINERS.about(name) for name in names()}
    return Shown(seen, standalone("look", page_answers(subject, seen, methods)))
