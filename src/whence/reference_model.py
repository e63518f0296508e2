"""What a reference model is: its options, its presets, and how it is built; and the registry that finds it.

Each file of `whence.models` ends with one, `MODEL`. Other packages add theirs by an entry point in the group
`whence.models`; a script names `module:object` in the place of a model's name. Importing this needs no torch.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from whence.core.errors import BadConfig
from whence.data.examples import Corpus
from whence.plugins import Registry

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Mode = Literal["paper", "author-code", "corrected"]
PREDICTS = {
    "sequence-classification": "one label for a text",
    "token-classification": "a tag for each word",
    "seq2seq": "a target text",
    "series": "a value for each window of a narrative",
}


class ModelOptions(BaseModel):
    """The options of one model: its architecture, in addition to what every training has (`whence.training.config`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def freezes_vectors(self) -> bool:
        """Whether word vectors that are given stay as they are."""
        return False


@dataclass(frozen=True)
class BuildInputs:
    """What a model is built for."""

    tokenizer: "PreTrainedTokenizerBase"
    corpus: Corpus
    task: str
    vector_width: int | None = None  # of the word vectors that are given; None: none are

    @property
    def has_pairs(self) -> bool:
        """Whether the corpus has second texts."""
        return any(example.pair is not None for example in self.corpus["train"])

    @property
    def config_values(self) -> dict[str, Any]:
        """What every config needs: the vocabulary, its special tokens, the classes."""
        labels = self.corpus.labels
        classes = {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
        return {
            "vocab_size": len(self.tokenizer),
            "pad_token_id": self.tokenizer.pad_token_id,
            "bos_token_id": self.tokenizer.bos_token_id,
            "eos_token_id": self.tokenizer.eos_token_id,
            **(classes if labels else {}),
        }


@dataclass(frozen=True, eq=False)
class ReferenceModel:
    """A model that can be trained from random weights.

    `options` is a class whose defaults are the model's own. `presets` are its defaults for the options that every
    training has. `modes` are named sets of both kinds; the field `mode` of `options` picks one. `build` makes the model
    with random weights, drawn from torch's global generator.
    """

    name: str
    about: str  # the file's docstring
    options: type[ModelOptions]
    tasks: tuple[str, ...]  # keys of `PREDICTS`
    build: Callable[[Any, BuildInputs], "PreTrainedModel"]
    presets: Mapping[str, Any] = field(default_factory=dict)
    modes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def defaults(self, mode: str | None = None) -> dict[str, Any]:
        """The presets, and what a mode adds to them; without a `mode`, the model's default mode, if it has one."""
        chosen = mode or (self.options.model_fields["mode"].default if self.modes else None)
        return {**self.presets, **self.modes.get(str(chosen), {})}

    def refuse_other_tasks(self, task: str, corpus: Corpus) -> None:
        """Refuse a corpus that asks for what this model does not predict."""
        if task not in self.tasks:
            able = [name for name in REFERENCE_MODELS.names() if task in REFERENCE_MODELS.get(name).tasks]
            raise BadConfig(
                f"{self.name} predicts {' or '.join(PREDICTS[known] for known in self.tasks)}; {corpus.name} asks for"
                f" {PREDICTS[task]}. Models that predict that: {', '.join(able)}"
            )


REFERENCE_MODELS: Registry[ReferenceModel] = Registry(
    "model", "whence.models", "MODEL", lambda found: isinstance(found, ReferenceModel), "a ReferenceModel"
)


def register_plugins() -> None:
    """Import the reference models of other packages, so that transformers' Auto classes know them."""
    for name in REFERENCE_MODELS.installed:
        with suppress(BadConfig):  # one that is broken says so where it is named
            REFERENCE_MODELS.get(name)


def find_model(name: str) -> ReferenceModel | None:
    """The reference model of this name; None where the name is that of a saved model, a folder or one of the hub."""
    is_object = re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", name) is not None
    return REFERENCE_MODELS.get(name) if is_object or name in REFERENCE_MODELS.names() else None
