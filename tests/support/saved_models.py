"""Small models of every task, saved as a user would save them, and tables for them; made once a process."""

import atexit
import csv
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import tokenizers
import torch
import transformers
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from whence.data.examples import Corpus, Example
from whence.data.synthetic import reviews

LABELS = ("negative", "positive")
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


@cache
def home() -> Path:
    """A folder that goes when the process does."""
    folder = Path(tempfile.mkdtemp(prefix="whence-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def corpus() -> Corpus:
    """Reviews with one opinion and no negation: a small BERT learns them in seconds."""
    opinions = {word for words in reviews.OPINIONS.values() for word in words}
    whole = reviews.load(sizes={"train": 3000, "dev": 300, "test": 600})

    def plain(example: Example) -> bool:
        return sum(example.rationale or ()) == 1 and len(opinions & set(example.words or ())) == 1

    splits = {split: tuple(filter(plain, examples)) for split, examples in whole.splits.items()}
    return Corpus("reviews", splits, whole.labels)


def tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """A WordPiece tokenizer as BERT's, so small that many words are in pieces: letters, frequent beginnings and words.

    It is not trained by the library, whose pieces differ from process to process.
    """
    split = BertPreTokenizer()
    words = Counter(word for text in texts for word, _ in split.pre_tokenize_str(text))
    openings = Counter(word[:2] for word in words.elements() if len(word) > 2)
    letters = sorted({letter for word in words for letter in word})
    frequent = [word for word, _ in sorted(words.items(), key=lambda item: (-item[1], item[0]))]
    begin = [opening for opening, _ in sorted(openings.items(), key=lambda item: (-item[1], item[0]))[:40]]
    known = dict.fromkeys([*SPECIALS, *letters, *(f"##{letter}" for letter in letters), *begin, *frequent])
    pieces = tokenizers.Tokenizer(WordPiece(dict(zip(list(known)[:180], range(180), strict=False)), unk_token="[UNK]"))
    pieces.pre_tokenizer = split
    numbers = [(name, pieces.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    pieces.post_processor = TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", numbers)
    return PreTrainedTokenizerFast(
        tokenizer_object=pieces, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=64, model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip


def saved(name: str, model: transformers.PreTrainedModel, words: PreTrainedTokenizerFast | None) -> Path:
    folder = home() / name
    model.save_pretrained(folder)
    if words is not None:
        words.save_pretrained(folder)
    return folder


@cache
def reviews_tokenizer() -> PreTrainedTokenizerFast:
    return tokenizer([example.text for example in corpus()["train"]])


@cache
def bert(steps: int = 200) -> Path:
    """A BERT classifier of reviews, trained with a plain loop that knows nothing of Whence."""
    words = reviews_tokenizer()
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words), max_position_embeddings=64, id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)}, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, **SIZES,
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    examples = corpus()["train"]
    for step in range(steps):
        some = [examples[(32 * step + i) % len(examples)] for i in range(32)]
        batch = words([e.text for e in some], padding=True, truncation=True, return_tensors="pt")
        loss = model(**batch, labels=torch.tensor([LABELS.index(e.label or "") for e in some])).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return saved(f"bert-{steps}", model.eval(), words)


@cache
def tagger() -> Path:
    """An untrained BERT that tags words."""
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(reviews_tokenizer()), max_position_embeddings=64, id2label={0: "O", 1: "D"},
        label2id={"O": 0, "D": 1}, **SIZES,
    )  # fmt: skip
    return saved("tagger", transformers.BertForTokenClassification(config), reviews_tokenizer())


@cache
def translator() -> Path:
    """An untrained BART."""
    torch.manual_seed(2)
    words = reviews_tokenizer()
    config = transformers.BartConfig(
        vocab_size=len(words), max_position_embeddings=64, d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16,
        pad_token_id=words.pad_token_id, bos_token_id=words.cls_token_id, eos_token_id=words.sep_token_id,
        decoder_start_token_id=words.cls_token_id, forced_eos_token_id=words.sep_token_id,
    )  # fmt: skip
    return saved("translator", transformers.BartForConditionalGeneration(config), words)


@cache
def speaker() -> Path:
    """An untrained GPT-2."""
    torch.manual_seed(3)
    words = reviews_tokenizer()
    config = transformers.GPT2Config(
        vocab_size=len(words), n_positions=64, n_embd=16, n_layer=2, n_head=2,
        bos_token_id=words.cls_token_id, eos_token_id=words.sep_token_id, pad_token_id=words.pad_token_id,
    )  # fmt: skip
    return saved("speaker", transformers.GPT2LMHeadModel(config), words)


@cache
def additive() -> Path:
    """The reference model, trained on a few reviews by `whence`."""
    from whence.training.config import Training
    from whence.training.train import train

    folder = home() / "additive"
    training = Training(data="reviews", embedding_size=8, hidden_size=8, epochs=2, learning_rate=1e-2)
    train(training, folder, corpus=corpus(), quiet=True)
    return folder


def table(path: Path, rows: Sequence[dict[str, object]]) -> Path:
    """A CSV with these rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@cache
def labelled(n: int = 24) -> Path:
    """Reviews with their labels."""
    return table(home() / f"reviews-{n}.csv", [{"text": e.text, "label": e.label} for e in corpus()["test"][:n]])


@cache
def bare(n: int = 30) -> Path:
    """Reviews without labels."""
    return table(home() / f"bare-{n}.csv", [{"text": e.text} for e in corpus()["test"][:n]])


@cache
def tagged(n: int = 30) -> Path:
    """Reviews whose deciding words are tagged."""

    def tags(example: Example) -> list[str]:
        return ["D" if decides else "O" for decides in example.rationale or ()]

    rows: list[dict[str, object]] = [
        {"tokens": json.dumps(e.words), "tags": json.dumps(tags(e))} for e in corpus()["test"][:n]
    ]
    return table(home() / f"tagged-{n}.csv", rows)


@cache
def translated(n: int = 30) -> Path:
    """Reviews with their first words as the text to be produced."""
    rows: list[dict[str, object]] = [
        {"text": e.text, "said": " ".join((e.words or ())[: 4 + i % 3])} for i, e in enumerate(corpus()["test"][:n])
    ]
    return table(home() / f"translated-{n}.csv", rows)


@cache
def audited() -> Path:
    """A finished audit of the BERT on the labelled reviews."""
    from whence.auditing.run import audit
    from whence.auditing.settings import Settings

    out = home() / "audited" / "new"
    audit(Settings(model=str(bert()), data=str(labelled()), budget=0.05, out=out), quiet=True, say=SAID.append)
    return out


SAID: list[str] = []  # by that audit


def relabelled(folder: Path, labels: tuple[str, str]) -> Path:
    """The BERT with other names for its classes."""
    shutil.copytree(bert(), folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"id2label": dict(enumerate(labels)), "label2id": {label: n for n, label in enumerate(labels)}}
    (folder / "config.json").write_text(json.dumps(config))
    return folder
