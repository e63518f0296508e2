"""Parts of a page: tolerances in words, and long summaries cut on the page and whole in a file."""

import pandas as pd

from whence.reproducing.ledger_figure import MAX_ROWS, describe_tolerance, summary_part
from whence.reproducing.study import FigureSpec, Number


def test_tolerances_in_words():
    numbers = [
        Number(quantity="share at 1"),
        *(Number(quantity=q, within=0.03) for q in ("NLL at 1", "KL at 1", "KL at 2")),
    ]
    figure = FigureSpec(name="f", about="", experiment="adversary", cases=(), within=0.02, number=numbers)
    assert describe_tolerance(figure) == "Tolerance: 0.02; of NLL and KL 0.03."
    assert describe_tolerance(figure.model_copy(update={"number": ()})) == "Tolerance: 0.02."
    assert describe_tolerance(figure.model_copy(update={"number": (), "within": 0.0})) == ""


def test_a_long_summary_is_cut_on_the_page_and_whole_in_a_file(tmp_path):
    table = pd.DataFrame({"method": [f"m{n}" for n in range(MAX_ROWS + 1)], "value": 0.5})
    short = summary_part(table[:MAX_ROWS], 2, tmp_path, "short.csv")
    assert short.count("\n") == MAX_ROWS + 1
    assert not (tmp_path / "short.csv").exists()
    long = summary_part(table, 2, tmp_path, "long.csv")
    assert long.startswith(short)
    assert long.endswith(f"The first {MAX_ROWS} of {MAX_ROWS + 1} rows; all are in [a table](long.csv).")
    assert pd.read_csv(tmp_path / "long.csv").equals(table)
