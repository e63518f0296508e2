"""Resume: beside a hook and one forward pass for each edit, on models of many forms."""

import pytest
import torch
from torch import nn

from support import subjects
from whence.core.errors import CannotReplay
from whence.core.replay import hidden_states as resuming
from whence.core.replay.hidden_states import Resume

LAYERS = {
    "bert": "bert.encoder.layer.0",
    "gpt2": "transformer.h.0",
    "xlnet": "transformer.layer.0",
    "t5": "encoder.block.0",
    "modernbert": "model.layers.0",
    "bart": "model.decoder.layers.0",
    "transformer-pre-sinusoidal": "encoder.layers.0",
    "additive-lstm-additive": "encoder",
}


def logits(output):
    return output.logits


def zeroed(states, numbers):
    """Copy n without unit n."""
    edited = states.clone()
    for copy, unit in enumerate(numbers):
        edited[copy, ..., unit] = 0.0
    return edited


def one_by_one(model, module, inputs, units, ordinal=0):
    found = []
    for unit in units:
        calls = [0]

        def erase(module, args, output, unit=unit, calls=calls):
            calls[0] += 1
            if calls[0] != ordinal + 1:
                return output
            states = (output if isinstance(output, torch.Tensor) else output[0]).clone()
            states[..., unit] = 0.0
            return states if isinstance(output, torch.Tensor) else (states, *output[1:])

        hook = module.register_forward_hook(erase)
        with torch.no_grad():
            found.append(model(**inputs).logits)
        hook.remove()
    return torch.stack(found)


@pytest.mark.parametrize("name", LAYERS)
def test_units_of_a_layer_against_one_pass_each(name):
    model, inputs = subjects.subject(name)
    module = model.get_submodule(LAYERS[name])
    resume = Resume(model, module, inputs, logits)
    expected = one_by_one(model, module, inputs, range(5))
    torch.testing.assert_close(resume(zeroed, 5), expected, atol=2e-5, rtol=1e-4)
    assert float((expected - resume.output).abs().max()) > 1e-4, "nothing was edited"
    assert resume.partial


def test_a_layer_that_is_shared_is_altered_at_one_of_its_calls():
    model, inputs = subjects.subject("albert")
    module = model.albert.encoder.albert_layer_groups[0].albert_layers[0]
    for ordinal in (0, 1):
        resume = Resume(model, module, inputs, logits, ordinal=ordinal)
        expected = one_by_one(model, module, inputs, range(3), ordinal)
        torch.testing.assert_close(resume(zeroed, 3), expected, atol=2e-5, rtol=1e-4)


def test_chunks_make_no_difference(monkeypatch):
    model, inputs = subjects.subject("bert")
    whole = Resume(model, model.get_input_embeddings(), inputs, logits)
    parts = Resume(model, model.get_input_embeddings(), inputs, logits, budget=1)
    ran = []

    def noted(edit, numbers):
        ran.append(numbers)
        return Resume._run(parts, edit, numbers)

    monkeypatch.setattr(parts, "_run", noted)
    torch.testing.assert_close(parts(zeroed, 7), whole(zeroed, 7), atol=1e-5, rtol=1e-4)
    assert ran == [range(n, n + 1) for n in range(7)]


def test_what_had_finished_is_not_run_again():
    model, inputs = subjects.subject("bert")
    first, second = model.bert.encoder.layer[0], model.bert.encoder.layer[1]
    resume, ran = Resume(model, second, inputs, logits), []
    hooks = [
        one.attention.self.query.register_forward_hook(lambda *_, n=n: ran.append(n))
        for n, one in enumerate((first, second))
    ]
    resume(zeroed, 4)
    for hook in hooks:
        hook.remove()
    assert ran == []


class Counting(nn.Module):
    """Returns something else whenever it is run, unless all of it is run: it cannot be taken up in the middle."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 2)
        self.before = None

    def forward(self, x):
        hidden = self.first(x)
        self.before = x.clone()
        return self.second(hidden) + (0.0 if len(x) == 2 else 1.0 * len(x))


def test_a_model_that_mixes_its_texts_is_refused():
    model = Counting().eval()
    with pytest.raises(CannotReplay, match="does not reproduce what was recorded"):
        Resume(model, model.first, {"x": torch.ones(2, 3)}, lambda output: output)
    with pytest.raises(CannotReplay, match="called a Linear 1 times"):
        Resume(model, model.first, {"x": torch.ones(2, 3)}, lambda output: output, ordinal=1)


def test_the_whole_model_runs_where_part_of_it_cannot(monkeypatch):
    model, inputs = subjects.subject("bert")
    module = model.bert.encoder.layer[0]
    monkeypatch.setattr(resuming, "recorded_outputs", lambda *_: (_ for _ in ()).throw(RuntimeError("no")))
    resume = Resume(model, module, inputs, logits)
    assert not resume.partial
    torch.testing.assert_close(resume(zeroed, 3), one_by_one(model, module, inputs, range(3)), atol=2e-5, rtol=1e-4)
