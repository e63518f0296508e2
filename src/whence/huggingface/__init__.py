"""Any Hugging Face model gets the same sites as our own: `adopt`, `release`."""

from whence.huggingface.adopt import adopt, release

__all__ = ["adopt", "release"]
