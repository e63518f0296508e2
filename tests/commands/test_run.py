"""Experiments from the command line; what they saved is drawn and judged without torch."""

import json
import re

import pytest
import transformers

from support import saved_models
from support.command import whence
from support.torchless import judged


@pytest.mark.parametrize(
    ("name", "options", "model", "rows"),
    [
        (
            "faithfulness",
            ("--erase", "delete", "--method", "raw_attention", "random"),
            "bert",
            "10 rows, one row per example",
        ),
        ("layers", ("--draws", 2, "--special-tokens"), "bert", "30 rows, one row per example, group of layers"),
        ("gating", (), "additive", "5 rows, one row per example"),
        ("correlation", ("--options", "raw_attention.heads=max"), "bert", "15 rows, one row per example and pair"),
        (
            "instance_adversary",
            ("--steps", 5, "--max-output-change", 0.01, 0.05, 0.1),
            "additive",
            "15 rows, one row per example and limit",
        ),
        ("words", ("--method", "lat", "random", "--options", "lat.normalize=l1"), "bert", ""),
        ("lexicon", ("--method", "lat", "random", "--at-least", 1), "bert", ""),
        ("heads", ("--lexicon", "vader"), "additive", ""),
        ("score", (), "additive", "5 rows, one row per example and seed"),
    ],
)
@pytest.mark.usefixtures("figures_as_svg_alone")
def test_run(name, options, model, rows, capsys, tmp_path):
    asked = (
        "run",
        name,
        "--model",
        getattr(saved_models, model)(),
        "--data",
        saved_models.labelled(),
        "--limit",
        5,
        "--out",
        tmp_path,
        *options,
    )
    said = whence(capsys, *asked, "--quiet")
    assert (said.code, said.err) == (0, "")
    assert re.search(rf"^{name}: .*{rows}", said.out)
    found = json.loads(whence(capsys, *asked, "--json").out)
    assert judged(found["folder"], name) == found["verdict"]["sentence"]


def test_syntax_of_a_bare_encoder_in_one_command(capsys, tmp_path):
    """A model by its path that was saved without a head, a corpus with trees; drawn and judged again without torch."""
    bare = transformers.BertModel.from_pretrained(saved_models.tagger(), add_pooling_layer=False)
    folder = saved_models.saved("bare", lambda _: bare)
    words = zip(
        ("the", "old", "goat", "slept", "."), (3, 3, 4, 0, 4), ("det", "amod", "nsubj", "root", "punct"), strict=True
    )
    sentence = "".join(
        f"{number}\t{word}\t_\tX\t_\t_\t{head}\t{relation}\t_\t_\n"
        for number, (word, head, relation) in enumerate(words, start=1)
    )
    (tmp_path / "mine.conllu").write_text(f"{sentence}\n" * 6)
    asked = ("run", "syntax", "--model", folder, "--data", tmp_path / "mine.conllu", "--out", tmp_path, "--draws", 1)
    said = whence(capsys, *asked, "--json")
    assert (said.code, said.err) == (0, "")
    found = json.loads(said.out)
    assert found["verdict"]["sentence"].startswith("There are 6 examples, too few to decide anything")
    assert len(found["summary"]) == 4  # heads
    assert [path.rpartition("-")[2] for path in found["figures"][3:]] == ["heads.svg", "heads.pdf", "heads.png"]
    assert judged(found["folder"], "syntax") == found["verdict"]["sentence"]
    for option, complaint in (
        (("--parser", "mine"), "a parser is named spacy:PACKAGE or stanza:LANGUAGE"),
        (("--epochs",), "keeps no models of single epochs; train it with --keep"),
    ):
        refused = whence(capsys, *asked, *option, "--quiet")
        assert (refused.code, complaint in refused.err) == (2, True), refused.err


def test_what_cannot_be_asked_is_said(capsys, tmp_path):
    asked = ("--model", saved_models.bert(), "--data", saved_models.labelled(), "--limit", 5, "--out", tmp_path)
    refused = whence(capsys, "run", "gating", *asked, "--quiet")
    assert refused.code == 2
    assert "does not weigh words one by one" in refused.err
    refused = whence(capsys, "run", "faithfulness", *asked, "--sites", "nowhere", "--quiet")
    assert refused.code == 2
    assert "no attention site 'nowhere'; choose from: bert.encoder" in refused.err
    for name, option, said in (
        ("lexicon", ("--lexicon", "mine.csv"), "no lexicon 'mine.csv' and no file of that name"),
        ("words", ("--options", "lat.colour=red"), "lat has no option 'colour'"),
        ("words", ("--method", "lait"), "no explainer 'lait' (did you mean lat?)"),
    ):
        refused = whence(capsys, "run", name, *asked, *option, "--quiet")
        assert (refused.code, said in refused.err) == (2, True)
