"""Settings that every test shares."""

import os
import re
import subprocess
import sys

# bfloat16 products end some machines with an illegal instruction; must be set before torch is imported
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # processes that tests start share two cores with other tests

import hypothesis
import pytest
import torch
import transformers

hypothesis.settings.register_profile("house", deadline=None)  # how long a test takes is not its matter
hypothesis.settings.load_profile("house")
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
torch.set_num_threads(1)  # two test processes on two cores


@pytest.fixture(scope="session")
def bfloat16() -> torch.dtype:
    """bfloat16, if this machine can multiply in it: tried in another process, since failing ends the process."""
    product = "import torch; a = torch.ones(64, 64, dtype=torch.bfloat16); assert (a @ a)[0, 0] == 64"
    tried = subprocess.run([sys.executable, "-c", product], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("this machine cannot multiply in bfloat16")
    return torch.bfloat16


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def pytest_terminal_summary(terminalreporter):
    """Tell how many laws held for how many families; here, since a controlling process reads no other conftest."""
    held: dict[str, set[str]] = {}
    for report in terminalreporter.stats.get("passed", []):
        law = re.search(r"test_laws\.py::test_(\w+)\[([\w-]+?)(?:-(?:float32|bfloat16|\(\d, \d\)))?\]$", report.nodeid)
        if law and report.when == "call":
            held.setdefault(law[1], set()).add(law[2])
    if held:
        families = set().union(*held.values())
        terminalreporter.section("laws")
        terminalreporter.line(f"{len(held)} laws held, {len(families)} families in all")
        for law, names in sorted(held.items()):
            terminalreporter.line(f"  {len(names):3d} families: {law.replace('_', ' ')}")


@pytest.fixture(scope="session")
def stories():
    """Stories of which one sentence answers the question."""
    from whence.data import registry as catalogue

    return catalogue.load("stories")


@pytest.fixture(scope="session")
def story_reader(stories, tmp_path_factory):
    """A small model that has learned to answer the questions, through attention alone; trained once a process."""
    from whence.training.config import Training
    from whence.training.train import train

    training = Training(
        data="stories", attention="dot", embedding_size=32, hidden_size=32, learning_rate=1e-2, epochs=10
    )
    return train(training, tmp_path_factory.mktemp("trained") / "stories", corpus=stories, quiet=True)
