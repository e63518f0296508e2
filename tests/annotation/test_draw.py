"""Drawing and blinding with a real model: conditions as defined, texts of their own, and files that do not tell."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from support import saved_models
from whence.annotation.blind import blinded
from whence.annotation.draw import Drawn, Source, draw, highest
from whence.annotation.prepare import Design, prepare
from whence.annotation.study import STUDY, read_study
from whence.core.attending import attending
from whence.core.errors import BadConfig, BadData
from whence.core.overrides import permuted
from whence.core.seeds import stream
from whence.subject.subject import load


@pytest.fixture(scope="module")
def source():
    examples = saved_models.corpus()["test"]
    return Source(load(saved_models.additive()), examples, range(len(examples)), seed=3, quiet=True)


def design(tmp_path, **options):
    return Design(
        model=str(saved_models.additive()),
        data=str(saved_models.labelled()),
        out=tmp_path / "study",
        **{"items": 8, **options},
    )


def test_every_condition_has_texts_of_its_own(source):
    groups = draw(source, [("raw_attention",), ("permuted",), ("random",)], 10, 3, False)
    numbers = [one.example for group in groups for one in group]
    assert [len(group) for group in groups] == [10, 10, 10]
    assert len(set(numbers)) == 30


def test_own_words_are_those_with_the_highest_weights(source):
    """The weights of the model in a pass that knows nothing of studies."""
    (group,) = draw(source, [("raw_attention",)], 12, 3, False)
    for one in group:
        batch = source.subject.encode([source.examples[one.example]])
        with torch.no_grad(), attending(source.subject.model) as tape:
            logits = source.subject.model(**batch.inputs).logits
        weights = tape.only().weights[0, 0, 0][~batch.special[0]].numpy()
        assert one.scores["raw_attention"][0] == pytest.approx(weights.tolist(), rel=1e-4)
        assert one.texts[0] == source.examples[one.example].words
        assert one.prediction == source.subject.labels[int(logits.argmax())]
        assert [word for _, word in highest(one.scores["raw_attention"], 3, 0)] == sorted(
            np.argsort(-weights)[:3].tolist()
        )


def test_permuted_words_and_predictions_are_of_one_run_with_shuffled_weights(source):
    (group,) = draw(source, [("permuted",)], 6, 3, False)
    for one in group:
        batch = source.subject.encode([source.examples[one.example]], [one.example])
        seed = stream(source.seed, f"permuted {[one.example]}")
        with torch.no_grad(), attending(source.subject.model, override=permuted(seed).sparing(batch.special)) as tape:
            logits = source.subject.model(**batch.inputs).logits
        with torch.no_grad(), attending(source.subject.model) as own:
            source.subject.model(**batch.inputs)
        used, weights = (one_tape.only().weights[0, 0, 0][~batch.special[0]].tolist() for one_tape in (tape, own))
        assert one.scores["permuted"][0] == pytest.approx(used, rel=1e-4)
        assert sorted(used) == pytest.approx(sorted(weights))
        assert one.prediction == source.subject.labels[int(logits.argmax())]


def test_what_is_drawn_does_not_depend_on_the_batch_size(source):
    groups = [("permuted",), ("raw_attention",)]
    one, other = (draw(replace(source, batch_size=size), groups, 7, 3, False) for size in (3, 16))
    assert [[(d.example, d.prediction) for d in group] for group in one] == [
        [(d.example, d.prediction) for d in group] for group in other
    ]


def test_stratified_items_are_half_right_and_half_wrong(source):
    weak = replace(source, subject=load(saved_models.bert(5)))
    (group,) = draw(weak, [("random",)], 10, 3, True)
    assert Counter(one.correct for one in group) == {1.0: 5, 0.0: 5}


def test_too_few_texts_get_a_sentence(source):
    few = replace(source, examples=source.examples[:10], numbers=range(10))
    with pytest.raises(BadData, match=r"8 texts were wanted for permuted.*2 were left of the 10"):
        draw(few, [("raw_attention",), ("permuted",)], 8, 3, False)
    with pytest.raises(BadData, match="0 were left"):
        draw(replace(source, longest=1), [("random",)], 1, 3, False)


def test_equal_scores_are_chosen_at_random():
    chosen = Counter(place for seed in range(400) for place in highest([[0.0] * 6], 3, seed))
    assert {(0, word) for word in range(6)} == set(chosen)
    assert min(chosen.values()) > 150
    assert highest([[0.1, 0.9], [0.5]], 2, 0) == ((0, 1), (1, 0))


@pytest.mark.parametrize("ask", ["relevance", "preference", "marking"])
def test_a_prepared_study(ask, tmp_path):
    chosen = design(tmp_path, ask=ask, checks=3, repeats=4)
    study = prepare(chosen, quiet=True)
    read, key = read_study(tmp_path / "study"), study.key()
    assert read.items == study.items
    n = {"relevance": 16, "preference": 8, "marking": 8}[ask]
    assert len(study.items) == n + 3 + 4
    assert sum(bool(one.check) for one in key.values()) == 3
    again = {name: one.repeats for name, one in key.items() if one.repeats}
    assert len(again) == 4
    places = {item.id: number for number, item in enumerate(study.items)}
    for name, first in again.items():
        assert places[name] > places[first]
        assert replace(study.item(name), id="") == replace(study.item(first), id="")
        assert replace(key[name], repeats="") == key[first]
    for item in study.items:
        assert [len(panel) for panel in item.panels] == [3] * study.asks.panels


def test_the_same_seed_gives_the_same_study_and_another_seed_another(tmp_path):
    first, same, other = (
        prepare(design(tmp_path / str(number), seed=seed), quiet=True) for number, seed in enumerate((0, 0, 1))
    )
    assert first.checksum == same.checksum != other.checksum


def drawn(condition, number):
    words = tuple(f"word{number}-{at}" for at in range(6))
    return Drawn(number, (words,), "a", "a", {condition: [[0.1 * at for at in range(6)]]})


def made(names, seed=0):
    groups = [[drawn(name, 100 * at + number) for number in range(20)] for at, name in enumerate(names)]
    return blinded("relevance", groups, {"classes": ["a", "b"]}, {"seed": seed, "top": 3, "checks": 2, "repeats": 3})


def test_what_annotators_see_does_not_depend_on_what_conditions_are():
    """The same texts and scores under other names give the same items: names, order, highlights, fields."""
    first, other = made(["raw_attention", "permuted"]), made(["permuted", "raw_attention"])
    assert first.items == other.items
    assert first.key() != other.key()


def test_neither_place_nor_name_tells_the_condition():
    """Over many seeds the mean place of an item, and of its name in the alphabet, is the same for both conditions."""
    apart = []
    for seed in range(60):
        study = made(["raw_attention", "permuted"], seed)
        key = study.key()
        own = [(place, item) for place, item in enumerate(study.items) if not key[item.id].check]
        names = sorted(item.id for _, item in own)
        for order in ([place for place, _ in own], [names.index(item.id) for _, item in own]):
            of = {
                one: [at for at, (_, item) in zip(order, own, strict=True) if key[item.id].conditions == (one,)]
                for one in ("raw_attention", "permuted")
            }
            apart.append(np.mean(of["raw_attention"]) - np.mean(of["permuted"]))
    assert abs(np.mean(apart)) < 4 * np.std(apart) / len(apart) ** 0.5


def test_the_blinded_file_holds_no_word_of_the_key(tmp_path):
    study = prepare(design(tmp_path, checks=1, repeats=2, controls="permuted,random", items=6), quiet=True)
    text = (tmp_path / "study" / STUDY).read_text()
    for word in ("raw_attention", "permuted", "random", "correct", "label", "seed", "repeats", "conditions"):
        assert f'"{word}"' not in text
    saved = json.loads(text)
    assert {tuple(item) for item in saved["items"]} == {("id", "texts", "prediction", "panels")}
    assert {tuple(one.conditions) for one in study.key().values()} == {
        ("raw_attention",),
        ("permuted",),
        ("random",),
        (),
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"controls": "uniform"}, "controls are permuted and random"),
        ({"ask": "preference", "controls": "permuted"}, "use --controls random"),
        ({"ask": "preference", "controls": "none"}, "needs two methods"),
        ({"method": ("random",), "controls": "random"}, "a method and a control"),
    ],
)
def test_designs_that_make_no_sense_are_refused_before_anything_runs(options, message, tmp_path):
    with pytest.raises(BadConfig, match=message):
        prepare(design(tmp_path, **options), quiet=True)
    assert not (tmp_path / "study").exists()


def test_a_model_that_tags_words_is_refused(tmp_path):
    chosen = Design(model=str(saved_models.tagger()), data=str(saved_models.tagged()), out=tmp_path / "study")
    with pytest.raises(BadConfig, match="one prediction for each text"):
        prepare(chosen, quiet=True)
