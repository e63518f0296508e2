"""Nobody's code is run by loading a model."""

import json
import os
import pickle

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from support import zoo
from support.subjects import outputs, subject
from whence.core.errors import CannotLoad
from whence.models import AdditiveForSequenceClassification
from whence.subject.loading import load_model


class Trap:
    """A pickle of this writes a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.fixture
def saved(tmp_path):
    folder = tmp_path / "model"
    zoo.BY_NAME["bert"].build().save_pretrained(folder)
    return folder


def as_bin(folder, content):
    (folder / "model.safetensors").unlink()
    torch.save(content, folder / "pytorch_model.bin")


def test_a_saved_model_is_loaded_for_the_task_it_was_saved_for(saved, tmp_path):
    model, (_, inputs) = load_model(saved), subject("bert")
    assert type(model).__name__ == "BertForSequenceClassification"
    assert not model.training
    assert_close(outputs(model, inputs), outputs(zoo.BY_NAME["bert"].build(), inputs))
    assert type(load_model(saved, "base")).__name__ == "BertModel"
    for name, kind in [("t5", "T5ForConditionalGeneration"), ("llama", "LlamaForCausalLM"), ("vit", "ViTForImage")]:
        zoo.BY_NAME[name].build().save_pretrained(tmp_path / name)
        assert type(load_model(tmp_path / name)).__name__.startswith(kind)
    zoo.BY_NAME["additive-lstm-dot"].build().save_pretrained(tmp_path / "ours")
    assert isinstance(load_model(tmp_path / "ours"), AdditiveForSequenceClassification)


def test_a_bare_encoder_without_its_pooler_goes_without(saved, tmp_path):
    """Many encoders are saved so; a pooler drawn at random would make another model of each loading."""
    bare = load_model(saved, "base")
    del bare.pooler
    bare.register_module("pooler", None)
    bare.save_pretrained(tmp_path / "bare")
    assert load_model(tmp_path / "bare").pooler is None
    whole = load_model(saved, "base")
    whole.save_pretrained(tmp_path / "whole")
    assert load_model(tmp_path / "whole").pooler is not None
    weights = load_file(tmp_path / "bare" / "model.safetensors")
    lost = next(name for name in weights if name.startswith("encoder.layer.1."))
    save_file(
        {name: weight for name, weight in weights.items() if name != lost},
        tmp_path / "bare/model.safetensors",
        metadata={"format": "pt"},
    )
    with pytest.raises(CannotLoad, match=r"has no weights for encoder\.layer\.1"):
        load_model(tmp_path / "bare")


def test_dtype_is_the_users_choice(saved):
    assert load_model(saved, dtype=torch.float64).dtype == torch.float64
    assert load_model(saved).dtype == torch.float32


def test_a_bin_of_plain_tensors_is_loaded(saved):
    as_bin(saved, zoo.BY_NAME["bert"].build().state_dict())
    _, inputs = subject("bert")
    assert_close(outputs(load_model(saved), inputs), outputs(zoo.BY_NAME["bert"].build(), inputs))


def test_a_bin_that_holds_more_than_tensors_is_refused_and_nothing_runs(saved, tmp_path):
    as_bin(saved, {"weight": Trap(tmp_path / "sprung")})
    with pytest.raises(CannotLoad, match=r"a pickle that holds more than tensors.* Ask for them as safetensors"):
        load_model(saved)
    assert not (tmp_path / "sprung").exists()


def test_safetensors_are_preferred_to_a_bin_beside_them(saved, tmp_path):
    torch.save({"weight": Trap(tmp_path / "sprung")}, saved / "pytorch_model.bin")
    load_model(saved)
    assert not (tmp_path / "sprung").exists()


def test_code_that_comes_with_a_model_is_not_run(saved, tmp_path):
    config = json.loads((saved / "config.json").read_text())
    config |= {"model_type": "strange", "auto_map": {"AutoConfig": "trap.Config", "AutoModel": "trap.Model"}}
    (saved / "config.json").write_text(json.dumps(config))
    (saved / "trap.py").write_text(f"import os; os.mkdir({str(tmp_path / 'sprung')!r})")
    with pytest.raises(CannotLoad, match=r"brings its own Python code.*trust_remote_code=True"):
        load_model(saved)
    assert not (tmp_path / "sprung").exists()


def test_a_broken_file_is_said_to_be_broken(saved):
    weights = saved / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(CannotLoad, match="could not be loaded"):
        load_model(saved)


def test_a_pickled_model_is_refused(tmp_path):
    file = tmp_path / "model.pt"
    file.write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(CannotLoad, match=r"model.pt is a file; expected a folder .*save_pretrained"):
        load_model(file)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("/no/such/folder", r"there is no folder /no/such/folder \(there is /\); expected a folder written by save_p"),
        ("nobody/nothing", "there is no folder nobody/nothing, and no model of that name could be loaded from the hub"),
    ],
)
def test_what_is_not_there_is_said(name, complaint):
    with pytest.raises(CannotLoad, match=complaint):
        load_model(name)


def test_an_unknown_task_is_answered_with_those_there_are(saved):
    with pytest.raises(CannotLoad, match=r"no task 'sentiment'; choose from: sequence-classification, token-class"):
        load_model(saved, "sentiment")


def without(folder, *prefixes):
    """The same model, some of whose weights are not in the file."""
    file = folder / "model.safetensors"
    kept = {name: weight for name, weight in load_file(file).items() if not name.startswith(prefixes)}
    save_file(kept, file, metadata={"format": "pt"})
    return folder


@pytest.mark.parametrize("lost", ["classifier.", "bert.encoder.layer.1.", "bert.pooler.dense.bias"])
def test_weights_that_are_missing_are_not_drawn_at_random(saved, lost):
    with pytest.raises(CannotLoad, match=rf"has no weights for {lost}.*random; expected a BertForSequenceClass"):
        load_model(without(saved, lost))


def test_a_bare_model_has_no_head_unless_it_is_to_get_one(saved, tmp_path):
    load_model(saved, "base").save_pretrained(tmp_path / "bare")
    with pytest.raises(CannotLoad, match=r"no weights for classifier.weight, classifier.bias, so they would be random"):
        load_model(tmp_path / "bare", "sequence-classification")
    assert load_model(tmp_path / "bare", "sequence-classification", labels="abc").config.num_labels == 3
    assert load_model(saved, labels="abc").config.num_labels == 3
    with pytest.raises(CannotLoad, match=r"no weights for bert\.encoder\.layer\.1\."):
        load_model(without(saved, "bert.encoder.layer.1."), labels="abc")


@pytest.mark.parametrize("name", ["roberta", "gpt2", "t5", "bart", "marian", "deberta-v2", "xlnet", "albert"])
def test_what_a_family_never_saves_is_not_missed(name, tmp_path):
    """Tied weights, numbers of positions, positions that are computed."""
    zoo.BY_NAME[name].build().save_pretrained(tmp_path / name)
    load_model(tmp_path / name)
    load_model(tmp_path / name, "base")


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"hidden_size": "x"}, "could not be loaded: Validation error for field 'hidden_size'"),
        ({"hidden_size": 64}, "the sizes in its config.json are not those of its weights"),
    ],
)
def test_a_config_that_does_not_fit_gets_one_line(saved, changed, complaint):
    config = json.loads((saved / "config.json").read_text()) | changed
    (saved / "config.json").write_text(json.dumps(config))
    with pytest.raises(CannotLoad, match=complaint) as refused:
        load_model(saved)
    assert "\n" not in str(refused.value)


def test_a_name_that_is_too_long_for_a_file_is_no_folder():
    with pytest.raises(CannotLoad, match="there is no folder xxx"):
        load_model("x" * 300)


def test_weights_that_are_no_numbers_are_refused(saved):
    weights = load_file(saved / "model.safetensors")
    weights["classifier.bias"][0] = float("nan")
    save_file(weights, saved / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CannotLoad, match=r"holds weights that are no numbers \(classifier.bias\).* for float32"):
        load_model(saved)
