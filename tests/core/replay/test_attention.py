"""Partial recomputation gives what full forward passes give, by whichever strategy it goes."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from support import zoo
from support.subjects import outputs, subject
from whence import Replay, attending, from_logits, imposed, permuted, sites, uniform, without
from whence.core.errors import CannotReplay, InvalidWeights, UnknownSite
from whence.core.tape import Tape

EVERY = [family.name for family in zoo.EVERY]
LAST_LAYER_ROWS = ["bert", "roberta", "distilbert", "electra", "modernbert", "gpt2", "vit", "esm", "deit"]


def full_passes(model, inputs, site, weights):
    """The slow strategy: one forward pass for each override."""
    results = []
    for given in weights:
        with attending(model, override={site: imposed(given)}, watch=None):
            results.append(outputs(model, inputs))
    return torch.stack(results)


@pytest.mark.parametrize("name", EVERY)
def test_every_site_of_every_model_is_replayed_exactly(name):
    model, inputs = subject(name)
    with attending(model) as tape:
        outputs(model, inputs)
    for site in sites(model):
        shuffle = permuted(0)
        overridden = [Tape({site: [replace(c, weights=shuffle(c)) for c in tape[site]]}) for _ in range(2)]
        expected = full_passes(model, inputs, site, overridden)
        with torch.no_grad():
            replay = Replay(model, site, inputs)
            got = torch.cat([replay(imposed(weights)) for weights in overridden])
        assert_close(got, expected, atol=1e-5, rtol=1e-4)
        assert replay.strategy in ("queries", "rows", "context", "batch"), replay.rejected


@pytest.mark.parametrize("shape", [(1, 6), (6, 6)], ids=str)
@pytest.mark.parametrize(
    "name", ["bert", "gpt2", "llama", "bloom", "deberta-v2", "deberta", "xlm", "t5", "marian", "opt"]
)
def test_one_text_and_as_many_texts_as_tokens_are_replayed_exactly(name, shape):
    model, _ = subject(name)
    ids = 3 + torch.arange(shape[0] * shape[1]).reshape(shape)
    inputs: dict[str, object] = {"input_ids": ids}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids.flip(1)
    if not name.startswith(("bert", "deberta", "xlm")):
        inputs["use_cache"] = False
    for site in sites(model):
        with attending(model, watch=site) as tape:
            outputs(model, inputs)
        overridden = permuted(0)(tape.only(site))
        expected = full_passes(model, inputs, site, [overridden])
        replay = Replay(model, site, inputs)
        assert_close(
            replay(imposed(overridden), times=2), expected.expand(2, *expected.shape[1:]), atol=1e-5, rtol=1e-4
        )
        assert replay.strategy != "full" or shape == (6, 6) or name == "deberta-v2", (
            replay.rejected
        )  # it folds its heads


@pytest.mark.parametrize("name", LAST_LAYER_ROWS)
def test_a_classifier_is_followed_through_its_read_out_row_alone(name):
    model, inputs = subject(name)
    *_, last = sites(model)
    replay = Replay(model, last, inputs)
    assert replay.strategy == "rows", replay.rejected
    assert replay.rows.shape == (2, 1)
    if name == "gpt2":  # reads the last token before the padding
        assert replay.rows.flatten().tolist() == [10, 7]
    else:
        assert replay.rows.flatten().tolist() == [0, 0]
    first = Replay(model, next(iter(sites(model))), inputs)
    assert first.strategy == "context"


def test_a_model_that_reads_every_row_is_followed_through_all_of_them():
    model, inputs = subject("xlm-roberta")
    *_, last = sites(model)
    assert Replay(model, last, inputs).strategy == "context"
    bert, inputs = subject("bert")
    *_, last = sites(bert)
    whole = Replay(bert, last, inputs | {"output_hidden_states": True}, read=lambda out: out.hidden_states[-1])
    assert whole.strategy == "context"


def test_a_mean_over_tokens_reads_every_row():
    model, inputs = subject("transformer-post-learned")
    *_, last = sites(model)
    with torch.no_grad():
        assert Replay(model, last, inputs).strategy == "batch"


@pytest.mark.parametrize("name", ["additive-lstm-additive", "bert", "t5", "deberta-v2"])
def test_many_alterations_in_chunks_are_the_same_as_in_one(name):
    model, inputs = subject(name)
    site = list(sites(model))[-1]
    with torch.no_grad():
        at_once = Replay(model, site, inputs)(imposed_each(model, inputs, site), times=7)
        in_chunks = Replay(model, site, inputs, budget=1)(imposed_each(model, inputs, site), times=7)
    assert at_once.shape[:2] == (7, 2)
    assert_close(at_once, in_chunks, atol=1e-5, rtol=1e-4)


def imposed_each(model, inputs, site):
    with attending(model, watch=site) as tape:
        outputs(model, inputs)
    return imposed(uniform(tape.only(site)))


def test_confinement_means_the_same_in_every_copy():
    """Overrides of one example or one special token, K copies of the batch at once, against full passes."""
    model, inputs = subject("bert")
    site = next(iter(sites(model)))
    special = torch.zeros(2, 11, dtype=torch.bool)
    special[:, 0] = special[0, 10] = special[1, 7] = True
    for override in (uniform.only(examples=1), uniform.only(heads=[0, 2]).sparing(special), without(special)):
        with attending(model, override={site: override}, watch=None):
            expected = outputs(model, inputs)
        with torch.no_grad():
            got = Replay(model, site, inputs)(override, times=3)
        assert_close(got, expected.expand(3, -1, -1), atol=1e-6, rtol=1e-5)


def test_permutations_are_drawn_anew_for_every_copy():
    model, inputs = subject("additive-lstm-additive")
    with torch.no_grad():
        outcomes = Replay(model, "attention", inputs)(permuted(0), times=20)
    assert len({tuple(row.tolist()) for row in outcomes[:, 0]}) > 10


def test_gradients_flow_from_the_output_to_a_learnable_override():
    model, inputs = subject("bert")
    for site in sites(model):
        with attending(model, watch=site) as tape:
            outputs(model, inputs)
        logits = torch.zeros_like(tape.only(site).weights, requires_grad=True)
        with attending(model, override={site: from_logits(logits)}, watch=None):
            (expected,) = torch.autograd.grad(model(**inputs).logits.pow(2).sum(), logits)
        replay = Replay(model, site, inputs)
        rows = replay.rows
        given = logits if rows is None else torch.zeros_like(logits[:, :, :1], requires_grad=True)
        (got,) = torch.autograd.grad(replay(from_logits(given)).pow(2).sum(), given)
        assert_close(got, expected if rows is None else expected[:, :, :1], atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("name", ["additive-lstm-additive", "bert", "gpt-oss", "deberta-v2"])
@pytest.mark.parametrize("batch", [1, 2])
def test_each_time_may_have_logits_or_weights_of_its_own(name, batch):
    model, inputs = subject(name)
    inputs = {key: value[:batch] if isinstance(value, torch.Tensor) else value for key, value in inputs.items()}
    for site in sites(model):
        with attending(model, watch=site) as tape:
            outputs(model, inputs)
        own = tape.only(site).weights
        logits = torch.randn(5, *own.shape, generator=torch.Generator().manual_seed(0))
        weights = torch.stack([from_logits(given)(tape.only(site)) for given in logits])
        expected = full_passes(model, inputs, site, list(weights))
        for budget in (1, 2**30):  # one by one, and all at once
            replay = Replay(model, site, inputs, budget=budget)
            with torch.no_grad():
                assert_close(replay(from_logits(logits), times=5), expected, atol=1e-5, rtol=1e-4)
                assert_close(replay(imposed(weights), times=5), expected, atol=1e-5, rtol=1e-4)
        with pytest.raises(InvalidWeights, match=r"logits given for site .* are \[5"):
            replay(from_logits(logits), times=6)


def test_outputs_are_on_the_graph_only_if_the_weights_are():
    model, inputs = subject("bert")
    replay = Replay(model, next(iter(sites(model))), inputs)
    assert not replay(permuted(0)).requires_grad
    assert replay(from_logits(torch.zeros(1, 1, 1, 11, requires_grad=True)), times=3).requires_grad
    with pytest.raises(ValueError, match="times must be 1 or more"):
        replay(uniform, times=0)


def test_nothing_remains_after_a_replay():
    model, inputs = subject("bert")
    before = outputs(model, inputs)
    replay = Replay(model, list(sites(model))[-1], inputs)
    with torch.no_grad():
        replay(permuted(0), times=4)
    assert not any("forward" in module.__dict__ for module in model.modules())
    assert_close(outputs(model, inputs), before, atol=0.0, rtol=0.0)


def test_a_pass_that_cannot_be_repeated_is_refused():
    model = zoo.BY_NAME["transformer-pre-sinusoidal"].build()
    _, inputs = subject("transformer-pre-sinusoidal")
    model.train()
    with pytest.raises(CannotReplay, match=r"does not reproduce what was recorded .* Is it in evaluation mode"):
        Replay(model, "encoder.layers.0.self_attention", inputs)


def test_one_site_is_wanted():
    model, inputs = subject("bert")
    with pytest.raises(ValueError, match="expected one site; '\\*' matches 2: bert"):
        Replay(model, "*", inputs)
    with pytest.raises(UnknownSite, match=r"no attention site 'nowhere'; choose from: bert.encoder"):
        Replay(model, "nowhere", inputs)


@pytest.mark.parametrize(
    ("name", "strategy"),
    [("additive-lstm-additive", "queries"), ("bert", "context"), ("bert", "rows"), ("deberta-v2", None), ("t5", None)],
)
@pytest.mark.parametrize("budget", [1, 2**20])
def test_every_time_may_have_keys_of_its_own(name, strategy, budget):
    """Other keys each time, in one chunk or in many, against one full pass for each."""
    model, inputs = subject(name)
    site = list(sites(model))[0 if strategy == "context" else -1]
    with attending(model, watch=site) as tape:
        outputs(model, inputs)
    batch, _, _, n_key = tape.only(site).weights.shape
    keys = torch.rand(5, batch, n_key, generator=torch.Generator().manual_seed(0)) < 0.4
    expected = []
    for mask in keys:
        with attending(model, override={site: without(mask)}, watch=None):
            expected.append(outputs(model, inputs))
    with torch.no_grad():
        replay = Replay(model, site, inputs, budget=budget)
        got = replay(without(keys), times=5)
    assert strategy in (None, replay.strategy)
    assert_close(got, torch.stack(expected), atol=1e-5, rtol=1e-4)
    with pytest.raises(ValueError, match=r"for each copy of the batch .* \[times batch key\] or more; they are"):
        replay(without(keys[:3]), times=5)
    with pytest.raises(ValueError, match=r"for each copy of the batch .*; they are torch.bool"):
        replay(without(keys[:, :, 1:]), times=5)
