"""What can go wrong with saved results."""

from whence.core.errors import BadData, WhenceError


class CannotSave(WhenceError, OSError):
    """A result could not be written; nothing half-written is left behind."""


class DamagedResult(BadData):
    """A saved result is incomplete or was changed after it was written."""
