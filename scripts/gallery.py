"""Draw the figures of the gallery: explainers and experiments on small models, by the code that the page shows.

`python scripts/gallery.py [NAME ...]` trains the models of `docs/gallery.toml` that are needed, in the folder
`gallery-models`, runs the code of each figure and writes `docs/images/explainers/NAME.svg` or
`docs/images/experiments/NAME.svg`. Without names, all.
"""

import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
WORK = ROOT / "gallery-models"


def gallery() -> dict[str, Any]:
    """What `docs/gallery.toml` says."""
    return tomllib.loads((ROOT / "docs" / "gallery.toml").read_text(encoding="utf-8"))


def codes() -> dict[str, tuple[str, str]]:
    """The model that each figure needs ("" for none) and the code that draws it, by the figure's name."""
    from whence.attribution.registry import EXPLAINERS

    asked = gallery()
    explainers = {
        name: (asked["explainers"]["model"], _of_explainer(name, asked["explainers"])) for name in EXPLAINERS.built_in
    }
    experiments = {name: (of.get("model", ""), _of_experiment(name, of)) for name, of in asked["experiments"].items()}
    return explainers | experiments


def image(name: str) -> Path:
    """Where the figure of an explainer or experiment is kept."""
    return IMAGES / ("experiments" if name in gallery()["experiments"] else "explainers") / f"{name}.svg"


def training(model: str) -> str:
    """The code that trains a model of the gallery."""
    of = gallery()["models"][model]
    arguments = "".join(f"    {option}={_literal(value)},\n" for option, value in of["options"].items())
    return f'import whence\n\nwhence.train(\n    "{of["model"]}",\n{arguments}    out="{model}",\n)'


def _of_explainer(name: str, of: Mapping[str, Any]) -> str:
    methods = [name, *(other for other in of["beside"] if other != name)]
    return (
        f'import whence\n\nexplanation = whence.explain(\n    "{of["model"]}",\n    "{of["text"]}",\n'
        f"    methods={methods},\n)\nexplanation.to_svg()"
    ).replace("'", '"')


def _of_experiment(name: str, of: Mapping[str, Any]) -> str:
    arguments = "".join(f"    {option}={_literal(value)},\n" for option, value in of.items())
    return f'import whence\n\nresult = whence.run(\n    "{name}",\n{arguments}    out="results",\n)\nresult.figure()'


def _literal(value: Any) -> str:
    return repr(value).replace("'", '"')


def drawn(code: str) -> str:
    """Run the code; its last line is the picture."""
    from whence.figures.style import as_svg

    lines = code.splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines[:-1]), names)
    picture = eval(lines[-1], names)
    return picture if isinstance(picture, str) else as_svg(picture)


def main(arguments: list[str]) -> int:
    """Draw the figures that are named, or all."""
    known = codes()
    unknown = sorted(set(arguments) - set(known))
    if unknown:
        print(f"no figure {unknown[0]!r}; choose from: {', '.join(known)}", file=sys.stderr)
        return 2
    WORK.mkdir(exist_ok=True)
    os.chdir(WORK)
    for name in arguments or known:
        model, code = known[name]
        print(name, flush=True)
        if model:
            exec(training(model), {})
        image(name).parent.mkdir(parents=True, exist_ok=True)
        image(name).write_text(drawn(code), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
