"""From examples to batches: tokens, the words they are pieces of, and what is right."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

from whence.core.errors import BadData, CannotLoad
from whence.data.examples import Example
from whence.models.batch import Batch
from whence.models.tasks import Task

UNKNOWN = -1


class Encoder:
    """Turns examples into batches for one model, its tokenizer and its task."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, task: Task) -> None:
        self.model, self.tokenizer, self.task = model, tokenizer, task
        if not tokenizer.is_fast:
            raise CannotLoad(
                f"{type(tokenizer).__name__} cannot say which word a token is part of; expected a fast tokenizer (one"
                " with a tokenizer.json). Load it with AutoTokenizer.from_pretrained(folder) and save it again."
            )
        if tokenizer.pad_token is None:
            if tokenizer.eos_token is None:
                raise CannotLoad("the tokenizer has neither a padding nor an end token; texts cannot be put in a batch")
            tokenizer.pad_token = tokenizer.eos_token
        self.max_length = longest(model, tokenizer)
        self.label_ids = {str(name): int(number) for name, number in (model.config.label2id or {}).items()}

    def encode(self, examples: Sequence[Example], numbers: Sequence[int]) -> Batch:
        """One batch, padded to its longest text."""
        encoded = self._tokenized(examples)
        word, segment = self._words(encoded)
        special = encoded.pop("special_tokens_mask").bool() | ~encoded["attention_mask"].bool()
        tokens = tuple(tuple(self.tokenizer.convert_ids_to_tokens(ids.tolist())) for ids in encoded["input_ids"])
        truncated = torch.tensor([bool(encoding.overflowing) for encoding in encoded.encodings or []])
        inputs = dict(encoded)
        answers, gold = self._answers(examples, inputs, word, segment, special)
        return Batch(inputs, torch.tensor(list(numbers)), tokens, special, word, segment, answers, gold, truncated)

    def _tokenized(self, examples: Sequence[Example]) -> BatchEncoding:
        in_words = all(example.words is not None for example in examples)
        texts: list[Any] = [list(e.words or ()) if in_words else e.text for e in examples]
        pairs: list[Any] | None = None
        if any(example.pair is not None for example in examples):
            if any(example.pair is None for example in examples):
                raise BadData("some examples have a second text and some have none; expected all or none to have one")
            split = in_words and all(example.pair_words is not None for example in examples)
            pairs = [list(e.pair_words or ()) if split else (e.pair or "").split() if in_words else e.pair
                     for e in examples]  # fmt: skip
        return self.tokenizer(
            texts, pairs, is_split_into_words=in_words, padding=True, truncation=True, max_length=self.max_length,
            return_special_tokens_mask=True, return_attention_mask=True, return_tensors="pt",
            return_token_type_ids="token_type_ids" in self.tokenizer.model_input_names,
        )  # fmt: skip

    def _words(self, encoded: BatchEncoding) -> tuple[Tensor, Tensor]:
        rows = range(len(encoded["input_ids"]))
        words = [[UNKNOWN if w is None else w for w in encoded.word_ids(row)] for row in rows]
        segments = [[s or 0 for s in encoded.sequence_ids(row)] for row in rows]
        return torch.tensor(words), torch.tensor(segments)

    def _answers(
        self, examples: Sequence[Example], inputs: dict[str, Tensor], word: Tensor, segment: Tensor, special: Tensor
    ) -> tuple[Tensor, Tensor]:
        if self.task.name == "sequence-classification":
            gold = [[UNKNOWN if e.label is None else self.label_id(e.label)] for e in examples]
            return torch.ones(len(examples), 1, dtype=torch.bool), torch.tensor(gold)
        if self.task.name == "token-classification":
            begins = (word != word.roll(1, 1)) & (word != UNKNOWN) & (segment == 0)
            return begins, self._tags(examples, word, begins)
        if self.task.name == "causal-lm":
            ids, real = inputs["input_ids"][:, 1:], inputs["attention_mask"][:, 1:].bool()
            return real, ids.masked_fill(~real, UNKNOWN)
        return self._targets(examples, inputs)

    def _tags(self, examples: Sequence[Example], word: Tensor, begins: Tensor) -> Tensor:
        gold = torch.full_like(word, UNKNOWN)
        for row, example in enumerate(examples):
            if example.tags is not None:
                for position in begins[row].nonzero().flatten().tolist():
                    gold[row, position] = self.label_id(example.tags[int(word[row, position])])
        return gold

    def _targets(self, examples: Sequence[Example], inputs: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        if any(example.target is None for example in examples):
            raise BadData(
                "a sequence-to-sequence model is asked about the target text; expected a column with it (name it:"
                " --columns.target NAME)"
            )
        labels = self.tokenizer(
            text_target=[example.target for example in examples], padding=True, truncation=True,
            max_length=self.max_length, return_tensors="pt",
        )  # fmt: skip
        gold = labels["input_ids"].masked_fill(labels["attention_mask"] == 0, UNKNOWN)
        inputs["labels"] = gold.masked_fill(gold == UNKNOWN, -100)
        return gold != UNKNOWN, gold

    def label_id(self, label: str) -> int:
        """The number of a class by its name, or by its number where the model's classes have no names."""
        if label in self.label_ids:
            return self.label_ids[label]
        by_lower = {name.lower(): number for name, number in self.label_ids.items()}
        if label.lower() in by_lower:
            return by_lower[label.lower()]
        nameless = all(name.upper().startswith("LABEL_") for name in self.label_ids)
        if nameless and label.isdecimal() and int(label) in self.label_ids.values():
            return int(label)
        raise BadData(
            f"the label {label!r} is unknown to the model, which knows: {', '.join(self.label_ids)}. Rename the labels"
            " in the table, or name another label column (--columns.label NAME)"
        )


def longest(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> int:
    """How many tokens the model can take: its tokenizer's limit, or that of its learned positions."""
    limits = [tokenizer.model_max_length]
    for name, module in model.named_modules():
        if isinstance(module, nn.Embedding) and "position" in name.rsplit(".", 1)[-1] and "relative" not in name:
            offset = 0 if module.padding_idx is None else module.padding_idx + 1  # as RoBERTa counts
            limits.append(module.num_embeddings - offset)
    config: Any = model.config
    limits.append(getattr(config, "max_position_embeddings", None) or limits[0])
    return int(min(limits))


def bucketed(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """The numbers of the examples in batches of like length, so that little is padded."""
    order = sorted(range(len(lengths)), key=lambda number: lengths[number])
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]
