"""Probes from the command line, on a treebank of a made grammar; drawn and judged again without torch."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import transformers

from support import saved_models
from support.command import whence
from support.torchless import judged
from whence.analysis.probes import accuracies, first_probe


def treebank(n=240, seed=0):
    """Sentences of a small grammar, in CoNLL-U: nouns and verbs of many forms, in two numbers and two tenses."""
    rng = np.random.default_rng(seed)
    letters = "bdfgklmnprst"
    stems = [a + vowel + b for a in letters for vowel in "aeiou" for b in letters][::7]
    made = []
    for _ in range(n):
        noun, verb = (stems[rng.integers(len(stems))] for _ in range(2))
        many, past = rng.integers(2, size=2)
        words = [
            ("the", 2, "det", "DET", "_"),
            (noun + "s" * many, 3, "nsubj", "NOUN", f"Number={'Plur' if many else 'Sing'}"),
            (
                verb + ("ed" if past else "s"),
                0,
                "root",
                "VERB",
                f"Mood=Ind|Tense={'Past' if past else 'Pres'}|VerbForm=Fin",
            ),
            *[("so", 3, "advmod", "ADV", "_")] * int(rng.integers(8)),
            (".", 3, "punct", "PUNCT", "_"),
            (str(rng.integers(10**6)), 3, "dep", "NUM", "_"),
        ]
        made.append(
            "".join(
                f"{i}\t{form}\t_\t{upos}\t_\t{feats}\t{head}\t{relation}\t_\t_\n"
                for i, (form, head, relation, upos, feats) in enumerate(words, start=1)
            )
        )
    return "\n".join(made)


def probing(model: Path, data: Path) -> list[object]:
    """The command that trains small linear probes, its results next to the data."""
    where = ["--model", model, "--data", data, "--out", data.parent]
    return ["run", "probes", *where, "--train", 120, "--test", 60, "--probe", "logistic", "--json"]


def test_a_bare_encoder_on_a_treebank_in_one_command(capsys, tmp_path):
    bare = transformers.BertModel.from_pretrained(saved_models.tagger(), add_pooling_layer=False)
    folder = saved_models.saved("bare-probed", lambda _: bare)
    (tmp_path / "mine.conllu").write_text(treebank())
    tasks = ("past_present", "sentence_length", "obj_number")
    said = whence(capsys, *probing(folder, tmp_path / "mine.conllu"), "--tasks", *tasks)
    assert (said.code, said.err) == (0, "")
    found = json.loads(said.out)
    assert [row["task"] for row in found["summary"]] == ["past_present", "sentence_length"]
    assert {"layer 0", "layer 1", "layer 2"} <= set(found["summary"][0])
    assert "obj_number: 0 classes in training" in found["verdict"]["procedure"]
    assert len(found["figures"]) == 6
    table = pd.read_parquet(f"{found['folder']}/table.parquet")
    assert first_probe(table) == "logistic"
    assert len(accuracies(table)) == 2 * (3 * 4 + 3 + 1)
    assert judged(found["folder"], "probes") == found["verdict"]["sentence"]


def test_trees_without_morphology_are_asked_what_trees_tell(capsys, tmp_path):
    bare = [line.split("\t") for line in treebank().splitlines()]
    kept = ["\t".join([*line[:3], *"___", *line[6:]]) if len(line) > 1 else "" for line in bare]
    (tmp_path / "bare.conllu").write_text("\n".join(kept) + "\n")
    tasks = ("sentence_length", "bigram_shift", "past_present")
    said = whence(capsys, *probing(saved_models.bert(), tmp_path / "bare.conllu"), "--no-untrained", "--tasks", *tasks)
    assert (said.code, said.err) == (0, "")
    found = json.loads(said.out)
    assert [row["task"] for row in found["summary"]] == ["sentence_length", "bigram_shift"]
    assert "past_present: 0 classes in training" in found["verdict"]["procedure"]
