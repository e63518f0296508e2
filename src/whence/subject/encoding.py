"""From examples to batches: tokens, the word of each token, and the labels."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Int
from tokenizers import Encoding
from torch import Tensor, nn
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

from whence.core.errors import BadData, CannotLoad
from whence.data.examples import Example
from whence.subject.batch import Batch
from whence.subject.tasks import Task
from whence.subject.word_ids import as_text, spelled, word_numbers

UNKNOWN = -1
NO_LIMIT = 2**31 - 1  # tokens; the largest limit that a tokenizer accepts
DEFAULT_LIMIT = 4096  # tokens, where a model states no limit: attention takes memory of their square


class Encoder:
    """Turns examples into batches for one model, its tokenizer and its task."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, task: Task) -> None:
        self.model, self.tokenizer, self.task = model, tokenizer, task
        if not tokenizer.is_fast:
            raise CannotLoad(
                f"{type(tokenizer).__name__} does not report the word of each token; expected a fast tokenizer (one"
                " with a tokenizer.json). Load it with AutoTokenizer.from_pretrained(folder) and save it again."
            )
        make_padding(model, tokenizer)
        self.max_length = longest(model, tokenizer)
        self.known_words = getattr(model.get_input_embeddings(), "num_embeddings", NO_LIMIT)
        self.label_ids = {str(name): int(number) for number, name in (model.config.id2label or {}).items()}
        self.taken = set(inspect.signature(model.forward).parameters)

    @property
    def limit(self) -> str:
        """How much of a text is read, as a phrase for messages."""
        return (
            f"{self.max_length} tokens" if self.max_length == DEFAULT_LIMIT else f"the model's {self.max_length} tokens"
        )

    def encode(self, examples: Sequence[Example], numbers: Sequence[int], *, ahead: bool = False) -> Batch:
        """One batch, padded to its longest text; `ahead`: a language model predicts the token after each text."""
        batch = self.read(examples, numbers)
        if not self.task.predicts:
            return batch
        if ahead and self.task.name == "causal-lm":
            return predicting_next(batch, int(self.tokenizer.pad_token_id))
        inputs = dict(batch.inputs)
        positions, labels, cut = self._labelled(examples, inputs, batch.word, batch.segment, batch.truncated)
        self._refuse_empty(examples, numbers, positions.any(1), f"there is nothing to predict ({self.task.about})")
        return replace(batch, inputs=inputs, predicted_positions=positions, labels=labels, truncated=cut)

    def read(self, examples: Sequence[Example], numbers: Sequence[int]) -> Batch:
        """The texts as a batch for any task: every token is a predicted position, with no label known."""
        encoded = self._tokenized(examples)
        rows = encoded.encodings or []
        splits = self.tokenizer.backend_tokenizer.pre_tokenizer is not None
        word = torch.tensor([word_numbers(row, e, splits=splits) for row, e in zip(rows, examples, strict=True)])
        segment = torch.tensor([[s or 0 for s in row.sequence_ids] for row in rows])
        special = encoded.pop("special_tokens_mask").bool() | ~encoded["attention_mask"].bool()
        tokens = tuple(self._shown(row, e) for row, e in zip(rows, examples, strict=True))
        cut = torch.tensor([bool(row.overflowing) for row in rows])
        inputs = {name: tensor for name, tensor in encoded.items() if name != "token_type_ids" or name in self.taken}
        self._refuse_empty(examples, numbers, (~special & (segment == 0)).any(1), "its text is empty")
        unknown = torch.full_like(word, UNKNOWN)
        return Batch(inputs, torch.tensor(list(numbers)), tokens, special, word, segment, ~special, unknown, cut)

    def _tokenized(self, examples: Sequence[Example]) -> BatchEncoding:
        pairs = [as_text(e.pair_words, e.pair) for e in examples if e.pair is not None]
        if pairs and len(pairs) < len(examples):
            raise BadData("some examples have a second text and some have none; expected all or none to have one")
        if getattr(self.model.config, "pairs", False) and not pairs:
            raise BadData(
                "this model reads two texts and got one; give the second (--pair TEXT to explain,"
                " --columns.pair NAME for a table)"
            )
        encoded = self.tokenizer(
            [as_text(e.words, e.text) for e in examples],
            pairs or None,
            padding=True,
            truncation=True,
            max_length=self.max_length,
            return_special_tokens_mask=True,
            return_attention_mask=True,
            return_tensors="pt",
            return_token_type_ids="token_type_ids" in self.tokenizer.model_input_names,
        )
        largest = int(encoded["input_ids"].max()) if encoded["input_ids"].numel() else 0
        if largest >= self.known_words:
            raise CannotLoad(
                f"the tokenizer does not belong to the model: it gives the token id {largest}, and the model has"
                f" {self.known_words} tokens; save the model's own tokenizer in its folder"
            )
        return encoded

    def _shown(self, row: Encoding, example: Example) -> tuple[str, ...]:
        """The tokens of a text; unknown ones as they are spelled in the text."""
        texts = (as_text(example.words, example.text), as_text(example.pair_words, example.pair or ""))
        return tuple(
            texts[segment or 0][slice(*place)]
            if number == self.tokenizer.unk_token_id and segment is not None
            else token
            for token, number, segment, place in zip(row.tokens, row.ids, row.sequence_ids, row.offsets, strict=True)
        )

    def spelled(self, batch: Batch, examples: Sequence[Example]) -> list[list[str]]:
        """The word of every token of a batch of these examples; empty for special tokens, and for the next token that a
        language model predicts.
        """
        texts = self._tokenized(examples).encodings or []
        rows = zip(texts, examples, batch.word.tolist(), strict=True)
        found = [spelled(text, example, numbers[: len(text)]) for text, example, numbers in rows]
        return [[*words, *[""] * (batch.word.shape[1] - len(words))] for words in found]

    def offsets(self, batch: Batch, examples: Sequence[Example]) -> Int[Tensor, "batch token 2"]:
        """Where every token of a batch of these examples begins and ends in its text, in characters; -1 for special
        tokens.
        """
        found = torch.full((*batch.word.shape, 2), UNKNOWN)
        for row, one in enumerate(self._tokenized(examples).encodings or []):
            places = zip(one.sequence_ids, one.offsets, strict=True)
            here = [(UNKNOWN, UNKNOWN) if segment is None else place for segment, place in places]
            found[row, : len(here)] = torch.tensor(here)
        return found

    def _refuse_empty(self, examples: Sequence[Example], numbers: Sequence[int], there: Tensor, complaint: str) -> None:
        for row in (~there).nonzero().flatten().tolist()[:1]:
            raise BadData(
                f"example {numbers[row]} (counted from 0): {complaint}; its text is {examples[row].text[:80]!r}."
                " Expected words; remove the example from the table"
            )

    def _labelled(
        self, examples: Sequence[Example], inputs: dict[str, Tensor], word: Tensor, segment: Tensor, cut: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The predicted positions, their labels, and which texts were truncated."""
        if self.task.name == "sequence-classification":
            labels = [[UNKNOWN if e.label is None else self.label_id(e.label)] for e in examples]
            return torch.ones(len(examples), 1, dtype=torch.bool), torch.tensor(labels), cut
        if self.task.name == "token-classification":
            before = F.pad(word[:, :-1], (1, 0), value=UNKNOWN)
            begins = (word != before) & (word != UNKNOWN) & (segment == 0)
            return begins, self._tags(examples, word, begins), cut
        if self.task.name == "causal-lm":
            ids, mask = inputs["input_ids"][:, 1:], inputs["attention_mask"].bool()
            real = mask[:, 1:] & mask[:, :-1]
            return real, ids.masked_fill(~real, UNKNOWN), cut
        return self._targets(examples, inputs, cut)

    def _tags(self, examples: Sequence[Example], word: Tensor, begins: Tensor) -> Tensor:
        labels = torch.full_like(word, UNKNOWN)
        for row, example in enumerate(examples):
            if example.tags is not None:
                for position in begins[row].nonzero().flatten().tolist():
                    labels[row, position] = self.label_id(example.tags[int(word[row, position])])
        return labels

    def _targets(
        self, examples: Sequence[Example], inputs: dict[str, Tensor], cut: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        if any(example.target is None for example in examples):
            raise BadData(
                "a sequence-to-sequence model predicts a target text; expected a column with it (name it:"
                " --columns.target NAME)"
            )
        encoded = self.tokenizer(
            text_target=[example.target for example in examples],
            padding=True,
            truncation=True,
            max_length=self.max_length,
            return_tensors="pt",
        )
        labels = encoded["input_ids"].masked_fill(encoded["attention_mask"] == 0, UNKNOWN)
        inputs["labels"] = labels.masked_fill(labels == UNKNOWN, -100)
        return labels != UNKNOWN, labels, cut | torch.tensor([bool(row.overflowing) for row in encoded.encodings or []])

    def label_id(self, label: str) -> int:
        """The number of a class by its name; or by its number, unless the model has classes named by numbers."""
        if label in self.label_ids:
            return self.label_ids[label]
        by_lower = {name.lower(): number for name, number in self.label_ids.items()}
        if label.lower() in by_lower:
            return by_lower[label.lower()]
        numbers = self.numbered()
        if label.isdecimal() and int(label) in numbers:
            return int(label)
        counted = f" (or their numbers, from 0 to {len(numbers) - 1})" if numbers and label.isdecimal() else ""
        raise BadData(
            f"the label {label!r} is unknown to the model, whose labels are: {', '.join(self.label_ids)}{counted}."
            " Rename the labels in the table, or name another label column (--columns.label NAME)"
        )

    def numbered(self) -> dict[int, str]:
        """The name of each class by its number; empty where a name is a number, so that numbers mean names."""
        named_by_numbers = any(name.strip().lstrip("+-").isdecimal() for name in self.label_ids)
        return {} if named_by_numbers else {number: name for name, number in self.label_ids.items()}


def predicting_next(batch: Batch, padding: int) -> Batch:
    """The batch padded by one token, with the position after each text's last word as the predicted one."""
    order = torch.arange(batch.special.shape[1])
    last = (~batch.special * (order + 1)).argmax(1)  # [batch]
    inputs = {
        name: F.pad(tensor, (0, 1), value=padding if name == "input_ids" else 0)
        for name, tensor in batch.inputs.items()
    }
    return replace(
        batch,
        inputs=inputs,
        tokens=tuple((*row, "") for row in batch.tokens),
        special=F.pad(batch.special, (0, 1), value=True),
        word=F.pad(batch.word, (0, 1), value=UNKNOWN),
        segment=F.pad(batch.segment, (0, 1)),
        predicted_positions=order == last[:, None],
        labels=torch.full_like(batch.word, UNKNOWN),
    )


def make_padding(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Give model and tokenizer the same padding token, on the right, so that padding shifts no position.

    Only XLNet is padded on the left: it predicts from the last token, and counts positions from there.
    """
    config: Any = model.config
    if tokenizer.pad_token is None:
        known = config.pad_token_id if config.pad_token_id in range(len(tokenizer)) else tokenizer.eos_token_id
        if known is None:
            raise CannotLoad("the tokenizer has neither a padding nor an end token; texts cannot be put in a batch")
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(known)
    if config.pad_token_id is None:
        config.pad_token_id = tokenizer.pad_token_id  # a decoder that classifies finds the end of the text by it
    tokenizer.padding_side = "left" if config.model_type == "xlnet" else "right"


def longest(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> int:
    """The most tokens that the model can read: its tokenizer's limit, or that of its learned positions, or
    `DEFAULT_LIMIT`.
    """
    limits = [tokenizer.model_max_length, NO_LIMIT]
    for name, module in model.named_modules():
        if isinstance(module, nn.Embedding) and "position" in name.rsplit(".", 1)[-1] and "relative" not in name:
            offset = 0 if module.padding_idx is None else module.padding_idx + 1  # as RoBERTa counts
            limits.append(module.num_embeddings - offset)
    config: Any = model.config
    stated = getattr(config, "max_position_embeddings", None) or 0
    least = int(min(*limits, stated if stated > 0 else NO_LIMIT))  # XLNet states -1
    return DEFAULT_LIMIT if least == NO_LIMIT else least


def bucketed(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """The indices of the examples in batches of similar length, to pad little."""
    order = sorted(range(len(lengths)), key=lambda number: lengths[number])
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]
