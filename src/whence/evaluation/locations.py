"""Where attention is replaced: everywhere at once, layer by layer, or head by head."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

import whence
from whence.core.errors import BadConfig, UnknownSite

if TYPE_CHECKING:
    from whence.core.overrides import Override
    from whence.subject.batch import Batch
    from whence.subject.subject import Subject

Granularity = Literal["all", "layer", "head"]
ABLATIONS = ("uniform", "random", "permuted")


@dataclass(frozen=True)
class Place:
    """Some sites, and which of their heads (None: all)."""

    name: str
    sites: tuple[str, ...]
    head: int | None = None

    def rules(
        self, override: "Override", subject: "Subject", batch: "Batch", special_tokens: bool, beams: int = 1
    ) -> Mapping[str, Any]:
        """The override at this place; special tokens keep their weight unless `special_tokens`.

        With several beams, a translator's decoder sees every text so many times.
        """
        if self.head is not None:
            override = override.only(heads=[self.head])
        if special_tokens:
            return dict.fromkeys(self.sites, override)
        special = batch.special.to(subject.device)  # [batch token]
        sparing, sparing_in_beams = (override.sparing(special.repeat_interleave(n, dim=0)) for n in (1, beams))
        there, of_tokens = subject.sites, sites_of_tokens(subject)
        rules = {site: sparing_in_beams if there[site].kind == "cross" else sparing for site in self.sites}
        return {site: rule if site in of_tokens else override for site, rule in rules.items()}


def matching(there: Iterable[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """The sites that are named or match a pattern, in their order; an error names those there are."""
    there = tuple(there)
    for pattern in patterns:
        if not any(name == pattern or fnmatchcase(name, pattern) for name in there):
            raise UnknownSite(pattern, there)
    return tuple(name for name in there if any(name == p or fnmatchcase(name, p) for p in patterns))


def places(
    subject: "Subject", granularity: Granularity, batch: "Batch", patterns: Sequence[str] = ("*",)
) -> list[Place]:
    """The places among the sites that match, in execution order."""
    sites = matching(subject.sites, patterns)
    if granularity == "all" or (len(sites) == 1 and granularity == "layer"):
        return [Place("all" if len(sites) > 1 else sites[0], sites)]
    if granularity == "layer":
        return [Place(site, (site,)) for site in sites]
    watcher = whence.Summary()
    with whence.attending(subject.model, watch=watcher):
        subject.predict(batch)
    heads = {site: calls[0].shape[1] for site, calls in watcher.maximum.items()}
    return [Place(f"{site} head {head}", (site,), head) for site in sites for head in range(heads.get(site, 0))]


def describe_places(names: Iterable[str]) -> str:
    """In words, whether the places of a table are layers or heads; empty if there is one place."""
    there = set(names)
    if len(there) < 2:
        return ""
    return ", one head at a time" if any(" head " in name for name in there) else ", one layer at a time"


def ablation_override(name: str, generator: Any) -> "Override":
    """One of the three ablations of Vashishth et al. 2019, by name."""
    if name == "uniform":
        return whence.uniform
    if name == "random":
        return whence.random(generator)
    if name == "permuted":
        return whence.permuted(generator)
    raise BadConfig(f"no ablation {name!r}; choose from: {', '.join(ABLATIONS)}")


def sites_of_tokens(subject: "Subject") -> set[str]:
    """The sites whose keys are the tokens of the input text: not where a translator attends to its own output, or where
    sentences are attended.
    """
    own_output = {"causal"} if subject.task.name == "seq2seq" else set()
    return {name for name, site in subject.sites.items() if site.keys == "tokens" and site.kind not in own_output}
