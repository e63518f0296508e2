"""Results that are kept with the pages: of each figure, case and seed a small table and a manifest, no corpus text.

A page is made from these alone, so it is the same on every machine. What is run anew replaces what was kept, and what
is not stays. `earlier.json` has rows and paragraphs of runs whose tables were not kept; they stand until they are run
again.
"""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from whence.core.errors import BadData
from whence.data.registry import resolve
from whence.reproducing.measured import Earlier, FigureResult, order_of
from whence.reproducing.study import Scale, Study
from whence.results.atomic_write import saving
from whence.results.experiment import experiment
from whence.results.result import Result
from whence.results.store import table_bytes
from whence.results.to_json import plain

FOLDER, EARLIER = "results", "earlier.json"
KEPT = ("seed", "corpus", "seconds", "row", "columns", "notes", "versions", "platform", "made")
OF_A_MACHINE = ("model", "data_dir", "device", "adversarial", "guided_by")  # options that name a path or a processor
OF_TRAINING = ("dev", "losses", "best", "seconds", "health", "notes")


def stem_of(one: FigureResult, scale: Scale) -> str:
    """The name of a result's files."""
    words = f"{'quick ' if scale == 'quick' else ''}{one.figure.name} {one.case.name} seed {one.seed}"
    return re.sub(r"\W+", "-", words.lower()).strip("-")


def keep_result(folder: Path, study: Study, scale: Scale, one: FigureResult) -> Path:
    """Write a result's table and manifest into `folder/STUDY`."""
    place = folder / study.name
    with saving(place):
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{stem_of(one, scale)}.json"
        path.with_suffix(".parquet").write_bytes(table_bytes(publishable(one.result)))
        text = json.dumps(plain(_manifest(one, scale)), indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")
    return path


def _manifest(one: FigureResult, scale: Scale) -> dict[str, Any]:
    manifest = one.result.manifest
    config = {name: value for name, value in manifest.get("config", {}).items() if name not in OF_A_MACHINE}
    training = {
        name: Path(value).name if name == "vectors" and value else value
        for name, value in one.record.get("training", {}).items()
        if name not in OF_A_MACHINE
    }
    return {
        "figure": one.figure.name,
        "case": one.case.name,
        "seed": one.seed,
        "scale": scale,
        "experiment": one.result.experiment,
        "config": config,
        "training": {"options": training, **{name: one.record[name] for name in OF_TRAINING if name in one.record}},
        "manifest": {name: manifest[name] for name in KEPT if name in manifest},
    }


def kept_results(folder: Path, study: Study, scale: Scale) -> list[FigureResult]:
    """The results of a study that were kept, in the order of its file; those of figures and cases that it has no more
    are left out.
    """
    figures = {figure.name: figure for figure in study.figure}
    cases = {case.name: case for case in study.case}
    found = []
    for path in sorted((folder / study.name).glob("*.json")):
        if path.name != EARLIER:
            about = _read(path)
            figure, case = figures.get(about["figure"]), cases.get(about["case"])
            if figure is not None and case is not None and about["scale"] == scale:
                table = pd.read_parquet(path.with_suffix(".parquet"), engine="pyarrow")
                result = Result(about["experiment"], table, {"config": about["config"], **about["manifest"]})
                found.append(FigureResult(figure, case, result, about["training"], about["seed"]))
    order = order_of(study)
    return sorted(found, key=lambda one: (order[one.figure.name], order[one.case.name], one.seed))


def read_earlier(folder: Path, study: Study) -> Earlier:
    """What was kept of earlier runs; nothing, if there is no file."""
    path = folder / study.name / EARLIER
    return Earlier(**_read(path)) if path.exists() else Earlier()


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadData(
            f"{path} is damaged ({error}); get it again, or delete it with its table and run again"
        ) from error
    return dict(found)


def publishable(result: Result) -> pd.DataFrame:
    """The table, without the texts of a corpus whose licence may not allow copying: only synthetic ones are ours."""
    known = resolve(str(result.manifest["corpus"]["name"]))
    ours = known is not None and known[0].kind == "synthetic" and "of" not in known[0].variants.get(known[1], {})
    return result.table if ours else experiment(result.experiment).without_texts(result.table)
