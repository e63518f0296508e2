"""`whence explain --flow`."""

import pytest

from support import saved_models
from support.command import whence


@pytest.mark.parametrize(("ending", "begins"), [("html", b"<!DOCTYPE"), ("svg", b"<svg"), ("pdf", b"%PDF")])
def test_a_flow_beside_the_explanation(ending, begins, capsys, tmp_path):
    said = whence(
        capsys, "explain", saved_models.bert(), "so dull", "--method", "random", "--flow", tmp_path / f"flow.{ending}"
    )
    assert (said.code, "deepest shade" in said.out) == (0, True)
    assert (tmp_path / f"flow.{ending}").read_bytes().startswith(begins)


def test_a_flow_that_cannot_be_written(capsys, tmp_path):
    said = whence(capsys, "explain", "nowhere", "so dull", "--flow", tmp_path / "flow.png")
    assert said.code == 2
    assert "a flow diagram is written to a file ending in .html, .svg, .pdf; 'flow.png' does not" in said.err
    said = whence(
        capsys, "explain", saved_models.bert(), "so dull", "--method", "random", "--flow", tmp_path / "no" / "flow.svg"
    )
    assert said.code == 2
    assert "could not write in" in said.err
    assert "--flow" in said.err


def test_shades_over_the_range_of_scores(capsys):
    said = whence(
        capsys, "explain", saved_models.bert(), "so dull", "--method", "random", "--shading", "range", "--form", "latex"
    )
    assert "no shade = " in said.out
    assert r"\colorbox[RGB]{255,255,255}" in said.out  # the least score
    assert r"\colorbox[RGB]{102,170,209}" in said.out  # the largest
