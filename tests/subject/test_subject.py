"""A model, its tokenizer and its task as one thing: loaded, asked, and its word vectors taken hold of."""

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

import whence
from support import saved_models, zoo
from support.tokenizing import byte_pairs, is_reader, reader, wordpiece
from whence.core.errors import BadConfig, CannotLoad
from whence.data.examples import Example
from whence.subject.subject import Subject, load

TASKS = {
    "bert": "sequence-classification",
    "xlm-roberta": "token-classification",
    "t5": "seq2seq",
    "bart": "seq2seq",
    "llama": "causal-lm",
    "additive-lstm-additive": "sequence-classification",
    "transformer-seq2seq-pre": "seq2seq",
}
EXAMPLES = [
    Example("the movie was good", target="the good movie"),
    Example("the story was not unbelievable !", target="a"),
    Example("bad", target="bad film"),
]


@pytest.fixture
def saved(tmp_path):
    """Saves a model of the zoo with a tokenizer."""

    def save(name="bert", tokenizer=None):
        zoo.BY_NAME[name].build().save_pretrained(tmp_path / name)
        (tokenizer or wordpiece()).save_pretrained(tmp_path / name)
        return tmp_path / name

    return save


@pytest.mark.parametrize("name", TASKS)
def test_a_saved_model_answers_as_the_plain_call_does(name, saved):
    subject = whence.load(str(saved(name)))
    assert subject.task.name == TASKS[name]
    batch = subject.encode(EXAMPLES)
    assert set(batch.inputs) <= {"input_ids", "attention_mask", "token_type_ids", "labels"}
    with torch.no_grad():
        logits = zoo.BY_NAME[name].build()(**batch.inputs).logits
    logits = {"sequence-classification": logits[:, None], "causal-lm": logits[:, :-1]}.get(TASKS[name], logits)
    assert_close(subject.predict(batch), logits.softmax(-1), atol=1e-5, rtol=1e-5)
    assert subject.predict(batch).shape[:2] == batch.predicted_positions.shape == batch.labels.shape
    assert TASKS[name] in repr(subject)
    assert str(len(subject.sites)) in repr(subject)


def test_batches_cover_every_example_once_and_say_which():
    subject = reader("bert")
    examples = [Example("good " * (1 + 7 * n % 10)) for n in range(11)]
    batches = list(subject.batches(examples, 3))
    assert [len(batch) for batch in batches] == [3, 3, 3, 2]
    together = torch.empty(11, 2)
    for batch in batches:
        together[batch.examples] = subject.predict(batch)[:, 0]
        for number, mask in zip(batch.examples.tolist(), batch.mask, strict=True):
            assert mask.sum() - 2 == 1 + 7 * number % 10
    alone = torch.cat([subject.predict(subject.encode([example]))[:, 0] for example in examples])
    assert_close(together, alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", [family.name for family in filter(is_reader, zoo.EVERY)])
def test_word_vectors_are_leaves_while_the_block_lasts(name):
    subject = reader(name)
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    batch = subject.encode([Example(e.text, pair=pair, target=e.target) for e in EXAMPLES])
    hooks = [len(module._forward_hooks) for module in subject.model.modules()]
    before = subject.logits(batch).detach()
    with subject.embedded() as leaves:
        within = subject.logits(batch)
        (gradient,) = torch.autograd.grad(within[batch.predicted_positions][:, 0].sum(), leaves[:1])
    assert_close(within.detach(), before)
    assert leaves[0].is_leaf
    assert gradient.shape[:2] == batch.special.shape
    assert (gradient[0, ~batch.special[0]].abs().sum(-1) > 0).any()
    assert [len(module._forward_hooks) for module in subject.model.modules()] == hooks
    subject.logits(batch)
    assert len(leaves) in (1, 2)  # encoder's and decoder's; none added after the block


def test_hooks_are_gone_after_an_error_too():
    subject = reader("bert")
    with pytest.raises(ZeroDivisionError), subject.embedded():
        _ = 1 / 0
    assert not subject.model.get_input_embeddings()._forward_hooks


def test_the_leaf_of_a_word_is_its_vector():
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    with subject.embedded() as leaves:
        subject.logits(batch)
    assert_close(leaves[0].detach(), subject.model.get_input_embeddings().weight[batch.inputs["input_ids"]].detach())


# fingerprints


def test_a_fingerprint_changes_with_one_weight_and_not_with_use(saved):
    folder = saved()
    subject, again = load(folder), load(folder)
    first = subject.fingerprint
    assert first == again.fingerprint
    subject.predict(subject.encode(EXAMPLES))
    assert subject.fingerprint == first
    with torch.no_grad():
        next(again.model.parameters()).view(-1)[17] += 1e-6
    assert again.fingerprint != first


def test_a_fingerprint_is_the_same_before_saving_and_after(saved, tmp_path):
    first = Subject(zoo.BY_NAME["bert"].build(), wordpiece()).fingerprint
    assert load(saved()).fingerprint == first
    (tmp_path / "elsewhere").mkdir()
    load(saved()).model.save_pretrained(tmp_path / "elsewhere")
    wordpiece().save_pretrained(tmp_path / "elsewhere")
    assert load(tmp_path / "elsewhere").fingerprint == first


def test_a_fingerprint_knows_vocabulary_config_dtype_and_order():
    def fingerprint(tokenizer=None, dtype=torch.float32, **config):
        model = zoo.BY_NAME["bert"].build(dtype)
        model.config.update(config)
        return Subject(model, tokenizer or wordpiece()).fingerprint

    other = wordpiece()
    other.backend_tokenizer.normalizer = None
    different = [
        fingerprint(),
        fingerprint(other),
        fingerprint(dtype=torch.float64),
        fingerprint(layer_norm_eps=1e-3),
        fingerprint(id2label={0: "a", 1: "b"}),
    ]
    assert len(set(different)) == len(different)


# what is refused


def test_dtype_and_device_are_the_users_choice(saved):
    folder = saved()
    double = load(folder, dtype="float64")
    assert double.model.dtype == torch.float64
    assert double.predict(double.encode(EXAMPLES)).dtype == torch.float64
    assert load(folder, device="cpu").device == torch.device("cpu")
    with pytest.raises(BadConfig, match="no dtype 'float8'; choose from: float32, float16, bfloat16, float64"):
        load(folder, dtype="float8")
    for device in ("nonsense", "cuda:77"):
        with pytest.raises(BadConfig, match=f"the device '{device}' cannot be used here"):
            load(folder, device=device)


def test_an_unknown_task_is_answered_with_those_there_are(saved):
    with pytest.raises(BadConfig, match="no task 'sentiment'; choose from: sequence-classification, token-class"):
        load(saved(), "sentiment")


def test_a_model_without_a_head_is_read_with_and_answers_nothing():
    bare = Subject(hf.BertModel(hf.BertConfig(**zoo.BERT)), wordpiece())
    batch = bare.encode([Example("a good film", label="positive")])
    assert (batch.labels == -1).all()
    with pytest.raises(
        BadConfig, match=r"BertModel was saved for 'base' \(hidden states alone.* needs predictions; train"
    ):
        bare.predict(batch)
    with pytest.raises(
        CannotLoad, match="ViTForImageClassification was saved for 'image-classification'; expected a m"
    ):
        Subject(zoo.BY_NAME["vit"].build(), wordpiece())


def test_a_regression_is_refused():
    model = hf.BertForSequenceClassification(hf.BertConfig(**zoo.BERT, id2label={0: "a"}))
    with pytest.raises(CannotLoad, match=r"gives one number for a text \(regression\); expected two classes"):
        Subject(model, wordpiece())


def test_many_labels_for_a_text_are_refused():
    config = hf.BertConfig(**zoo.BERT, id2label=dict(enumerate("abc")), problem_type="multi_label_classification")
    with pytest.raises(CannotLoad, match=r"\(multi-label\); expected one class of several"):
        Subject(hf.BertForSequenceClassification(config), wordpiece())


@pytest.mark.parametrize("name", ["bert", "llama", "t5", "additive-lstm-additive", "gpt2", "marian", "mbart"])
def test_a_tokenizer_that_is_missing_is_said_to_be(name, tmp_path):
    """For some families transformers makes a tokenizer without words of nothing."""
    zoo.BY_NAME[name].build().save_pretrained(tmp_path)
    with pytest.raises(CannotLoad, match=r"the tokenizer of .* save it next to the model with"):
        load(tmp_path)


def test_a_slow_tokenizer_is_refused():
    with pytest.raises(CannotLoad, match="does not report the word of each token; expected a fast tokenizer"):
        Subject(zoo.BY_NAME["bert"].build(), hf.CanineTokenizer())


def test_names_of_classes_in_the_order_of_their_numbers():
    config = hf.BertConfig(**zoo.BERT, id2label={1: "yes", 0: "no", 2: "perhaps"})
    assert Subject(hf.BertForSequenceClassification(config), wordpiece()).labels == ("no", "yes", "perhaps")


def test_a_fresh_model_is_of_the_task_of_its_class():
    assert Subject(zoo.BY_NAME["gpt-neox"].build(), byte_pairs()).task.name == "causal-lm"


def test_a_fingerprint_is_computed_again_after_a_change_of_weights_only(monkeypatch):
    subject = load(saved_models.bert())
    first = subject.fingerprint
    monkeypatch.setattr(Subject, "_hash", lambda self: "computed again")
    assert subject.fingerprint == first
    with torch.no_grad():
        next(subject.model.parameters()).add_(1)
    assert subject.fingerprint == "computed again"
