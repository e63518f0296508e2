"""An edit as Python code: what a reader can run to get the same numbers without the workbench."""

from collections.abc import Sequence
from typing import Any

from whence.subject.subject import Subject
from whence.workbench.operations.looking import Look
from whence.workbench.operations.overrides import chosen_layers, erased_keys, given_rows, spared
from whence.workbench.operations.requests import Edit

HEAD = """import torch

import whence
from whence.plugin_api import Example

subject = whence.load({load})
batch = subject.encode([Example({example})], ahead=True)
position = {position}
before = subject.predict(batch)[0, position]
"""
END = """    after = subject.predict(batch)[0, position]

print("before", before.tolist())
print("after", after.tolist())
print("TVD", float((before.double() - after.double()).abs().sum()) / 2)
"""
ROWS = """
rows_{number} = torch.tensor({rows})  # [head row key]


def rule_{number}(call):
    weights = call.weights.clone()
    begin, n_key = {first} - call.step * weights.shape[2], rows_{number}.shape[2]
    for row in range(rows_{number}.shape[1]):
        if 0 <= begin + row < weights.shape[2]:
            new = torch.zeros_like(weights[:, :, begin + row])
            new[..., :n_key] = rows_{number}[:, row].to(new)
            weights[:, {heads}, begin + row] = new[:, {heads}]
    return weights

"""


def as_python(subject: Subject, look: Look, edits: Sequence[Edit]) -> str:
    """Python that predicts a text before and after these edits."""
    position = 0 if look.prediction is None else look.prediction["position"]
    code = HEAD.format(load=_loading(subject), example=_example(subject, look), position=position)
    blocks = []
    for number, edit in enumerate(edits):
        code += _rule(subject, look, edit, number)
        code += f"edit_{number} = dict.fromkeys({_sites(look, edit)!r}, rule_{number})\n"
        blocks.append(f"whence.attending(subject.model, override=edit_{number}, watch=None)")
    opening = ",\n    ".join(blocks)
    return code + (f"with (\n    {opening},\n):\n" if blocks else "with torch.no_grad():\n") + END


def _loading(subject: Subject) -> str:
    precision = str(subject.model.dtype).removeprefix("torch.")
    given = {"task": subject.task.name, "device": str(subject.device), "dtype": precision}
    usual = {"device": "cpu", "dtype": "float32"}
    options = [f"{name}={value!r}" for name, value in given.items() if value != usual.get(name)]
    return ", ".join([repr(subject.name), *options])


def _example(subject: Subject, look: Look) -> str:
    request = look.request
    given: dict[str, Any] = {"pair": request.pair}
    if subject.task.needs == "target":
        given["target"] = request.target_text
    return ", ".join([repr(request.text), *(f"{name}={value!r}" for name, value in given.items() if value is not None)])


def _sites(look: Look, edit: Edit) -> list[str]:
    stack = look.stack(edit.stack)
    return [stack.sites[layer] for layer in chosen_layers(stack, edit)]


def _rule(subject: Subject, look: Look, edit: Edit, number: int) -> str:
    """The line or lines that define the override of an edit."""
    stack, options = look.stack(edit.stack), edit.options
    if edit.override in ("row", "rows"):
        heads = ":" if edit.heads is None else list(edit.heads)
        rows = given_rows(stack, edit).tolist()
        return ROWS.format(number=number, rows=rows, first=options.query, heads=heads)
    made = {
        "uniform": "whence.uniform",
        "permuted": f"whence.permuted({options.seed})",
        "random": f"whence.random({options.seed})",
        "temperature": f"whence.temperature({options.degrees!r})",
    }.get(edit.override) or f"whence.without({erased_keys(look, stack, edit)})"
    named = {"heads": edit.heads, "queries": options.queries}
    confined = [f"{axis}={list(places)}" for axis, places in named.items() if places is not None]
    made += f".only({', '.join(confined)})" if confined else ""
    keys = spared(subject, look, stack, edit)
    return f"rule_{number} = {made}{f'.sparing({keys})' if keys else ''}\n"
