"""The looks that are held in memory; one that was dropped is computed again when it is asked for."""

import threading
from collections import OrderedDict

from whence.workbench.operations.looking import Look
from whence.workbench.operations.requests import Edit, LookRequest

HELD = 400_000_000  # bytes of weights
REMEMBERED = 10_000  # requests whose looks can be computed again

Recipe = tuple[LookRequest, tuple[Edit, ...]]


class UnknownLook(KeyError):
    """A look was asked for that nobody has made."""

    def __str__(self) -> str:
        return str(self.args[0])


class Looks:
    """Looks by id, the last used ones held; and how the others were made."""

    def __init__(self, held: int = HELD) -> None:
        self.held, self._lock = held, threading.Lock()
        self._looks: OrderedDict[str, Look] = OrderedDict()
        self._recipes: OrderedDict[str, Recipe] = OrderedDict()

    def get(self, name: str) -> Look | None:
        """A look, if it is held."""
        with self._lock:
            if name in self._looks:
                self._looks.move_to_end(name)
            return self._looks.get(name)

    def recipe(self, name: str) -> Recipe:
        """How a look is made."""
        with self._lock:
            if name not in self._recipes:
                raise UnknownLook(f"there is no look {name[:40]!r}; look at the text again")
            return self._recipes[name]

    def put(self, look: Look) -> Look:
        """Hold a look; the longest unused are dropped where there is no room, never this one."""
        with self._lock:
            self._looks[look.id] = look
            self._looks.move_to_end(look.id)
            self._recipes[look.id] = look.request, look.edits
            self._recipes.move_to_end(look.id)
            while len(self._looks) > 1 and sum(one.bytes for one in self._looks.values()) > self.held:
                self._looks.popitem(last=False)
            while len(self._recipes) > REMEMBERED:
                self._recipes.popitem(last=False)
        return look

    def __len__(self) -> int:
        return len(self._looks)
