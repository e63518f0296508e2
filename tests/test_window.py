"""The shop window: what `import whence` offers, and that it costs nothing until it is used."""

import subprocess
import sys

import pytest

import whence


def test_every_name_in_the_window_is_there():
    for name in whence.__all__:
        assert getattr(whence, name).__class__ is not None
    wanted = {"attending", "adopt", "release", "uniform", "random", "permuted", "imposed", "without", "from_logits",
              "scaled", "temperature"}  # fmt: skip
    assert wanted <= set(dir(whence))
    assert len(whence.__all__) <= 20


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(AttributeError, match=r"module 'whence' has no attribute 'atending'; it has: .*attending"):
        _ = whence.atending


def test_importing_whence_does_not_import_torch():
    script = "import sys, whence; assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
