"""`whence doctor`: versions, devices, data folders, and what is missing for what."""

import json
import os
import platform
import shutil
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Annotated, Any

from whence import __version__
from whence.commands._shared import HERE, Output, parsed

WHAT_FOR = {
    "hub": "datasets of the Hugging Face hub by name (hub:NAME)",
    "parsers": "dependency trees made by spaCy",
    "serve": "`whence serve` and `whence annotate serve`",
    "ray": "studies on a Ray cluster (`whence study --engine ray`)",
    "slurm": "studies as Slurm jobs (`whence study --engine slurm`)",
    "wordcloud": "word clouds (without it, lists of words)",
    "docs": "building the documentation",
    "test": "the tests",
    "lint": "`make lint`",
}
SHOWN = ("torch", "transformers", "tokenizers", "huggingface_hub", "numpy", "pandas", "scipy", "captum")


def command(arguments: list[str]) -> int:
    """`whence doctor`; exit code 1 if something that Whence itself needs is missing."""

    @dataclass(frozen=True)
    class Options:
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "doctor", arguments, "Print versions, devices, data folders, and what is missing.")
    found: dict[str, Any] = {"versions": versions(), "devices": devices(), "folders": folders(), "packages": packages()}
    print(json.dumps(found, indent=1) if options.output.json else described(found))
    return 1 if found["packages"]["core"]["missing"] else 0


def versions() -> dict[str, str]:
    """Whence, Python, the system and the libraries that results depend on."""
    ours = {"whence": __version__, "python": platform.python_version(), "system": platform.platform()}
    return ours | {name: installed_version(name) or "not installed" for name in SHOWN}


def installed_version(package: str) -> str | None:
    """The installed version of a package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def devices() -> dict[str, str]:
    """What `--device` can be, with what is known about each."""
    if installed_version("torch") is None:
        return {}
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = {"cpu": f"{cores} cores, {torch.get_num_threads()} threads"}
    for number in range(torch.cuda.device_count()):
        about = torch.cuda.get_device_properties(number)
        found[f"cuda:{number}"] = f"{about.name}, {about.total_memory / 2**30:.1f} GiB"
    if torch.backends.mps.is_available():
        found["mps"] = "Apple GPU"
    return found


def folders() -> dict[str, dict[str, Any]]:
    """Where corpora and hub models are kept, the space left there, and which corpora are there or missing."""
    from huggingface_hub.constants import HF_HUB_CACHE

    from whence.data.download.corpus_folder import CorpusFolder, data_folder
    from whence.data.registry import CORPORA

    corpora, here = data_folder(), "$WHENCE_DATA" if os.environ.get("WHENCE_DATA") else "the user's cache"
    native = [entry for entry in map(CORPORA.get, CORPORA.built_in) if entry.kind == "native"]
    kept = [CorpusFolder(entry, corpora / entry.name) for entry in native]
    there = [folder.entry.name for folder in kept if folder.path.exists() and not folder.missing()]
    missing = [entry.name for entry in native if entry.name not in there]
    return {
        "corpora": {"path": str(corpora), "set by": here, **space(corpora), "there": there, "missing": missing},
        "hub cache": {"path": str(HF_HUB_CACHE), **space(Path(HF_HUB_CACHE))},
    }


def space(folder: Path) -> dict[str, Any]:
    """Whether a folder exists, and how many GB are free where it is or would be."""
    parent = next(one for one in (folder.absolute(), *folder.absolute().parents) if one.exists())
    return {"exists": folder.exists(), "free GB": round(shutil.disk_usage(parent).free / 1e9, 1)}


def packages() -> dict[str, dict[str, Any]]:
    """For the core and each extra: what it is for, and the packages that are missing or too old."""
    from packaging.requirements import Requirement

    found: dict[str, dict[str, Any]] = {"core": {"for": "everything", "missing": []}}
    for text in requires("whence") or []:
        requirement = Requirement(text)
        if requirement.name == "whence":  # an extra that is made of others
            continue
        groups = [extra for extra in WHAT_FOR if requirement.marker and requirement.marker.evaluate({"extra": extra})]
        for group in groups if requirement.marker else ["core"]:
            row = found.setdefault(group, {"for": WHAT_FOR.get(group, ""), "missing": []})
            there = installed_version(requirement.name)
            if there is None or not requirement.specifier.contains(there, prereleases=True):
                row["missing"].append(
                    f"{requirement.name}{requirement.specifier}" + (f" (is {there})" if there else "")
                )
    return found


def described(found: dict[str, Any]) -> str:
    """The same for people."""
    lines = ["Versions", *(f"  {name:<16} {text}" for name, text in found["versions"].items())]
    lines += ["", "Devices (--device)", *(f"  {name:<16} {text}" for name, text in found["devices"].items())]
    corpora, cache = found["folders"]["corpora"], found["folders"]["hub cache"]
    lines += ["", "Folders", f"  corpora          {corpora['path']} (by {corpora['set by']}; {_space(corpora)})"]
    lines += [f"    there          {', '.join(corpora['there']) or 'none; synthetic corpora need no files'}"]
    lines += [f"    missing        {', '.join(corpora['missing']) or 'none'}"]
    lines += ["    get one        whence data get NAME"] if corpora["missing"] else []
    lines += [f"  hub cache        {cache['path']} ({_space(cache)})", "", "Packages"]
    for name, row in found["packages"].items():
        state = "all there" if not row["missing"] else f"missing: {', '.join(row['missing'])}"
        get = f"; pip install 'whence[{name}]'" if row["missing"] and name != "core" else ""
        lines.append(f"  {name:<16} {state}{get} (for {row['for']})")
    core = found["packages"]["core"]["missing"]
    lines += ["", f"Whence cannot work: install {', '.join(core)}" if core else "Whence can work."]
    return "\n".join(lines)


def _space(folder: dict[str, Any]) -> str:
    return f"{'exists' if folder['exists'] else 'not made yet'}, {folder['free GB']} GB free"
