"""What is measured by `growth`: every explainer and experiment on tiny models, as large as asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

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

WORDS = 60
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
BATCH = 4
SIZES: Sizes = {"examples": (4, 8, 16), "length": (64, 128, 256), "layers": (2, 4, 8)}
FIXED = {"examples": 2, "length": 24, "layers": 2}
MORE = (8, 16, 32)
LONGER = (256, 512, 1024)  # where one text takes more than what a run takes at any length
DEEPER = (8, 16, 32)  # up to five layers, tracing multiplies a row with matrices; from then on matrices with matrices
SLOW = {"flow": SIZES["length"], "leave_one_out": SIZES["length"], "value_zeroing": SIZES["length"]}
WITHOUT_MODEL = {"human_evaluation"}  # reads what people answered
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


class Size(NamedTuple):
    """How much is asked for, and a folder for what is trained."""

    examples: int
    length: int
    layers: int
    folder: Path


Make = Callable[[Size], Run]


@dataclass(frozen=True)
class Case:
    """How something is run at a size, at which sizes, and what the others are fixed at."""

    make: Make
    sizes: Sizes = field(default_factory=lambda: SIZES)
    fixed: dict[str, int] = field(default_factory=lambda: FIXED)

    @contextmanager
    def prepared(self, axis: str, size: int) -> Iterator[Run]:
        """What is run at a size of an axis."""
        with TemporaryDirectory() as folder:
            yield self.make(Size(**{**self.fixed, axis: size}, folder=Path(folder)))


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


def explaining(name: str, size: Size) -> Run:
    """A run of an explainer on a corpus, in batches."""
    model = bert(size.layers)
    explain = registry.explainer(name)
    batches = model.batches(examples(size.examples, size.length), MORE[0])
    targets = [(batch, predicted(model, batch)) for batch in batches]
    return lambda: [explain(model, batch, target) for batch, target in targets]


def passing(size: Size) -> Run:
    """The model's own pass with eager attention, nothing recorded: what everything else is built on."""
    model = bert(size.layers)
    model.model.set_attn_implementation("eager")
    batches = list(model.batches(examples(size.examples, size.length), MORE[0]))
    return lambda: [model.predict(batch) for batch in batches]


def experimenting(name: str, size: Size) -> Run:
    """A run of an experiment on a corpus."""
    return evaluating(name, bert(size.layers), examples(size.examples, size.length), size.folder)


def evaluating(name: str, subject: Subject, texts: list[Example], folder: Path, **more: Any) -> Run:
    """A run of an experiment on a subject and texts; what it trains is trained anew each time."""
    wanted = experiment(name)
    config = wanted.config(model="tiny", data="tiny", **OPTIONS.get(name, {}))
    numbers = count()

    def run() -> object:
        there = folder / f"run{next(numbers)}"
        context = Context(subject, texts, range(len(texts)), 0, BATCH, True, models_folder=there, name=name, **more)
        return wanted.run(config, context)

    return run


def corpus_of(texts: list[Example]) -> Corpus:
    """A corpus whose splits are the same."""
    labels = () if texts[0].label is None else LABELS
    return Corpus("tiny", dict.fromkeys(("train", "dev", "test"), tuple(texts)), labels)


def retraining(name: str, size: Size) -> Run:
    """A run of an experiment that trains models like the given one, for an epoch each."""
    texts = examples(size.examples, size.length)
    training = Training(model="transformer", data="tiny", layers=size.layers, heads=2, dropout=0.0, **SMALL)
    base = train(training, size.folder / "base", corpus=corpus_of(texts), quiet=True)
    return evaluating(name, base, texts, size.folder, training=training, corpus=corpus_of(texts))


def remembering(size: Size) -> Run:
    """`memory`: five kinds of models are trained on delays of up to so many words, for an epoch."""
    sizes = {"train": size.examples, "dev": 4, "test": size.examples}
    corpus = recall.load(sizes=sizes, trained=size.length, tested=(size.length,))
    config = experiment("memory").config(data="recall", **OPTIONS["memory"])
    chosen, numbers = list(range(size.examples)), count()

    def run() -> object:
        there = size.folder / f"run{next(numbers)}"
        models = TrainedModels(corpus, "test", chosen, there, batch_size=BATCH, quiet=True, name="memory")
        return experiment("memory").run(config, models)

    return run


def gating(size: Size) -> Run:
    """`gating` on the model that it is for, which has one layer."""
    texts = examples(size.examples, size.length)
    training = Training(model="additive", data="tiny", embedding_size=16, **SMALL)
    return evaluating("gating", untrained(training, corpus_of(texts)), texts, size.folder)


def aligning(size: Size) -> Run:
    """`alignment` on a translator."""
    texts = translations(size.examples, size.length)
    training = Training(model="transformer", data="tiny", layers=size.layers, heads=2, **SMALL)
    return evaluating("alignment", untrained(training, corpus_of(texts)), texts, size.folder)


def cases() -> dict[str, Case]:
    """Everything that is measured, by kind and name."""
    without_layers = {axis: sizes for axis, sizes in SIZES.items() if axis != "layers"}
    # a batch of this experiment has 64 texts, and the longest of a few texts says little about that of all
    remembered = {"examples": (64, 128, 256), "length": (16, 32, 64)}
    many = {"examples": 64, "length": 24, "layers": 2}
    special = {
        **{name: Case(partial(retraining, name)) for name in ("adversary", "guide", "seeds")},
        "memory": Case(remembering, remembered, {**FIXED, "examples": 64}),
        "gating": Case(gating, without_layers),
        "identifiability": Case(partial(experimenting, "identifiability"), {**SIZES, "examples": MORE}),
        "alignment": Case(aligning, {**SIZES, "length": (32, 64, 128)}, {**FIXED, "examples": 4}),
        "probes": Case(partial(experimenting, "probes"), {**SIZES, "examples": (64, 128, 256)}, many),
    }
    traced, alone = {"examples": MORE, "length": LONGER, "layers": DEEPER}, {**FIXED, "examples": 1}
    explainers = {f"explainer {name}": Case(partial(explaining, name), traced, alone) for name in registry.names()}
    for name, lengths in SLOW.items():
        explainers[f"explainer {name}"] = Case(partial(explaining, name), {**traced, "length": lengths}, alone)
    running = [name for name in EXPERIMENTS.names() if name not in WITHOUT_MODEL]
    others = {name: special.get(name) or Case(partial(experimenting, name)) for name in running}
    experiments = {f"experiment {name}": case for name, case in others.items()}
    return {PLAIN: Case(passing, traced, alone)} | explainers | experiments
