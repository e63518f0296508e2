"""The errors, each with its own class, so that a caller can distinguish them."""

from collections.abc import Iterable

NO_MEMORY = ("can't allocate memory", "out of memory")  # torch has no error class for the first


class WhenceError(Exception):
    """Base of every error that Whence raises on purpose."""


class UnknownSite(WhenceError, KeyError):
    """A site was requested that the model does not have."""

    def __init__(self, asked: str, there_are: Iterable[str]) -> None:
        self.asked, self.there_are = asked, tuple(there_are)
        listed = ", ".join(self.there_are) or "none"
        super().__init__(f"no attention site {asked!r}; choose from: {listed}")

    def __str__(self) -> str:  # KeyError would show the message as a quoted repr
        return str(self.args[0])


class NoAttention(WhenceError, ValueError):
    """The model has no attention site."""


class InvalidWeights(WhenceError, ValueError):
    """An override returned something that is not a distribution over the permitted keys."""


class CannotAttend(WhenceError, RuntimeError):
    """Attention cannot be watched or replaced in the way the model is being run."""


class CannotAdopt(WhenceError, RuntimeError):
    """A model's attention could not be given sites that are provably right."""


class CannotLoad(WhenceError, RuntimeError):
    """A saved model was refused or could not be read."""


class CannotReplay(WhenceError, RuntimeError):
    """A recorded forward pass could not be re-run from a site on."""


class BadData(WhenceError, ValueError):
    """A corpus or table could not be read, or does not hold what is needed."""


class BadConfig(WhenceError, ValueError):
    """An option has a value that makes no sense."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that there is no memory left, on a processor or a device."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in NO_MEMORY)
