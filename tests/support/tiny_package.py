"""A package of plug-ins as somebody else would write it, put where Python finds it as if pip had installed it."""

from pathlib import Path

EXPLAINER = '''
import torch

from whence.plugin_api import Attribution, Batch, Subject, Target, attribution


def letters(subject: Subject, batch: Batch, target: Target, *, power: int = 1) -> Attribution:
    """Score each token by its number of letters."""
    lengths = [[len(token) ** power for token in row] for row in batch.tokens]
    return attribution(torch.tensor(lengths, dtype=torch.float32), batch, "letters", f"letters, power {power}")
'''

EXPERIMENT = '''
from matplotlib.figure import Figure
from pydantic import Field

from whence.plugin_api import Column, Columns, Effect, Experiment, ExperimentConfig, Needs, Verdict


class Config(ExperimentConfig):
    """Count the words of each example."""

    least: int = Field(3, description="words of a long text")


COLUMNS = Columns("one row per example", example=Column(int, "number"), words=Column(int, "number of words"))


def run(config, context):
    return COLUMNS.table({"example": range(len(context.examples)),
                          "words": [len(example.text.split()) for example in context.examples]})


def figure(table):
    drawn = Figure()
    drawn.subplots().hist(table["words"])
    return drawn


def verdict(table):
    mean = float(table["words"].mean())
    return Verdict(0, "yes", f"Texts have {mean:.1f} words on average.", (), "Words were counted.", "m", "d")


COUNTING = Experiment(about="How long are the texts?", config=Config, columns=COLUMNS, caption="Words of each text.",
                      run=run, figure=figure, verdict=verdict, needs=Needs(labels=False))
'''

CORPUS = '''
from whence.plugin_api import Corpus, Entry, Example


def load(seed: int = 0) -> Corpus:
    """Forty texts of one word each, in three splits."""
    examples = tuple(Example(word, label=word) for word in ("yes", "no") * 20)
    return Corpus("words", {"train": examples, "dev": examples, "test": examples}, ("no", "yes"))


WORDS = Entry("tiny_words", "One word decides.", "CC0", "synthetic", load)
'''

MODEL = '''
from pydantic import Field

from whence.plugin_api import BuildInputs, ModelOptions, ReferenceModel


class Options(ModelOptions):
    """A BERT of one layer and one head."""

    width: int = Field(8, gt=0, description="width of the hidden states")


def build(options: Options, inputs: BuildInputs):
    from transformers import BertConfig, BertForSequenceClassification

    sizes = {"hidden_size": options.width, "intermediate_size": options.width}
    config = BertConfig(**sizes, num_hidden_layers=1, num_attention_heads=1, **inputs.config_values)
    return BertForSequenceClassification(config)


SMALL = ReferenceModel("small_bert", "A BERT of one layer.", Options, ("sequence-classification",), build,
                       presets={"epochs": 2})
'''

MODULES = {
    "explaining": EXPLAINER,
    "experimenting": EXPERIMENT,
    "words": CORPUS,
    "small": MODEL,
    "broken": "import a_module_that_is_not_there\n",
}
POINTS = """
[whence.explainers]
letters = tiny_plugin.explaining:letters
broken_explainer = tiny_plugin.broken:explain
raw_attention = tiny_plugin.explaining:letters

[whence.experiments]
counting = tiny_plugin.experimenting:COUNTING
no_experiment = tiny_plugin.experimenting:COLUMNS

[whence.corpora]
tiny_words = tiny_plugin.words:WORDS

[whence.models]
small_bert = tiny_plugin.small:SMALL
"""


def install(folder: Path) -> Path:
    """Write the package and what pip would write beside it: a folder for PYTHONPATH."""
    package, info = folder / "tiny_plugin", folder / "tiny_plugin-1.0.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    (package / "__init__.py").write_text('"""Plug-ins."""\n', encoding="utf-8")
    for name, text in MODULES.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-plugin\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    return folder
