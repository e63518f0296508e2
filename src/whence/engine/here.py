"""The engine of this very process: one call at a time, when its outcome is asked for."""

from collections import deque

from whence.engine.call import Call, Outcome, perform


class HereEngine:
    """No worker processes: nothing to start, and nothing survives this process."""

    workers = 1

    def __init__(self) -> None:
        self._waiting: deque[Call] = deque()

    def submit(self, call: Call) -> None:
        """Keep the call until its outcome is asked for."""
        self._waiting.append(call)

    def completed(self, timeout: float) -> Outcome | None:
        """Perform the next call, however long it takes."""
        return perform(self._waiting.popleft()) if self._waiting else None

    def close(self) -> None:
        """Forget what is waiting."""
        self._waiting.clear()
