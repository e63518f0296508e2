"""A table explained in batches has the scores that each text has by itself."""

import json

import pandas as pd
import pytest
from pyarrow import parquet

from support.models.classifier import classifier
from whence.api import explain
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.explaining.options import ExplainOptions
from whence.explaining.score_rows import COLUMNS, score_rows
from whence.results.write_rows import write_rows

METHODS = {"leave_one_out": explainer("leave_one_out"), "gradient_x_input": explainer("gradient_x_input")}
TEXTS = ["a good film", "an unbelievable story , not bad !", "bad", "the movie was not good", "Zebra film"]
NUMBERS = [3, 4, 7, 20, 21]


def parts(options: ExplainOptions | None = None, batch_size: int = 2):
    examples = [Example(text) for text in TEXTS]
    return score_rows(subject(), examples, NUMBERS, options or ExplainOptions(), METHODS, {}, batch_size)


def subject(made=[]):  # noqa: B006  (made once)
    if not made:
        made.append(classifier())
    return made[0]


@pytest.mark.parametrize("words", [False, True])
def test_one_text_at_a_time(words):
    rows = pd.concat([table for table, _ in parts(ExplainOptions(words=words))])
    assert list(rows.columns) == list(COLUMNS)
    for number, text in zip(NUMBERS, TEXTS, strict=True):
        alone = explain(subject(), text, methods=tuple(METHODS), words=words, summary=False)
        mine = rows[rows["example"] == number]
        assert set(mine["prediction"]) == {alone.prediction}
        assert mine["probability"].to_numpy() == pytest.approx(alone.probability, abs=1e-6)
        for method, scores in alone.scores.items():
            one = mine[mine["method"] == method]
            assert one["token"].tolist() == alone.tokens
            assert one["score"].tolist() == pytest.approx(scores, abs=1e-5)
    assert rows["example"].is_monotonic_increasing


def test_offsets_are_those_of_the_text():
    rows = pd.concat([table for table, _ in parts(ExplainOptions(words=True))])
    texts = dict(zip(NUMBERS, TEXTS, strict=True))
    spelled = [texts[row.example][row.start : row.end] for row in rows.itertuples()]
    assert spelled == rows["token"].tolist()
    pieces = pd.concat([table for table, _ in parts()])
    cut = [texts[row.example][row.start : row.end].lower() for row in pieces.itertuples()]
    assert cut == [token.removeprefix("##").lower() for token in pieces["token"]]


def test_what_fits_one_text_only_is_refused():
    with pytest.raises(BadConfig, match="text by text; leave out paragraphs"):
        next(parts(ExplainOptions(paragraphs=True)))


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".jsonl"])
def test_files_of_rows_come_back(ending, tmp_path):
    whole = pd.concat([table for table, _ in parts()], ignore_index=True)
    path = tmp_path / f"scores{ending}"
    cut = [(whole[:7], {"a": "how"}), (whole[7:], {"a": "how"})]
    assert write_rows(path, cut) == len(whole)
    read = {".parquet": pd.read_parquet, ".csv": pd.read_csv, ".jsonl": lambda p: pd.read_json(p, lines=True)}[ending]
    back = read(path).astype(COLUMNS)
    pd.testing.assert_frame_equal(back, whole, check_exact=False)
    if ending == ".parquet":
        assert json.loads(parquet.read_schema(path).metadata[b"whence"]) == {"a": "how"}


def test_a_file_that_could_not_be_finished_is_not_there(tmp_path):
    def broken():
        yield next(parts())
        raise RuntimeError("cut off")

    with pytest.raises(RuntimeError, match="cut off"):
        write_rows(tmp_path / "scores.parquet", broken())
    assert not list(tmp_path.iterdir())
