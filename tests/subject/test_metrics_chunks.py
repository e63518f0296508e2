"""Taggers of chunks are marked by F1, others by accuracy: beside seqeval, and of any Hugging Face tagger."""

import json

import pytest
import torch
import transformers
from seqeval.metrics import f1_score

from support import saved_models
from whence.cli import main
from whence.core.errors import BadData
from whence.core.overrides import uniform
from whence.data.examples import Example
from whence.data.synthetic import clauses
from whence.subject.metrics import accuracy, all_chunks, score, tells_chunks
from whence.subject.subject import load
from whence.training.config import Training
from whence.training.init import untrained
from whence.training.train import train

SIZES = {"train": 120, "dev": 30, "test": 30}
TINY = {"hidden_size": 16, "layers": 1, "heads": 2, "epochs": 3, "batch_size": 10, "learning_rate": 1e-2}


@pytest.fixture(scope="module")
def corpus():
    return clauses.load(sizes=SIZES)


@pytest.fixture(scope="module")
def subject(corpus):
    made = untrained(Training(model="transformer", data="clauses", **TINY), corpus)
    with torch.no_grad():
        for name, parameter in made.model.named_parameters():
            if "norm" not in name:
                parameter.normal_(generator=torch.Generator().manual_seed(len(name)))
    return made


def said_alone(subject, example):
    """The tags that a text gets by itself."""
    batch = subject.encode([example])
    best = subject.predict(batch)[0].argmax(-1)
    return [subject.labels[int(best[position])] for position in batch.predicted_positions[0].nonzero().flatten()]


def test_f1_of_a_tagger_is_seqevals(subject, corpus):
    examples = corpus["test"]
    said = [said_alone(subject, example) for example in examples]
    expected = f1_score([list(example.tags) for example in examples], said)
    assert tells_chunks(subject)
    assert score(subject, examples, 7) == pytest.approx(expected)
    assert 0 < expected < 1
    assert accuracy(subject, examples) != pytest.approx(expected)
    assert score(subject, examples, override=uniform) != score(subject, examples)


def test_counts_stand_in_the_order_of_the_examples(subject, corpus):
    whole = all_chunks(subject, corpus["test"], 7)
    for example, row in zip(corpus["test"], whole, strict=True):
        assert all_chunks(subject, [example]).tolist() == [row.tolist()]


def test_tags_that_are_no_chunks_are_counted_by_word():
    made = clauses.load(sizes=SIZES, task="parents")
    other = untrained(Training(model="transformer", data="clauses:parents", **TINY), made)
    assert not tells_chunks(other)
    assert score(other, made["test"]) == accuracy(other, made["test"])


def test_words_that_were_cut_are_in_no_chunk(subject, corpus):
    example = corpus["test"][0]
    n = len(example.words)
    longer = Example(" ".join(example.words * 2), words=example.words * 2, tags=example.tags * 2)
    subject.encoder.max_length = n + 2  # with the marks around the text
    try:
        counts = all_chunks(subject, [longer])[0]
    finally:
        subject.encoder.max_length = 4096
    true = sum(tag.startswith("B") for tag in longer.tags)
    assert counts[2] == true
    assert counts[1] <= n


def test_examples_without_tags_are_refused(subject):
    with pytest.raises(BadData, match="chunks are scored against the true tags; some examples have none"):
        all_chunks(subject, [Example("the goat slept .", words=("the", "goat", "slept", "."))])


def test_the_best_epoch_is_chosen_by_f1(corpus, tmp_path):
    trained = train(Training(model="transformer", data="clauses", **TINY), tmp_path / "m", corpus=corpus, quiet=True)
    record = json.loads((tmp_path / "m" / "training.json").read_text())
    assert record["best"] == max(record["dev"]) == pytest.approx(score(trained, corpus["dev"]))


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    """A BERT without a head for tags, whose words are in pieces."""
    folder = tmp_path_factory.mktemp("bert")
    words = saved_models.tokenizer([example.text for example in clauses.load(sizes=SIZES)["train"]])
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=64, **saved_models.SIZES)
    transformers.BertModel(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def test_any_encoder_is_fine_tuned_as_a_chunker(tiny_bert, corpus, tmp_path, capsys):
    """`whence train FOLDER --data TABLE`, then `whence run score`."""
    out, table = tmp_path / "tuned", tmp_path / "chunks.jsonl"
    rows = [{"tokens": e.words, "tags": e.tags, "split": split} for split in corpus.splits for e in corpus[split]]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(SystemExit, match=r"^0$"):
        main(
            [
                "train",
                str(tiny_bert),
                f"--data={table}",
                "--epochs=3",
                "--learning-rate=1e-2",
                "--batch-size=10",
                f"--out={out}",
                "--quiet",
                "--json",
            ]
        )
    outcome = json.loads(capsys.readouterr().out.splitlines()[-1])
    subject = load(out)
    assert subject.task.name == "token-classification"
    assert tells_chunks(subject)
    assert outcome["f1"] > 0.3
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["run", "score", f"--model={out}", f"--data={table}", f"--out={tmp_path / 'r'}", "--quiet"])
    assert f"{100 * outcome['f1']:.1f} points of F1" in capsys.readouterr().out
