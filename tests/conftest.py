"""Settings, options and fixtures that every test shares."""

import os
import re
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING

# bfloat16 products end some machines with an illegal instruction; must be set before torch is imported
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # processes that tests start share two cores with other tests

import pytest

from support import shared, type_checks

if TYPE_CHECKING:
    import torch

# Imported before whence: jaxtyping's loader compiles from source whatever is first imported from inside our modules.
HEAVY = (
    "pandas",
    "scipy.stats",
    "sklearn.linear_model",
    "matplotlib.pyplot",
    "pydantic",
    "transformers.modeling_utils",
)

SLOW = (
    "reproducing/test_run.py",
    "auditing/test_killed.py",
    "auditing/test_run.py",
    "commands/test_commands.py",
    "commands/test_full_disk.py",
    "experiments/test_adversary.py",
    "experiments/test_guide.py",
    "experiments/test_ablation_translation.py",
    "experiments/syntax/test_epochs.py",
    "explainers/test_known_answer.py",
    "explainers/test_narratives.py",
    "test_plugins.py",
    "test_tutorial.py",
)


def pytest_addoption(parser):
    words = "run every law on every family of models, fuzz at full length, check types at every call"
    parser.addoption("--all-families", action="store_true", help=words)


def pytest_configure(config):
    """Prepare a process that runs tests; one that only hands them out to others needs no torch."""
    if not hasattr(config, "workerinput"):
        shared.open_folder()
        config.add_cleanup(shared.close_folder)
    if not config.option.all_families:
        type_checks.check_some_calls()
    if not getattr(config.option, "numprocesses", None):
        prepare()


def pytest_runtest_setup(item):
    type_checks.begin_test()


def prepare():
    for name in HEAVY:
        import_module(name)
    import hypothesis
    import torch
    import transformers

    hypothesis.settings.register_profile("whence", deadline=None)  # a slow machine is no failure
    hypothesis.settings.load_profile("whence")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)  # two test processes on two cores


def pytest_collection_modifyitems(config, items):
    """Slow files first, so that the processes end together; leave out what runs with `--all-families` only."""
    items.sort(key=lambda item: not item.nodeid.partition("::")[0].endswith(SLOW))
    if config.option.all_families:
        return
    left_out = [item for item in items if item.get_closest_marker("every_family")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("every_family")]


@pytest.fixture(scope="session")
def bfloat16() -> "torch.dtype":
    """bfloat16, if this machine can multiply in it: tried in another process, since failing ends the process."""
    import torch

    product = "import torch; a = torch.ones(64, 64, dtype=torch.bfloat16); assert (a @ a)[0, 0] == 64"
    tried = subprocess.run([sys.executable, "-c", product], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("this machine cannot multiply in bfloat16")
    return torch.bfloat16


@pytest.fixture
def generator() -> "torch.Generator":
    import torch

    return torch.Generator().manual_seed(0)


def pytest_terminal_summary(terminalreporter):
    """Print how many laws held for how many families; here, since a controlling process reads no other conftest."""
    held: dict[str, set[str]] = {}
    for report in terminalreporter.stats.get("passed", []):
        law = re.search(r"test_laws\.py::test_(\w+)\[([\w-]+?)(?:-(?:float32|bfloat16|\(\d, \d\)))?\]$", report.nodeid)
        if law and report.when == "call":
            held.setdefault(law[1], set()).add(law[2])
    if held:
        families = set().union(*held.values())
        terminalreporter.section("laws")
        terminalreporter.line(f"{len(held)} laws held, {len(families)} families in all")
        for said, names in sorted(held.items()):
            terminalreporter.line(f"  {len(names):3d} families: {said.replace('_', ' ')}")


@pytest.fixture(scope="session", autouse=True)
def one_process():
    """Train in this process: small models are trained sooner than a second process starts."""
    from whence.training import train

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "processors", lambda: 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def outlined_pdf():
    """Letters in PDF are drawn (Type 3): cutting a font to size (Type 42) takes a third of a second for each figure."""
    from whence.figures import style

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(style._HOUSE, "pdf.fonttype", 3)
        yield


@pytest.fixture
def figures_as_svg_alone(monkeypatch):
    """Figures are saved as SVG alone: PDF and PNG of each take longer than what is tested."""
    from whence.figures import style
    from whence.reproducing import ledger_figure, relative_loss

    save = style.save
    for module in (style, ledger_figure, relative_loss):
        monkeypatch.setattr(module, "save", lambda figure, path, *_: save(figure, path, ("svg",)))


@pytest.fixture(scope="session")
def few_reviews():
    """Reviews to train a small model on within a second."""
    from whence.data.synthetic import reviews

    return reviews.load(sizes={"train": 150, "dev": 40, "test": 40})


@pytest.fixture(scope="session")
def stories():
    """Stories of which one sentence answers the question."""
    from whence.data import registry

    return registry.load("stories")


@pytest.fixture(scope="session")
def story_reader(stories):
    """A small model that has learned to answer the questions, through attention alone; trained once in a test run."""
    from whence.subject.subject import load
    from whence.training.config import Training
    from whence.training.train import train

    sizes = {"embedding_size": 32, "hidden_size": 32}
    training = Training(data="stories", attention="dot", learning_rate=1e-2, epochs=10, patience=10, **sizes)
    return load(shared.once("story-reader", lambda folder: train(training, folder, corpus=stories, quiet=True)))
