"""Loading a saved model without running code that comes with it.

Weights come from safetensors where there are any. A `.bin` is read as plain tensors, never as a pickle of objects, and
Python files of a model are run only with `trust_remote_code`.
"""

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import AutoConfig, AutoTokenizer, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

import whence.models  # noqa: F401  (makes the reference models known to the Auto classes)
from whence.core.errors import CannotLoad
from whence.data.formats.text import file_exists
from whence.reference_model import register_plugins
from whence.subject.model_names import refuse_missing_folder

TASKS = {
    "sequence-classification": transformers.AutoModelForSequenceClassification,
    "token-classification": transformers.AutoModelForTokenClassification,
    "seq2seq": transformers.AutoModelForSeq2SeqLM,
    "causal-lm": transformers.AutoModelForCausalLM,
    "series": transformers.AutoModelForTimeSeriesPrediction,
    "masked-lm": transformers.AutoModelForMaskedLM,
    "image-classification": transformers.AutoModelForImageClassification,
    "base": transformers.AutoModel,
}


def load_model(
    name: str | Path,
    task: str | None = None,
    *,
    trust_remote_code: bool = False,
    dtype: torch.dtype = torch.float32,
    device: str | torch.device = "cpu",
    labels: Sequence[str] = (),
) -> PreTrainedModel:
    """A saved model, by folder or hub name, in evaluation mode; with `labels`, it gets a new head for these classes.

    `task` is one of `TASKS`; by default it is the one that the model was saved for. `trust_remote_code=True` runs
    Python files that come with the model: only for models whose authors you trust.
    """
    if task is not None and task not in TASKS:
        raise CannotLoad(f"no task {task!r}; choose from: {', '.join(TASKS)}")
    if file_exists(name) and Path(name).is_file():
        raise CannotLoad(
            f"{name} is a file; expected a folder written by save_pretrained, or a hub name. A pickled model is not"
            " loaded, since a pickle can run any code: save it with model.save_pretrained(folder)."
        )
    refuse_missing_folder(name)
    try:
        register_plugins()
        config = AutoConfig.from_pretrained(name, trust_remote_code=trust_remote_code)
        saved = saved_task(config)
        model, found = TASKS[task or saved].from_pretrained(
            name,
            trust_remote_code=trust_remote_code,
            weights_only=True,
            dtype=dtype,
            output_loading_info=True,
            **_headed(labels),
        )
    except pickle.UnpicklingError as error:
        raise CannotLoad(
            f"the weights of {name} are a pickle that holds more than tensors, which could run any code; not loaded."
            " Ask for them as safetensors."
        ) from error
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError, StrictDataclassError) as error:
        raise CannotLoad(_explained(name, error, trust_remote_code)) from error
    if (task or saved) == "base":
        _without_pooler(model, found)
    if task != "base" or saved == "base":  # a bare model made of another drops that one's head, and may have parts more
        _refuse_random(name, model, found, labels)
    damaged = [key for key, weight in model.named_parameters() if not bool(weight.isfinite().all())]
    if damaged:
        raise CannotLoad(
            f"{name} holds weights that are no numbers ({damaged[0]}): they are damaged, or too large for"
            f" {str(dtype).removeprefix('torch.')}; expected finite ones"
        )
    return model.to(device).eval()


def load_tokenizer(name: str | Path, *, trust_remote_code: bool = False) -> PreTrainedTokenizerBase:
    """The tokenizer that was saved with a model."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=trust_remote_code)
    except (OSError, ValueError, KeyError, StrictDataclassError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise CannotLoad(
            f"the tokenizer of {name} could not be loaded ({first}); save it next to the model with"
            " tokenizer.save_pretrained(folder)"
        ) from error
    if not set(tokenizer.get_vocab()) - {*tokenizer.all_special_tokens, "▁"}:  # made by transformers of no files at all
        raise CannotLoad(
            f"the tokenizer of {name} knows no words: its files may be missing; save it next to the model"
            " with tokenizer.save_pretrained(folder)"
        )
    return tokenizer


def _headed(labels: Sequence[str]) -> dict[str, Any]:
    """What makes a new head: the classes, and leave to drop the saved one."""
    if not labels:
        return {}
    return {
        "id2label": dict(enumerate(labels)),
        "label2id": {label: i for i, label in enumerate(labels)},
        "ignore_mismatched_sizes": True,
    }


def _without_pooler(model: PreTrainedModel, found: dict[str, Any]) -> None:
    """A bare encoder that was saved without what sums a text up goes without it: drawn at random it would be noise."""
    if any(str(key).startswith("pooler.") for key in found["missing_keys"]) and hasattr(model, "pooler"):
        model.pooler = None  # type: ignore[assignment]
        found["missing_keys"] = [key for key in found["missing_keys"] if not str(key).startswith("pooler.")]


def _refuse_random(name: str | Path, model: PreTrainedModel, found: dict[str, Any], labels: Sequence[str]) -> None:
    """Refuse weights that were not in the file and were drawn at random; only a new head may begin so."""
    drawn = [key for key, _ in model.named_parameters() if key in found["missing_keys"]]  # no buffers, nor tied ones
    drawn += [key for key, _, shape in found["mismatched_keys"] if not labels or shape[0] != len(labels)]
    if labels and hasattr(model, model.base_model_prefix):
        drawn = [key for key in drawn if key.startswith(f"{model.base_model_prefix}.") and "pooler" not in key]
    if drawn:
        more = f" and {len(drawn) - 3} more" if len(drawn) > 3 else ""
        raise CannotLoad(
            f"{name} has no weights for {', '.join(drawn[:3])}{more}, so they would be random; expected a"
            f" {type(model).__name__} that was saved whole. Train it first, or name the task it was saved for"
        )


def saved_task(config: PreTrainedConfig) -> str:
    """The task whose model class is the architecture that the config names; `base` if there is none."""
    for architecture in config.architectures or []:
        for task, auto in TASKS.items():
            mapping: Any = auto._model_mapping
            classes = mapping.get(type(config), ())
            names = [c.__name__ for c in (classes if isinstance(classes, tuple | list) else [classes])]
            if architecture in names:
                return task
    return "base"


def _explained(name: str | Path, error: Exception, trusted: bool) -> str:
    if not trusted and "trust_remote_code" in str(error):
        return (
            f"{name} brings its own Python code, which is not run by default. Read it, and if you trust its authors,"
            " pass trust_remote_code=True (--trust-remote-code)."
        )
    if "ignore_mismatched_sizes" in str(error):
        return f"{name} could not be loaded: the sizes in its config.json are not those of its weights"
    message = " ".join(str(error).split())
    if not file_exists(name):
        return f"there is no folder {name}, and no model of that name could be loaded from the hub: {message}"
    return f"{name} could not be loaded: {message}"
