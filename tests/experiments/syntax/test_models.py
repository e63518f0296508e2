"""The trees and models that `syntax` takes, and those that it refuses."""

from dataclasses import replace
from typing import get_args

import pytest
import transformers as hf

from support import zoo
from support.experiments.syntax import CONFIG, FIRST, SECOND, THIRD, context_of, reader, tagger
from support.tokenizing import wordpiece
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Corpus, Example
from whence.data.syntax.forest import TRUE, grown
from whence.data.syntax.random_trees import BASELINES
from whence.evaluation.runner import run_experiment
from whence.evaluation.tree_attention import self_attention_sites
from whence.experiments import syntax
from whence.subject.subject import Subject

# trees


def test_the_kinds_of_random_trees_are_those_of_the_data_room():
    assert get_args(syntax.Kind) == BASELINES


def test_trees_are_drawn_by_the_seed_and_chains_once(corpus):
    forest = grown(corpus["test"], BASELINES, 3, seed=5)
    assert {kind: len(draws) for kind, draws in forest.kinds.items()} == {
        TRUE: 1,
        "arc_standard": 3,
        "uniform": 3,
        "lengths": 3,
        "direction": 3,
        "chain": 1,
        "others": 3,
    }
    assert forest.kinds == grown(corpus["test"], BASELINES, 3, seed=5).kinds
    assert forest.kinds["uniform"] != grown(corpus["test"], BASELINES, 3, seed=6).kinds["uniform"]
    assert forest.before["direction"] == pytest.approx(forest.before[TRUE])
    assert forest.places["others"] == slice(14, 17)


def test_texts_without_trees_say_what_to_do(corpus):
    bare = [replace(example, heads=None, relations=None) for example in corpus["test"][:5]]
    with pytest.raises(BadData, match=r"5 of 5 examples of made have no tree. Take .* --parser spacy:en_core_web_sm"):
        syntax.run(CONFIG, context_of(tagger(corpus), bare))
    single = [Example("a", words=("a",), heads=(-1,))]
    with pytest.raises(BadData, match="none of the trees has two words or more"):
        syntax.run(CONFIG, context_of(tagger(corpus), single))


def test_a_parser_makes_the_trees(corpus, monkeypatch):
    """Texts that are not in words are split at spaces; where the trees come from is in the table."""

    def left(sentences):
        return [tuple(range(-1, len(words) - 1)) for words in sentences]

    monkeypatch.setattr("whence.data.syntax.parsers.parser", lambda name: left)
    monkeypatch.setattr("whence.data.syntax.parsers.version", lambda name: "spacy 3")
    bare = [Example(example.text) for example in corpus["test"][:8]]
    config = CONFIG.model_copy(update={"parser": "spacy:some", "baselines": ("uniform",)})
    table = syntax.run(config, context_of(tagger(corpus), bare))
    assert set(table["source"]) == {"trees: by spacy:some (spacy 3)"}
    assert table[table["tree"] == TRUE]["before"].iloc[0] == 1.0
    assert (table["sentences"] == 8).all()


def test_sentences_that_were_cut_are_left_out():
    long = Example(" ".join(["the"] * 90), words=("the",) * 90, heads=(-1, *range(89)))
    subject = reader("bert")
    table = syntax.run(CONFIG.model_copy(update={"baselines": ("chain",)}), context_of(subject, [FIRST, long, THIRD]))
    assert (table["sentences"] == 2).all()
    with pytest.raises(BadConfig, match="every text was cut before its end"):
        syntax.run(CONFIG, context_of(subject, [long]))


# models


@pytest.mark.parametrize(
    ("model", "n"),
    [
        (hf.BertModel(hf.BertConfig(**zoo.BERT)), 2),
        (hf.BertForMaskedLM(hf.BertConfig(**zoo.BERT)), 2),
        (zoo.BY_NAME["bart"].build(), 2),
        (zoo.BY_NAME["gpt-oss"].build(), 2),
        (zoo.BY_NAME["deberta-v2"].build(), 2),
    ],
)
def test_encoders_without_a_head_translators_and_sinks(model, n):
    """A translator's encoder is looked at; no text is asked for, and no label."""
    subject = Subject(model, wordpiece())
    config = CONFIG.model_copy(update={"baselines": ("uniform",)})
    table = syntax.run(config, context_of(subject, [FIRST, SECOND, THIRD]))
    assert table["site"].nunique() == n
    assert table["divergence"].notna().all()
    assert set(table["layer"]) == {0, 1}


def test_what_cannot_be_set_beside_trees_is_said(corpus):
    additive = Subject(zoo.BY_NAME["additive-lstm-dot"].build(), wordpiece(), name="reader")
    with pytest.raises(BadConfig, match=r"there is none at these sites of reader. There are: attention \(pool\)"):
        self_attention_sites(additive, ("*",))
    series = Subject(zoo.BY_NAME["pooled-series"].build(), wordpiece(), name="series")
    with pytest.raises(BadConfig, match="series reads narratives window by window"):
        syntax.run(CONFIG, context_of(series, [FIRST]))


def test_a_silent_model_is_refused_where_answers_are_needed(tmp_path):
    model = hf.BertModel(hf.BertConfig(**zoo.BERT))
    model.save_pretrained(tmp_path)
    wordpiece().save_pretrained(tmp_path)
    corpus = Corpus("mine", {"test": (FIRST, THIRD)}, ("a",))
    result = run_experiment("syntax", syntax.Config(model=str(tmp_path), data="mine"), corpus=corpus, quiet=True)
    assert len(result.table) == 2 * 5 * 7
    from whence.experiments import score

    with pytest.raises(
        BadConfig, match=r"was saved for 'base' \(hidden states alone.*\) and score needs predictions; train"
    ):
        run_experiment("score", score.Config(model=str(tmp_path), data="mine"), corpus=corpus, quiet=True)


def test_tags_that_the_model_does_not_know_do_not_matter(corpus):
    other = Corpus("mine", {"test": tuple(replace(e, tags=("X",) * len(e.words)) for e in corpus["test"][:6])}, ("X",))
    config = CONFIG.model_copy(update={"baselines": ("chain",)})
    assert (
        run_experiment("syntax", config, subject=tagger(corpus), corpus=other, quiet=True)
        .table["divergence"]
        .notna()
        .all()
    )
