"""What authors of plug-ins need, in one place; each name is imported when it is first used.

An explainer is a function `explain(subject, batch, target, *, option=...) -> Attribution`. An experiment is an
`Experiment`, a corpus an `Entry`, a reference model a `ReferenceModel`. Nothing that an `Experiment` is made of imports
torch, so that its saved tables can be drawn and judged without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whence.attribution.attribution import Attribution as Attribution
    from whence.attribution.attribution import attribution as attribution
    from whence.core.errors import BadConfig as BadConfig
    from whence.core.errors import BadData as BadData
    from whence.core.site import AttentionSite as AttentionSite
    from whence.data.entry import Entry as Entry
    from whence.data.entry import Source as Source
    from whence.data.examples import Corpus as Corpus
    from whence.data.examples import Example as Example
    from whence.evaluation.config import ExperimentConfig as ExperimentConfig
    from whence.evaluation.context import Context as Context
    from whence.figures.intervals import intervals as intervals
    from whence.measures.intervals import Interval as Interval
    from whence.measures.intervals import crossed_share_interval as crossed_share_interval
    from whence.measures.intervals import mean_interval as mean_interval
    from whence.measures.intervals import paired_share_interval as paired_share_interval
    from whence.measures.intervals import share_interval as share_interval
    from whence.models.parts.encoders import PlainModel as PlainModel
    from whence.reference_model import BuildInputs as BuildInputs
    from whence.reference_model import ModelOptions as ModelOptions
    from whence.reference_model import ReferenceModel as ReferenceModel
    from whence.results.columns import Column as Column
    from whence.results.columns import Columns as Columns
    from whence.results.experiment import Experiment as Experiment
    from whence.results.experiment import Needs as Needs
    from whence.results.verdict import Effect as Effect
    from whence.results.verdict import Verdict as Verdict
    from whence.subject.batch import Batch as Batch
    from whence.subject.subject import Subject as Subject
    from whence.subject.targets import Target as Target

_OFFERED = {
    "whence.attribution.attribution": ("Attribution", "attribution"),
    "whence.core.errors": ("BadConfig", "BadData"),
    "whence.core.site": ("AttentionSite",),
    "whence.data.entry": ("Entry", "Source"),
    "whence.data.examples": ("Corpus", "Example"),
    "whence.evaluation.config": ("ExperimentConfig",),
    "whence.evaluation.context": ("Context",),
    "whence.figures.intervals": ("intervals",),
    "whence.measures.intervals": (
        "Interval",
        "crossed_share_interval",
        "mean_interval",
        "paired_share_interval",
        "share_interval",
    ),
    "whence.models.parts.encoders": ("PlainModel",),
    "whence.reference_model": ("BuildInputs", "ModelOptions", "ReferenceModel"),
    "whence.results.columns": ("Column", "Columns"),
    "whence.results.experiment": ("Experiment", "Needs"),
    "whence.results.verdict": ("Effect", "Verdict"),
    "whence.subject.batch": ("Batch",),
    "whence.subject.subject": ("Subject",),
    "whence.subject.targets": ("Target",),
}
_HOME = {name: module for module, names in _OFFERED.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Fetch a name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'whence.plugin_api' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
