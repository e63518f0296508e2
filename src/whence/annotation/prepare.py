"""Preparing a study: a model, a corpus and a design in, a frozen and blinded study out."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator

import whence
from whence.annotation.blind import blinded
from whence.annotation.draw import ATTENTION, CONTROLS, PERMUTED, Source, draw
from whence.annotation.study import STUDY, Study, save_study
from whence.annotation.tasks import TaskName
from whence.attribution.options import written_options
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Corpus
from whence.data.registry import load as load_corpus
from whence.evaluation.checks import refuse_unknown, refuse_values
from whence.evaluation.chosen_examples import chosen_examples
from whence.evaluation.config import DATA, MODEL, EvaluationOptions
from whence.evaluation.rationale_match import RANDOM
from whence.options import usually
from whence.subject.subject import Subject, load, refuse_headless


class Design(EvaluationOptions):
    """Prepare a study: draw texts, highlight the highest-scoring words by each method and control, blind and shuffle
    the items, and freeze them in one file, with a separate key.
    """

    model: str = Field(description=MODEL)
    data: str = Field(description=DATA)
    out: Path = Field(Path("whence-study"), description="folder for the study")
    ask: TaskName = Field(
        "relevance",
        description="what is asked: are the highlighted words relevant (Vashishth et al. 2019), which of two methods'"
        " words are better, or mark the words that decide",
    )
    items: int = Field(
        100, gt=0, description="texts for each condition, or for each pair of conditions; for a marking, in all"
    )
    method: tuple[str, ...] = Field((ATTENTION,), min_length=1, description="explainers; the first one decides")
    options: Annotated[tuple[str, ...], usually("none", "[METHOD.OPTION=VALUE ...]")] = Field(
        (), description="their options, as in raw_attention.layer=0"
    )
    controls: Annotated[str | None, usually("permuted; random where the prediction must stay", "NAME,NAME")] = Field(
        None, description="conditions to compare with, separated by commas: permuted, random, or none"
    )
    top: int = Field(3, gt=0, description="words to highlight")
    stratify: bool = Field(False, description="draw as many wrong predictions as right ones")
    checks: int = Field(0, ge=0, description="items whose text says what to answer, to see that items are read")
    repeats: int = Field(0, ge=0, description="items shown twice, for the agreement of annotators with themselves")
    longest: Annotated[int | None, usually("any", "INT")] = Field(None, gt=0, description="longest text, in words")

    @field_validator("method")
    @classmethod
    def _unique(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name.replace("-", "_") for name in given))

    def control_names(self) -> list[str]:
        """The controls, each once; those that do not suit what is asked are refused."""
        default = PERMUTED if self.ask == "relevance" else RANDOM
        given = self.controls if self.controls is not None else default
        names = [] if given == "none" else list(dict.fromkeys(one.strip() for one in given.split(",")))
        unknown = [one for one in names if one not in CONTROLS]
        if unknown:
            raise BadConfig(f"controls are {' and '.join(CONTROLS)}, or none; got {unknown[0]!r}")
        twice = [one for one in names if one in self.method]
        if twice:
            raise BadConfig(f"{twice[0]} is a method and a control; name it once")
        if self.ask != "relevance" and PERMUTED in names:
            raise BadConfig(
                f"with permuted attention the model may predict something else, and a {self.ask} is about one"
                " prediction; use --controls random"
            )
        return names

    def groups(self) -> list[tuple[str, ...]]:
        """The conditions that are shown on the same texts: one alone, a pair to choose from, or all for one marking."""
        names = [*self.method, *self.control_names()]
        if self.ask == "relevance":
            return [(name,) for name in names]
        if self.ask == "preference" and len(names) < 2:
            raise BadConfig("a preference needs two methods, or a method and a control; name another one")
        return list(combinations(names, 2)) if self.ask == "preference" else [tuple(names)]


def prepare(design: Design, *, quiet: bool = False) -> Study:
    """Prepare a study and write it."""
    if (design.out / STUDY).exists():
        raise BadData(f"{design.out} holds a study already; name another folder (--out), or delete that one")
    groups = design.groups()
    written_options(design.method, design.options)
    corpus = load_corpus(design.data, data_dir=design.data_dir, columns=design.columns)
    subject = load(
        design.model, design.task, device=design.device, dtype=design.dtype, trust_remote_code=design.trust_remote_code
    )
    refuse_unsuited(subject)
    split, places = chosen_examples(corpus, design.split, None, design.seed)
    examples = [corpus[split][place] for place in places]
    refuse_unknown(examples, subject)
    numbers = corpus.numbers_of(split, places)
    options = (design.seed, design.options, design.longest, design.first_batch_size, quiet)
    source = Source(subject, examples, numbers, *options)
    drawn = draw(source, groups, design.items, design.top, design.stratify)
    study = blinded(design.ask, drawn, about(subject, corpus, split, design.top), hidden(design))
    save_study(study, design.out)
    return study


def refuse_unsuited(subject: Subject) -> None:
    """Refuse models that do not predict one class for a text, since annotators judge one prediction."""
    refuse_headless(subject, "a study")
    refuse_values(subject, "a study")
    if subject.task.name != "sequence-classification":
        raise BadConfig(
            f"annotators judge one prediction for each text, and {subject.name} gives {subject.task.about}; expected a"
            " model for sequence classification"
        )


def about(subject: Subject, corpus: Corpus, split: str, top: int) -> dict[str, Any]:
    """What everybody may know about the study."""
    return {
        "model": subject.name,
        "model_fingerprint": subject.fingerprint,
        "corpus": corpus.name,
        "corpus_checksum": corpus.checksum,
        "split": split,
        "classes": list(subject.labels),
        "top": top,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "whence": whence.__version__,
    }


def hidden(design: Design) -> dict[str, Any]:
    """What only the key says of the design."""
    return {
        "methods": list(design.method),
        "controls": design.control_names(),
        "options": list(design.options),
        "items": design.items,
        "top": design.top,
        "stratify": design.stratify,
        "checks": design.checks,
        "repeats": design.repeats,
        "longest": design.longest,
        "seed": design.seed,
    }


def describe(study: Study) -> str:
    """A prepared study in a few lines, for its owner."""
    key = [one for one in study.key().values() if not one.check and not one.repeats]
    lines = [f"{len(study.items)} items ({study.task}), of {study.about['model']} on {study.about['corpus']}:"]
    shown: Sequence[tuple[str, ...]] = list(dict.fromkeys(tuple(sorted(one.conditions)) for one in key))
    for conditions in shown:
        mine = [one for one in key if tuple(sorted(one.conditions)) == conditions]
        right = [one.correct for one in mine if one.correct is not None]
        known = f", {sum(right):.0f} of {len(right)} predictions right" if right else ""
        lines.append(f"  {' and '.join(conditions) or 'to be marked'}: {len(mine)} texts{known}")
    checks = sum(bool(one.check) for one in study.key().values())
    again = sum(bool(one.repeats) for one in study.key().values())
    return "\n".join([*lines, f"  and {checks} checks, {again} repeats"])
