import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from support.models.attentive import Attentive, example
from support.subjects import subject
from whence import attending, sites, uniform
from whence.core.errors import CannotAttend, InvalidWeights, NoAttention, UnknownSite
from whence.core.site import AttentionSite, Call, Site, masked_softmax


def run(model, **options):
    with attending(model, **options) as tape:
        output = model(**example())
    return output, tape


def test_the_tape_holds_what_the_softmax_gave():
    given = example()
    _, tape = run(Attentive())
    assert_close(tape.only("first").weights, masked_softmax(given["scores"], given["mask"]))
    assert_close(tape.only("second").weights, masked_softmax(given["scores"].flip(-1), given["mask"]))
    assert tape.only("first").mask.shape == (2, 1, 1, 4)


def test_a_call_without_a_mask_shows_one_that_permits_everything():
    given = example() | {"mask": None}
    model = Attentive()
    with attending(model) as tape:
        model(**given)
    assert tape.only("first").mask.all()
    assert tape.only("first").mask.shape == (2, 1, 1, 4)


def test_an_override_at_one_site_by_hand():
    """Uniform attention over three or four keys is a plain mean of the values."""
    given = example()
    output, _ = run(Attentive(), override={"first": uniform})
    mean = torch.stack([given["values"][0].mean(1), given["values"][1, :, :3].mean(1)])[:, :, None]
    other = masked_softmax(given["scores"].flip(-1), given["mask"]) @ given["values"]
    assert_close(output, mean.expand(-1, -1, 3, -1) + 10 * other)


def test_a_bare_rule_and_a_star_mean_every_site():
    bare, _ = run(Attentive(), override=uniform)
    star, _ = run(Attentive(), override={"*": uniform})
    both, _ = run(Attentive(), override={"first": uniform, "second": uniform})
    assert_close(bare, star, atol=0.0, rtol=0.0)
    assert_close(bare, both, atol=0.0, rtol=0.0)


def test_several_rules_at_a_site_apply_in_the_order_given():
    def on_the_first_key(call: Call):
        return nn.functional.one_hot(torch.zeros_like(call.weights[..., 0]).long(), 4).to(call.weights)

    _, tape = run(Attentive(), override={"*": uniform, "first": on_the_first_key})
    assert_close(tape.only("first").weights[..., 0], torch.ones(2, 2, 3))
    _, tape = run(Attentive(), override={"first": on_the_first_key, "*": uniform})
    assert_close(tape.only("first").weights[0], torch.full((2, 3, 4), 0.25))


def test_watching_can_be_confined_and_turned_off():
    assert list(run(Attentive(), watch="sec*")[1]) == ["second"]
    assert list(run(Attentive(), watch=["first", "second"])[1]) == ["first", "second"]
    assert list(run(Attentive(), watch=None)[1]) == []


def test_a_site_that_two_globs_match_is_recorded_once():
    _, tape = run(Attentive(), watch=["*", "first"])
    assert {name: len(calls) for name, calls in tape.items()} == {"first": 1, "second": 1}


def test_a_layer_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"no layer \[-1, 7\] among the sites to override; choose from: \[0\]"):
        run(Attentive(), override=uniform.only(layers=[0, -1, 7]))


def test_watchers_get_each_call():
    seen: list[Call] = []
    run(Attentive(), watch=seen.append)
    assert [call.site for call in seen] == [Site("first", 0, "self"), Site("second", 0, "cross")]
    seen = []
    _, tape = run(Attentive(), watch={"second": seen.append})
    assert len(seen) == 1
    assert not tape
    _, tape = run(Attentive(), watch=["first", seen.append])
    assert list(tape) == ["first"]
    assert len(seen) == 3


def test_scores_and_values_are_kept_when_asked_for():
    _, tape = run(Attentive())
    assert tape.only("first").scores is None
    _, tape = run(Attentive(), keep=["scores"])
    assert_close(tape.only("first").scores, example()["scores"])
    with pytest.raises(ValueError, match=r"keep takes 'scores' and 'values', not \['queries'\]"):
        run(Attentive(), keep=["queries"])


def test_weights_stay_on_the_graph():
    given = example()
    given["scores"].requires_grad_()
    model = Attentive()
    with attending(model) as tape:
        output = model(**given)
    (gradient,) = torch.autograd.grad(output.sum(), tape.only("first").weights)
    assert_close(gradient, given["values"].sum(-1)[:, :, None].expand(-1, -1, 3, -1))


def test_layers_are_counted_in_each_stack():
    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(
                nn.ModuleDict({"own": AttentionSite(), "cross": AttentionSite("cross")}) for _ in range(12)
            )

    described = sites(Deep())
    assert described["layers.11.own"] == Site("layers.11.own", 11, "self")
    assert described["layers.2.cross"] == Site("layers.2.cross", 2, "cross")


def test_an_unknown_site_is_answered_with_those_there_are():
    with pytest.raises(UnknownSite, match="no attention site 'thrid'; choose from: first, second"):
        run(Attentive(), override={"thrid": uniform})
    with pytest.raises(UnknownSite, match=r"no attention site 'layer.*'; choose from: first, second"):
        run(Attentive(), watch="layer.*")
    _, tape = run(Attentive(), watch="first")
    with pytest.raises(UnknownSite, match="no attention site 'second'; choose from: first"):
        tape["second"]


def test_a_model_without_attention_is_refused():
    with pytest.raises(NoAttention, match=r"Linear has no attention site; expected .* whence.adopt"):
        run(nn.Linear(2, 2))


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        (
            lambda call: call.weights[..., :2],
            r"at site 'first' returned \[2, 2, 3, 2\]; expected weights \[2, 2, 3, 4\]",
        ),
        (lambda call: None, "at site 'first' returned NoneType; expected weights"),
        (lambda call: call.weights * torch.nan, "at site 'first' returned NaN or infinite weights"),
        (lambda call: call.weights * 2, r"at site 'first' returned rows that do not sum to one \(off by up to 1\)"),
        (lambda call: 2 * call.weights - call.weights.flip(-1), "at site 'first' returned negative weights"),
        (lambda call: torch.full_like(call.weights, 0.25), "at site 'first' put weight on forbidden keys"),
    ],
)
def test_what_is_no_distribution_is_refused_by_name(rule, complaint):
    with pytest.raises(InvalidWeights, match=complaint):
        run(Attentive(), override={"first": rule})


def test_a_compiled_model_is_refused_before_it_runs():
    model = Attentive()
    compiled = torch.compile(model, backend="eager")
    with pytest.raises(CannotAttend, match=r"compiled by torch.compile"):
        run(compiled)
    model.compile(backend="eager")
    with pytest.raises(CannotAttend, match="Use the model as it was before compiling"):
        run(model)


COMPILED = """
import sys; sys.path.insert(0, {folder!r})
import torch
from support.models.attentive import Attentive, example
from whence import attending

model = Attentive()
compiled = torch.compile(model, backend="eager", fullgraph=True)
torch.testing.assert_close(compiled(**example()), model(**example()))
try:
    with attending(model):
        compiled(**example())
except Exception as error:
    assert "while torch.compile traces the model" in str(error), error
else:
    raise AssertionError("no complaint")
torch.testing.assert_close(compiled(**example()), model(**example()))
"""


def test_compiling_while_attended_is_refused():
    """In a process of its own: the type checks of the tests do not go through the compiler."""
    script = COMPILED.format(folder=str(Path(__file__).parents[1]))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_copy_of_an_attended_model_is_not_attended():
    model = Attentive()
    with attending(model):
        copied, pickled = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
        assert model.first.sessions
    bert, _ = subject("bert")
    with attending(bert), pytest.raises(CannotAttend, match="copy or pickle it after the `with attending` block"):
        copy.deepcopy(bert)
    for other in (copied, pickled):
        assert not other.first.sessions
        assert_close(other(**example()), model(**example()), atol=0.0, rtol=0.0)


def test_selecting_from_a_tape():
    given = example()
    _, tape = run(Attentive(), keep=["scores"])
    assert list(tape.select(kind="cross")) == ["second"]
    assert list(tape.select(layer=0)) == ["first", "second"]
    call = tape.select("first", head=1).only()
    assert call.heads == (1,)
    assert_close(call.weights, masked_softmax(given["scores"], given["mask"])[:, 1:])
    assert_close(call.scores, given["scores"][:, 1:])
    with pytest.raises(ValueError, match=r"no head \[2\] at site 'first'; choose from: \[0, 1\]"):
        tape.select("first", head=2)
    with pytest.raises(
        UnknownSite, match=r"no attention site '\*, layer \(3,\), kind pool'; choose from: first, second"
    ):
        tape.select(layer=3, kind="pool")
    with pytest.raises(ValueError, match=r"expected one call at '\*', there are 2: first \(1 calls\), second"):
        tape.only()
    assert "first: 1 × [2, 2, 3, 4]" in repr(tape)
