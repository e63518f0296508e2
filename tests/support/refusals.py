"""Commands that are refused, and the one sentence that they print."""

from pathlib import Path

from support import saved_models
from support.command import Said, whence


def refused(said: Said, *words: str) -> str:
    """That it was one sentence and no traceback; the sentence."""
    assert said.code == 2, said
    assert said.out == ""
    sentence = said.err.strip()
    assert sentence.startswith("whence: ")
    assert "Traceback" not in sentence
    for word in words:
        assert word in sentence, sentence
    return sentence


def audit(capsys, data: Path, out: Path, *options: object, model: object = None) -> Said:
    model = model or saved_models.bert()
    return whence(capsys, "audit", model, data, "--out", out, *saved_models.AUDIT_OPTIONS, "--quiet", *options)


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path
