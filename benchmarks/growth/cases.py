"""What is measured by `growth`: every explainer and experiment on tiny models, as large as asked."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tokenizers
import torch
import transformers as hf
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from benchmarks.growth.counted import Run
from whence.attribution import registry
from whence.data.examples import Corpus, Example
from whence.data.synthetic import recall
from whence.evaluation.context import Context
from whence.evaluation.trained_models import TrainedModels
from whence.results.experiment import EXPERIMENTS, experiment
from whence.subject.subject import Subject
from whence.subject.targets import predicted
from whence.training.config import Training
from whence.training.init import untrained
from whence.training.train import train

Sizes = dict[str, tuple[int, ...]]
Make = Callable[[int, int, int], Run]  # examples, length, layers -> what is run

WORDS = 60
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
BATCH = 8
SIZES: Sizes = {"examples": (8, 16, 32, 64), "length": (64, 128, 256, 512), "layers": (2, 4, 8, 16)}
FIXED = {"examples": 2, "length": 24, "layers": 2}
LONGER = (256, 512, 1024, 2048)  # where one text takes more than what a run takes at any length
SLOW = {"flow": SIZES["length"], "leave_one_out": (128, 256, 512, 1024), "value_zeroing": SIZES["length"]}
PLAIN = "a plain pass"
LABELS = ("negative", "positive")

# few repetitions: growth does not depend on how often something is done
OPTIONS: dict[str, dict[str, Any]] = {
    "ablation": {"draws": 1},
    "adversary": {"strengths": (0.5,)},
    "controls": {"tuning": 0.0, "deceptive": False, "explained": 4096, "method": ("raw_attention", "random")},
    "correlation": {"method": ("raw_attention", "random")},
    "guide": {"sources": ("base", "none")},
    "heads": {"lexicon": "vader"},
    "instance_adversary": {"steps": 5, "restarts": 1},
    "layers": {"draws": 1},
    "lexicon": {"lexicon": "vader", "untrained": False, "method": ("lat", "random")},
    "memory": {"seeds": 1, "epochs": 1, "width": 16},
    "permutation": {"permutations": 4},
    "probes": {"probe": ("logistic",), "control": False},
    "rationales": {"method": ("raw_attention", "random")},
    "relabelling": {"draws": 1},
    "representation_erasure": {"what": "heads"},
    "seeds": {"others": 1},
    "syntax": {"draws": 1},
    "words": {"method": ("lat", "random")},
}
SMALL = {"hidden_size": 16, "epochs": 1, "batch_size": BATCH}


@dataclass(frozen=True)
class Case:
    """How something is run at a size, at which sizes, and what the others are fixed at."""

    make: Make
    sizes: Sizes = field(default_factory=lambda: SIZES)
    fixed: dict[str, int] = field(default_factory=lambda: FIXED)


@cache
def words() -> hf.PreTrainedTokenizerFast:
    """A word a token."""
    known = [*SPECIALS, "good", "bad", "great", "awful", *(f"w{number}" for number in range(WORDS))]
    pieces = tokenizers.Tokenizer(WordLevel(dict(zip(known, range(len(known)), strict=True)), unk_token="[UNK]"))
    pieces.pre_tokenizer = Whitespace()
    ends = [(name, pieces.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    pieces.post_processor = TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ends)
    named = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), SPECIALS, strict=True))
    return hf.PreTrainedTokenizerFast(tokenizer_object=pieces, model_max_length=4096, **named)


def bert(layers: int) -> Subject:
    """A BERT classifier of width 16, so that attention and not the feed-forward part takes the time."""
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=len(words()),
        hidden_size=16,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=4096,
        id2label=dict(enumerate(LABELS)),
        label2id={name: number for number, name in enumerate(LABELS)},
    )
    return Subject(hf.BertForSequenceClassification(config).eval(), words(), "sequence-classification", "tiny")


def examples(n: int, length: int) -> list[Example]:
    """Texts of so many tokens, each word's head the word before, the first word deciding."""
    found = []
    for number in range(n):
        chosen = (
            ("good", "bad", "great", "awful")[number % 4],
            *(f"w{(number + i) % WORDS}" for i in range(length - 3)),
        )
        marks = tuple(place == 0 for place in range(len(chosen)))
        heads = tuple(range(-1, len(chosen) - 1))
        found.append(Example(" ".join(chosen), LABELS[number % 2], words=chosen, rationale=marks, heads=heads))
    return found


def translations(n: int, length: int) -> list[Example]:
    """Texts that are their own translations."""
    links = tuple((place, place) for place in range(length))
    chosen = [tuple(f"w{(number + i) % WORDS}" for i in range(length)) for number in range(n)]
    return [Example(" ".join(one), words=one, target=" ".join(one), alignment=links) for one in chosen]


def explaining(name: str, n: int, length: int, layers: int) -> Run:
    """A run of an explainer on a corpus, in batches."""
    model = bert(layers)
    explain = registry.explainer(name)
    batches = [(batch, predicted(model, batch)) for batch in model.batches(examples(n, length), BATCH)]
    return lambda: [explain(model, batch, target) for batch, target in batches]


def passing(n: int, length: int, layers: int) -> Run:
    """The model's own pass with eager attention, nothing recorded: what everything else is built on."""
    model = bert(layers)
    model.model.set_attn_implementation("eager")
    batches = list(model.batches(examples(n, length), BATCH))
    return lambda: [model.predict(batch) for batch in batches]


def experimenting(name: str, n: int, length: int, layers: int) -> Run:
    """A run of an experiment on a corpus."""
    return evaluating(name, bert(layers), examples(n, length))


def evaluating(name: str, subject: Subject, texts: list[Example], **more: Any) -> Run:
    """A run of an experiment on a subject and texts; what it trains is trained anew each time."""
    wanted = experiment(name)
    config = wanted.config(model="tiny", data="tiny", **OPTIONS.get(name, {}))
    folder = TemporaryDirectory()  # goes when nothing refers to it any more
    numbers = count()

    def run() -> object:
        there = Path(folder.name) / f"run{next(numbers)}"
        context = Context(subject, texts, range(len(texts)), 0, BATCH, True, models_folder=there, name=name, **more)
        return wanted.run(config, context)

    return run


def corpus_of(texts: list[Example]) -> Corpus:
    """A corpus whose splits are the same."""
    labels = () if texts[0].label is None else LABELS
    return Corpus("tiny", dict.fromkeys(("train", "dev", "test"), tuple(texts)), labels)


def retraining(name: str, n: int, length: int, layers: int) -> Run:
    """A run of an experiment that trains models like the given one, for an epoch each."""
    texts, corpus = examples(n, length), corpus_of(examples(n, length))
    training = Training(model="transformer", data="tiny", layers=layers, heads=2, dropout=0.0, **SMALL)
    folder = TemporaryDirectory()
    base = train(training, Path(folder.name) / "base", corpus=corpus, quiet=True)
    run = evaluating(name, base, texts, training=training, corpus=corpus)
    return lambda: (run(), folder)[0]


def remembering(n: int, length: int, layers: int) -> Run:
    """`memory`: five kinds of models are trained on delays of up to so many words, for an epoch."""
    corpus = recall.load(sizes={"train": n, "dev": 4, "test": n}, trained=length, tested=(length,))
    config = experiment("memory").config(data="recall", **OPTIONS["memory"])
    folder, numbers = TemporaryDirectory(), count()

    def run() -> object:
        there = Path(folder.name) / f"run{next(numbers)}"
        models = TrainedModels(corpus, "test", list(range(n)), there, batch_size=BATCH, quiet=True, name="memory")
        return experiment("memory").run(config, models)

    return run


def gating(n: int, length: int, layers: int) -> Run:
    """`gating` on the model that it is for, which has one layer."""
    texts = examples(n, length)
    training = Training(model="additive", data="tiny", embedding_size=16, **SMALL)
    return evaluating("gating", untrained(training, corpus_of(texts)), texts)


def aligning(n: int, length: int, layers: int) -> Run:
    """`alignment` on a translator."""
    texts = translations(n, length)
    training = Training(model="transformer", data="tiny", layers=layers, heads=2, **SMALL)
    return evaluating("alignment", untrained(training, corpus_of(texts)), texts)


def cases() -> dict[str, Case]:
    """Everything that is measured, by kind and name."""
    without_layers = {axis: sizes for axis, sizes in SIZES.items() if axis != "layers"}
    many = {"examples": 64, "length": 24, "layers": 2}
    special = {
        **{name: Case(partial(retraining, name)) for name in ("adversary", "guide", "seeds")},
        "memory": Case(remembering, {**without_layers, "length": (16, 32, 64, 128)}, {**FIXED, "examples": 20}),
        "gating": Case(gating, without_layers),
        "alignment": Case(aligning, {**SIZES, "length": (32, 64, 128, 256)}, {**FIXED, "examples": 4}),
        "probes": Case(partial(experimenting, "probes"), {**SIZES, "examples": (64, 128, 256, 512)}, many),
    }
    longer = {**SIZES, "length": LONGER}
    alone = {**FIXED, "examples": 1}
    explainers = {f"explainer {name}": Case(partial(explaining, name), longer, alone) for name in registry.names()}
    for name, lengths in SLOW.items():
        explainers[f"explainer {name}"] = Case(partial(explaining, name), {**SIZES, "length": lengths}, alone)
    others = {name: special.get(name) or Case(partial(experimenting, name)) for name in EXPERIMENTS.names()}
    return (
        {PLAIN: Case(passing, longer, alone)}
        | explainers
        | {f"experiment {name}": case for name, case in others.items()}
    )
