"""Small models of every task, saved as a user would save them, and tables for them; made once in a test run."""

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tokenizers
import torch
import transformers
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from support.shared import once
from whence.data.examples import Corpus, Example
from whence.data.synthetic import reviews

if TYPE_CHECKING:
    from whence.auditing.settings import Settings

LABELS = ("negative", "positive")
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


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
        tokenizer_object=pieces,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def saved(name: str, model: Callable[[PreTrainedTokenizerFast], transformers.PreTrainedModel]) -> Path:
    """The folder of a model, made once, with the tokenizer of reviews."""

    def save(folder: Path) -> None:
        words = reviews_tokenizer()
        model(words).save_pretrained(folder)
        words.save_pretrained(folder)

    return once(name, save)


@cache
def reviews_tokenizer() -> PreTrainedTokenizerFast:
    return tokenizer([example.text for example in corpus()["train"]])


def bert(steps: int = 200) -> Path:
    """A BERT classifier of reviews, trained with a plain loop that knows nothing of Whence."""
    return saved(f"bert-{steps}", lambda words: trained_bert(words, steps))


def trained_bert(words: PreTrainedTokenizerFast, steps: int) -> transformers.PreTrainedModel:
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words),
        max_position_embeddings=64,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        **SIZES,
    )
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
    return model.eval()


def tagger() -> Path:
    """An untrained BERT that tags words."""
    return saved("tagger", untrained_tagger)


def untrained_tagger(words: PreTrainedTokenizerFast) -> transformers.PreTrainedModel:
    torch.manual_seed(1)
    tags = {"id2label": {0: "O", 1: "D"}, "label2id": {"O": 0, "D": 1}}
    config = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=64, **tags, **SIZES)
    return transformers.BertForTokenClassification(config)


def translator() -> Path:
    """An untrained BART."""
    return saved("translator", untrained_translator)


def untrained_translator(words: PreTrainedTokenizerFast) -> transformers.PreTrainedModel:
    torch.manual_seed(2)
    config = transformers.BartConfig(
        vocab_size=len(words),
        max_position_embeddings=64,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        pad_token_id=words.pad_token_id,
        bos_token_id=words.cls_token_id,
        eos_token_id=words.sep_token_id,
        decoder_start_token_id=words.cls_token_id,
        forced_eos_token_id=words.sep_token_id,
    )
    return transformers.BartForConditionalGeneration(config)


def speaker() -> Path:
    """An untrained GPT-2."""
    return saved("speaker", untrained_speaker)


def untrained_speaker(words: PreTrainedTokenizerFast) -> transformers.PreTrainedModel:
    torch.manual_seed(3)
    ends = {"bos_token_id": words.cls_token_id, "eos_token_id": words.sep_token_id, "pad_token_id": words.pad_token_id}
    config = transformers.GPT2Config(vocab_size=len(words), n_positions=64, n_embd=16, n_layer=2, n_head=2, **ends)
    return transformers.GPT2LMHeadModel(config)


def additive() -> Path:
    """The reference model, trained on a few reviews by `whence`."""
    from whence.training.config import Training
    from whence.training.train import train

    training = Training(data="reviews", embedding_size=8, hidden_size=8, epochs=2, learning_rate=1e-2)
    return once("additive", lambda folder: train(training, folder, corpus=corpus(), quiet=True))


def table(path: Path, rows: Sequence[dict[str, object]]) -> Path:
    """A CSV with these rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def labelled(n: int = 24) -> Path:
    """Reviews with their labels."""
    rows: list[dict[str, object]] = [{"text": e.text, "label": e.label} for e in corpus()["test"][:n]]
    return once(f"reviews-{n}.csv", lambda path: table(path, rows))


def bare(n: int = 30) -> Path:
    """Reviews without labels."""
    rows: list[dict[str, object]] = [{"text": e.text} for e in corpus()["test"][:n]]
    return once(f"bare-{n}.csv", lambda path: table(path, rows))


def tagged(n: int = 30) -> Path:
    """Reviews whose deciding words are tagged."""

    def tags(example: Example) -> list[str]:
        return ["D" if decides else "O" for decides in example.rationale or ()]

    rows: list[dict[str, object]] = [
        {"tokens": json.dumps(e.words), "tags": json.dumps(tags(e))} for e in corpus()["test"][:n]
    ]
    return once(f"tagged-{n}.csv", lambda path: table(path, rows))


def translated(n: int = 30) -> Path:
    """Reviews with their first words as the text to be produced."""
    rows: list[dict[str, object]] = [
        {"text": e.text, "said": " ".join((e.words or ())[: 4 + i % 3])} for i, e in enumerate(corpus()["test"][:n])
    ]
    return once(f"translated-{n}.csv", lambda path: table(path, rows))


def audited(labels: bool = True) -> Path:
    """A finished audit of the BERT on the reviews, with their labels or without."""
    return once("audited" if labels else "audited-bare", partial(finish_audit, labels=labels)) / "new"


def with_the_plan(out: Path) -> Path:
    """A folder for an audit with the plan of the finished one: it would measure speeds, and may plan otherwise."""
    shutil.copytree(audited() / "plans", out / "plans")
    return out


def with_finished_results(out: Path, *experiments: str) -> None:
    """Put into a cut-off audit of the same the results of these experiments, which it has not reached."""
    for experiment in experiments:
        shutil.copytree(audited() / "results" / experiment, out / "results" / experiment)


def audit_messages(labels: bool = True) -> list[str]:
    """What that audit printed."""
    return json.loads((audited(labels).parent / "messages.json").read_text())


AUDIT_OPTIONS = ("--budget", 0.05, "--force", "--skip", "controls")  # those of that audit, for a command


def audit_settings(out: Path, **options: Any) -> "Settings":
    """Those of that audit, or others."""
    from whence.auditing.settings import Settings

    usual = {"model": str(bert()), "data": str(labelled()), "budget": 0.05, "force": True, "skip": ("controls",)}
    return Settings(out=out, **{**usual, **options})


def finish_audit(folder: Path, labels: bool) -> None:
    """Figures of one of them are written as files: they take longest."""
    from whence.auditing import write_report
    from whence.auditing.run import audit

    messages: list[str] = []
    data = str(labelled() if labels else bare())
    with pytest.MonkeyPatch.context() as patch:
        if not labels:
            patch.setattr(write_report, "save", lambda *_: [])
        audit(audit_settings(folder / "new", data=data), quiet=True, say=messages.append)
    (folder / "messages.json").write_text(json.dumps(messages))


def relabelled(folder: Path, labels: tuple[str, str]) -> Path:
    """The BERT with other names for its classes."""
    shutil.copytree(bert(), folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"id2label": dict(enumerate(labels)), "label2id": {label: n for n, label in enumerate(labels)}}
    (folder / "config.json").write_text(json.dumps(config))
    return folder
