"""The subject of an audit: a model, its tokenizer and its task as one object."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from whence.core.errors import BadConfig, CannotLoad
from whence.core.model_sites import sites
from whence.core.site import Site
from whence.data.examples import Example
from whence.huggingface import adopt
from whence.models.parts.encoders import PlainModel
from whence.subject.batch import Batch
from whence.subject.devices import device_named
from whence.subject.encoding import Encoder, bucketed
from whence.subject.loading import load_model, load_tokenizer, saved_task
from whence.subject.tasks import TASKS
from whence.subject.windows import WindowEncoder

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16, "float64": torch.float64}
VOLATILE = (
    "_name_or_path",
    "architectures",
    "dtype",
    "label2id",
    "transformers_version",
)  # differ between files of the same model


class Subject:
    """A model with its tokenizer and task, whose attention can be recorded and overridden.

    `subject.encode(examples)` makes a `Batch`, `subject.predict(batch)` its probabilities [batch position class], or of
    a series its values [batch window 1].
    The model has attention sites: a Hugging Face model is adopted when the subject is constructed.
    """

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, task: str | None = None, name: str = ""
    ) -> None:
        model.config.architectures = model.config.architectures or [type(model).__name__]  # as if it had been saved
        task = task or saved_task(model.config)
        if task not in TASKS:
            raise CannotLoad(
                f"{type(model).__name__} was saved for {task!r}; expected a model for one of: {', '.join(TASKS)}."
                " Name the task if it has such a head."
            )
        _refuse_unclassed(model, task, name or "the model")
        self.model, self.tokenizer, self.task, self.name = model.eval(), tokenizer, TASKS[task], name
        if not isinstance(model, PlainModel) or model.attends:  # `reader` may have none
            adopt(model)
        self._fingerprint: tuple[object, str] | None = None  # the state of the tensors, and its hash
        self.encoder = (WindowEncoder if self.task.predicts_values else Encoder)(model, tokenizer, self.task)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes, in the order of their numbers."""
        return tuple(str(self.model.config.id2label[number]) for number in sorted(self.model.config.id2label))

    @property
    def sites(self) -> dict[str, Site]:
        """The attention sites by name, in execution order."""
        return sites(self.model)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return self.model.device

    @property
    def lowercase(self) -> bool:
        """Whether the model's vocabulary has no capitals."""
        normalizer = self.tokenizer.backend_tokenizer.normalizer
        return normalizer is not None and normalizer.normalize_str("A") == "a"

    @property
    def fingerprint(self) -> str:
        """sha256 of weights, config and vocabulary: two subjects with the same fingerprint predict the same.

        It is computed again only after a tensor was replaced or changed in place (torch counts such changes).
        """
        tensors = self.model.state_dict().values()
        state = tuple((tensor.data_ptr(), tensor._version, tensor.dtype, tensor.shape) for tensor in tensors)
        if self._fingerprint is None or self._fingerprint[0] != state:
            self._fingerprint = state, self._hash()
        return self._fingerprint[1]

    def _hash(self) -> str:
        config = {name: value for name, value in self.model.config.to_dict().items() if name not in VOLATILE}
        vocabulary = json.loads(self.tokenizer.backend_tokenizer.to_str())
        vocabulary |= {"padding": None, "truncation": None}  # which the last batch has set
        digest = hashlib.sha256(json.dumps([self.task.name, config, vocabulary], sort_keys=True, default=str).encode())
        for name, tensor in self.model.state_dict().items():
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
        return digest.hexdigest()

    def encode(
        self, examples: Sequence[Example], numbers: Sequence[int] | None = None, *, ahead: bool = False
    ) -> Batch:
        """The examples as one batch; `numbers` says which of the corpus they are.

        With `ahead` a language model predicts what comes after each text, else each token from those before it.
        """
        return self._here(
            self.encoder.encode(examples, range(len(examples)) if numbers is None else numbers, ahead=ahead)
        )

    def read(self, examples: Sequence[Example], numbers: Sequence[int] | None = None) -> Batch:
        """The texts as one batch without labels or targets: enough to see how they are read."""
        return self._here(self.encoder.read(examples, range(len(examples)) if numbers is None else numbers))

    def _here(self, batch: Batch) -> Batch:
        return batch.with_inputs(**{name: tensor.to(self.device) for name, tensor in batch.inputs.items()})

    def batches(self, examples: Sequence[Example], batch_size: int = 32, *, labelled: bool = True) -> Iterator[Batch]:
        """All examples in batches of similar length; `batch.examples` are their indices.

        With `labelled=False` they are only tokenized, as `read` does.
        """
        lengths = [len(example.text) + len(example.pair or "") for example in examples]
        for numbers in bucketed(lengths, batch_size):
            yield (self.encode if labelled else self.read)([examples[number] for number in numbers], numbers)

    def logits(self, batch: Batch) -> Float[Tensor, "batch position class"]:
        """The model's predictions before the softmax, with gradients."""
        refuse_headless(self, "this prediction")
        return self.task.positioned(self.model(**batch.inputs).logits)

    @torch.no_grad()
    def predict(self, batch: Batch) -> Float[Tensor, "batch position class"]:
        """The model's predictions as probabilities; as values, if the task has values."""
        logits = self.logits(batch)
        return logits.float() if self.task.predicts_values else probabilities(logits)

    @contextmanager
    def embedded(self, given: Tensor | None = None) -> Iterator[list[Tensor]]:
        """While open, the word vectors of each forward pass are leaves [batch token width], which receive gradients.

        They are listed in the order of the pass: of a translator first the encoder's, then the decoder's. If vectors
        are `given`, they replace the first.
        """
        leaves: list[Tensor] = []
        tokens_first = self.model.config.model_type == "xlnet"  # [token batch width]

        def cut(module: Any, args: Any, output: Tensor) -> Tensor:
            vectors = output.transpose(0, 1) if tokens_first else output
            if given is None or leaves:
                leaves.append(vectors.detach().requires_grad_())
            else:
                leaves.append(given.reshape(vectors.shape).to(vectors))
            return leaves[-1].transpose(0, 1) if tokens_first else leaves[-1]

        table = self.model.get_input_embeddings()
        same = [m for m in self.model.modules() if m is table or getattr(m, "weight", None) is table.weight]
        hooks = [m.register_forward_hook(cut) for m in same if isinstance(m, nn.Embedding)]  # encoder's and decoder's
        try:
            yield leaves
        finally:
            for hook in hooks:
                hook.remove()

    def __repr__(self) -> str:
        return f"Subject({self.name or type(self.model).__name__}, {self.task.name}, {len(self.sites)} attention sites)"


def refuse_headless(subject: Subject, asking: str) -> None:
    """Refuse a model without a head where predictions are needed."""
    if not subject.task.predicts:
        raise BadConfig(
            f"{subject.name or type(subject.model).__name__} was saved for {subject.task.name!r} ({subject.task.about})"
            f" and {asking} needs predictions; train it for a task first (`whence train FOLDER`). Its attention can be"
            " compared with trees: `whence run syntax`"
        )


def _refuse_unclassed(model: PreTrainedModel, task: str, name: str) -> None:
    """Refuse a model that does not predict one class of several."""
    config: Any = model.config
    if task.endswith("classification") and (config.num_labels or 0) < 2:
        raise CannotLoad(f"{name} gives one number for a text (regression); expected two classes or more")
    if getattr(config, "problem_type", None) == "multi_label_classification":
        raise CannotLoad(f"{name} gives any number of labels for a text (multi-label); expected one class of several")


def probabilities(logits: Float[Tensor, "*copies class"]) -> Float[Tensor, "*copies class"]:
    """Softmax over the classes, in float32 at least."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32)).softmax(-1)


def load(
    name: str | Path,
    task: str | None = None,
    *,
    device: str = "cpu",
    dtype: str = "float32",
    trust_remote_code: bool = False,
) -> Subject:
    """A saved model with its tokenizer, by folder or hub name, ready to be audited."""
    if dtype not in DTYPES:
        raise BadConfig(f"no dtype {dtype!r}; choose from: {', '.join(DTYPES)}")
    if task is not None and task not in TASKS:
        raise BadConfig(f"no task {task!r}; choose from: {', '.join(TASKS)}")
    where = device_named(device)
    model = load_model(name, task, trust_remote_code=trust_remote_code, dtype=DTYPES[dtype], device=where)
    tokenizer = load_tokenizer(name, trust_remote_code=trust_remote_code)
    return Subject(model, tokenizer, task, str(name))
