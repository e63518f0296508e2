"""Models that ask their config which attention they run must get the same answer while they are attended."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from support import zoo
from support.subjects import outputs
from whence import adopt, attending, sites
from whence.huggingface.probe import all_configs

MODELS = Path(hf.__file__).parent / "models"
SPARSE = ["deepseek-v32", "glm-moe-dsa"]


def questions(source: str) -> Iterator[int]:
    """Lines outside `__init__` that compare `_attn_implementation`, or use it as a key, other than for the lookup."""
    tree = ast.parse(source)
    forwards = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name != "__init__"]
    for node in (inner for function in forwards for inner in ast.walk(function)):
        if isinstance(node, ast.Compare | ast.Subscript) and "_attn_implementation" in ast.unparse(node):
            yield node.lineno


@functools.cache
def asking() -> dict[str, list[int]]:
    """The modeling files of the installed transformers that ask, and where."""
    files = sorted(MODELS.glob("*/modeling_*.py"))
    texts = {path.parent.name: path.read_text(encoding="utf-8") for path in files}
    return {
        name: found
        for name, text in texts.items()
        if "_attn_implementation" in text and (found := sorted(set(questions(text))))
    }


def test_the_script_finds_the_models_that_ask():
    assert {"deepseek_v32", "glm_moe_dsa"} <= set(asking())
    assert len(asking()) < 60, "most models only look a function up"


@pytest.mark.parametrize("name", ["bert", "llama", "gpt-oss", "t5", *SPARSE])
def test_every_config_answers_as_before_while_the_model_is_attended(name):
    """The general cure: whatever a model asks of its configs, inside `attending` they are the same objects."""
    model = adopt(zoo.BY_NAME[name].build())
    configs = {path: module.__dict__.get("config") for path, module in model.named_modules()}
    contents = [dict(vars(config)) for config in all_configs(model)]
    with attending(model):
        assert all(module.__dict__.get("config") is configs[path] for path, module in model.named_modules())
        assert [dict(vars(config)) for config in all_configs(model)] == contents
    assert {config._attn_implementation for config in all_configs(model)} <= {"sdpa", "eager"}


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_an_indexer_chooses_the_same_keys_beyond_its_top_k(name, implementation):
    """Each query sees `index_topk` keys at most; a model that took us for another implementation would see all."""
    model = zoo.BY_NAME[name].build()
    model.set_attn_implementation(implementation)
    topk, ids = model.config.index_topk, torch.arange(2 * 23).reshape(2, 23) % 90 + 3
    before = outputs(model, {"input_ids": ids, "use_cache": False})
    adopt(model)
    with attending(model) as tape:
        assert_close(outputs(model, {"input_ids": ids, "use_cache": False}), before, atol=1e-5, rtol=1e-5)
    assert list(tape) == list(sites(model))
    for call in tape.calls():
        seen = (call.weights > 0).sum(-1)
        assert int(seen.max()) == topk
        assert (seen <= call.mask.expand_as(call.weights).sum(-1)).all()
