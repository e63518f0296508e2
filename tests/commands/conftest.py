"""What several tests of commands share: a folder for results and a finished audit."""

from pathlib import Path

import pytest

from support import saved_models


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def no_files_of_figures(finished, monkeypatch):
    """They take longest."""
    monkeypatch.setattr("whence.auditing.write_report.save", lambda *_: [])


@pytest.fixture(scope="module")
def finished() -> Path:
    return saved_models.audited()
