import numpy as np
import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.results.columns import Column, Columns

COLUMNS = Columns(
    "one row per example",
    example=Column(int, "number of the example"),
    label=Column(str, "its class"),
    weight=Column(float, "largest weight"),
    right=Column(bool, "predicted rightly"),
)


def row(**changes):
    return {"example": 0, "label": "pos", "weight": 0.5, "right": True} | changes


def test_rows_become_a_table_in_the_declared_order():
    table = COLUMNS.table([dict(reversed(row().items())), row(example=1, weight=1)])
    assert list(table.columns) == ["example", "label", "weight", "right"]
    assert table["example"].dtype == np.int64
    assert table["weight"].dtype == np.float64
    assert table["right"].dtype == np.bool_
    assert table["weight"].tolist() == [0.5, 1.0]


def test_rows_and_columns_give_the_same_table():
    rows = [row(example=number, label=str(number)) for number in range(3)]
    columns = {
        "example": np.arange(3),
        "label": ("0", "1", "2"),
        "weight": np.full(3, 0.5, "float32"),
        "right": [True] * 3,
    }
    pd.testing.assert_frame_equal(COLUMNS.table(rows), COLUMNS.table(columns))


def test_scalars_of_arrays_are_taken():
    table = COLUMNS.table([row(example=np.int32(4), weight=np.float32(0.25), right=np.True_, label=np.str_("x"))])
    assert table.iloc[0].tolist() == [4, "x", 0.25, True]


def test_no_rows_keep_the_kinds():
    table = COLUMNS.table([])
    assert len(table) == 0
    assert table.dtypes.equals(COLUMNS.table([row()]).dtypes)


def test_missing_numbers_and_texts_may_be():
    table = COLUMNS.table([row(weight=None, label=None), row(weight=float("nan"))])
    assert table["weight"].isna().all()
    assert table["label"].isna().tolist() == [True, False]


def test_what_pandas_calls_missing_is_missing():
    labels = pd.Series(["a", None], dtype="string")
    table = COLUMNS.table({"example": [0, 1], "label": labels, "weight": [1, pd.NA], "right": [True, False]})
    assert table.isna().sum().tolist() == [0, 1, 1, 0]


def test_half_a_surrogate_pair_is_replaced():
    assert COLUMNS.table([row(label="a\ud800é\U0001f600")])["label"].tolist() == ["a\ufffdé\U0001f600"]


def test_missing_and_unknown_names_are_named():
    with pytest.raises(BadData, match=r"row 1 lacks weight and has unknown wieght; .* example, label, weight, right"):
        COLUMNS.table([row(), {"example": 0, "label": "a", "wieght": 1.0, "right": True}])
    with pytest.raises(BadData, match="the table lacks label, weight, right"):
        COLUMNS.table({"example": [1]})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("example", 1.5),
        ("example", None),
        ("label", 3),
        ("weight", "0.5"),
        ("right", 1),
        ("right", None),
        ("weight", [1.0]),
    ],
)
def test_a_value_that_would_be_changed_is_refused(name, value):
    with pytest.raises(BadData, match=f"column '{name}' holds .* row 1 has"):
        COLUMNS.table([row(), row(**{name: value})])


def test_columns_of_different_length_are_refused():
    with pytest.raises(BadData, match="example 2, label 1"):
        COLUMNS.table({"example": [0, 1], "label": ["a"], "weight": [0.1], "right": [True]})


def test_a_column_of_another_kind_is_refused():
    with pytest.raises(BadData, match="int, float, bool or str"):
        Column(list, "things")


def test_meanings_are_told():
    assert COLUMNS.meanings["weight"] == "largest weight"
    assert "one row per example" in repr(COLUMNS)
