"""What a translator writes: greedily as a loop of argmax would, by beams as exhaustive search would."""

import itertools

import pytest
import torch
from torch import nn, tensor

from support import saved_models, zoo
from support.tokenizing import wordpiece
from whence import attending, permuted, uniform
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.models import (
    RecurrentConfig,
    RecurrentForConditionalGeneration,
    TransformerConfig,
    TransformerForConditionalGeneration,
)
from whence.subject.generation import translate
from whence.subject.subject import Subject, load
from whence.training.vocabulary import word_tokenizer

EXAMPLES = [Example("yes no yes yes", target="no"), Example("no", target="yes yes"), Example("no no", target="yes")]
PAIRS = [Example("the movie was good", target="a film"), Example("not bad", target="a")]


def small(kind, seed=0, std=1.0):
    """A translator over two words, with weights so large that its answers differ."""
    tokenizer = word_tokenizer(EXAMPLES)
    ids = {
        "pad_token_id": 0,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "decoder_start_token_id": tokenizer.bos_token_id,
        "vocab_size": len(tokenizer),
    }
    torch.manual_seed(seed)
    model: TransformerForConditionalGeneration | RecurrentForConditionalGeneration
    if kind == "transformer":
        config = TransformerConfig(hidden_size=8, num_attention_heads=2, intermediate_size=8, dropout=0.0, **ids)
        model = TransformerForConditionalGeneration(config)
    else:
        model = RecurrentForConditionalGeneration(
            RecurrentConfig(attention=kind, embedding_size=4, hidden_size=4, **ids)
        )
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=std)
    return Subject(model, tokenizer)


def reading(name):
    """A model of the zoo, with as many words as its tokenizer has, and large weights."""
    family, tokenizer = zoo.BY_NAME[name], wordpiece()
    config = family.config()
    config.vocab_size = len(tokenizer)
    torch.manual_seed(0)
    model = family.model(config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return Subject(model, tokenizer)


@torch.no_grad()
def greedy(subject, batch, longest):
    """One text after another, one token after another, the whole prefix read each time."""
    config, texts = subject.model.generation_config, []
    for ids, mask in zip(batch.inputs["input_ids"], batch.inputs["attention_mask"], strict=True):
        prefix = tensor([[config.decoder_start_token_id]])
        for step in range(longest):
            logits = subject.model(
                input_ids=ids[None], attention_mask=mask[None], decoder_input_ids=prefix, use_cache=False
            ).logits
            token = int(logits[0, -1].argmax())
            if step == longest - 1 and config.forced_eos_token_id is not None:
                token = config.forced_eos_token_id
            prefix = torch.cat([prefix, tensor([[token]])], dim=1)
            if token == config.eos_token_id:
                break
        texts.append(subject.tokenizer.decode(prefix[0], skip_special_tokens=True))
    return texts


@pytest.mark.parametrize("kind", ["additive", "dot", "transformer"])
def test_one_beam_is_the_likeliest_token_at_each_step(kind):
    different = 0
    for seed in range(4):
        subject = small(kind, seed, std=2.0)
        batch = subject.encode(EXAMPLES)
        found = translate(subject, batch, longest=6)
        assert found == greedy(subject, batch, 6)
        assert set(" ".join(found).split()) <= {"yes", "no"}
        different += len(set(found)) > 1
    assert different


@pytest.mark.parametrize("name", ["bart", "t5", "recurrent-additive", "recurrent-dot", "transformer-seq2seq-pre"])
def test_any_translator_writes_also_with_its_attention_altered(name):
    subject = reading(name)
    batch = subject.encode(PAIRS)
    written = translate(subject, batch, longest=5)
    assert written == greedy(subject, batch, 5)
    assert any(written)
    across = {site: uniform for site, described in subject.sites.items() if described.kind == "cross"}
    with attending(subject.model, override=across, watch=None):
        assert translate(subject, batch, longest=5) == greedy(subject, batch, 5)
    with attending(subject.model, override=permuted(0), watch=None):
        assert len(translate(subject, batch, beams=3, longest=5)) == 2
    assert len(translate(subject, batch, beams=2)) == 2


@pytest.mark.parametrize("kind", ["additive", "dot", "transformer"])
def test_altered_attention_changes_what_is_written(kind):
    changed = 0
    for seed in range(4):
        subject = small(kind, seed, std=2.0)
        batch = subject.encode(EXAMPLES)
        with attending(subject.model, override=uniform, watch=None):
            altered = translate(subject, batch, longest=6)
            assert altered == greedy(subject, batch, 6)
        changed += altered != translate(subject, batch, longest=6)
    assert changed


def test_a_saved_bart_writes_no_more_than_it_has_positions_for():
    subject = load(saved_models.translator())
    texts = [Example("good " * 40, target="a"), Example("bad film", target="a")]
    for beams in (1, 2):
        written = translate(subject, subject.encode(texts), beams=beams)
        assert len(written) == 2
        assert not any("[SEP]" in text or "[PAD]" in text for text in written)


@torch.no_grad()
def exhaustive(subject, example, longest):
    """Of all that can be written, that with the largest Σ log p / length; the end counts, and need not come."""
    batch, config = subject.encode([example]), subject.model.config
    ordinary = [token for token in range(config.vocab_size) if token != config.eos_token_id]
    ended = [[*words, config.eos_token_id] for n in range(longest) for words in itertools.product(ordinary, repeat=n)]
    candidates = ended + [list(words) for words in itertools.product(ordinary, repeat=longest)]
    scored = []
    for length in range(1, longest + 1):
        some = tensor([tokens for tokens in candidates if len(tokens) == length])
        given = torch.cat([torch.full_like(some[:, :1], config.decoder_start_token_id), some[:, :-1]], dim=1)
        source = batch.inputs["input_ids"].expand(len(some), -1)
        logs = subject.model(source, torch.ones_like(source), decoder_input_ids=given).logits.log_softmax(-1)
        mean = logs.gather(2, some[..., None]).squeeze(-1).mean(1)
        scored += list(zip(mean.tolist(), some.tolist(), strict=True))
    return max(scored)[1]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", ["additive", "dot", "transformer"])
def test_as_many_beams_as_there_are_texts_find_the_best_text(kind, seed):
    subject = small(kind, seed, std=0.7)
    batch = subject.encode(EXAMPLES)
    longest = 3
    beams = len(subject.tokenizer) ** longest
    inputs = {name: batch.inputs[name] for name in ("input_ids", "attention_mask")}
    written = subject.model.generate(**inputs, num_beams=beams, max_new_tokens=longest, do_sample=False)
    best = [exhaustive(subject, example, longest) for example in EXAMPLES]
    for ids, expected in zip(written.tolist(), best, strict=True):
        assert ids[1 : 1 + len(expected)] == expected
    texts = subject.tokenizer.batch_decode(best, skip_special_tokens=True)
    assert translate(subject, batch, beams=beams, longest=longest) == texts


def test_more_beams_find_what_greed_misses():
    better = 0
    for seed in range(6):
        subject = small("additive", seed, std=0.7)
        batch = subject.encode(EXAMPLES)
        inputs = {name: batch.inputs[name] for name in ("input_ids", "attention_mask")}
        one, many = (
            subject.model.generate(**inputs, max_new_tokens=4, num_beams=beams, do_sample=False) for beams in (1, 40)
        )
        better += not torch.equal(one, many)
        assert translate(subject, batch, longest=4) == subject.tokenizer.batch_decode(one, skip_special_tokens=True)
    assert better


def test_the_length_is_bound_by_the_longest_source(monkeypatch):
    subject = small("dot")
    asked = []

    def generate(**options):
        asked.append(options["max_new_tokens"])
        return tensor([[1]])

    monkeypatch.setattr(subject.model, "generate", generate)
    translate(subject, subject.encode(EXAMPLES))
    assert asked == [2 * 6 + 10]  # four words, a beginning and an end
    bart = load(saved_models.translator())
    monkeypatch.setattr(bart.model, "generate", generate)
    translate(bart, bart.encode([Example("good " * 30, target="a")]))
    assert asked[1:] == [64]


def test_what_makes_no_sense_is_refused():
    subject = small("dot")
    batch = subject.encode(EXAMPLES)
    with pytest.raises(BadConfig, match="beams and longest must be 1 or more; they are 0 and None"):
        translate(subject, batch, beams=0)
    with pytest.raises(BadConfig, match="they are 1 and 0"):
        translate(subject, batch, longest=0)
    classifier = reading("bert")
    with pytest.raises(BadConfig, match="is for sequence-classification; only a seq2seq model generates texts"):
        translate(classifier, classifier.encode([Example("good")]))
