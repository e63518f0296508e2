"""The search for other attention with the same prediction, step by step, so that it can be watched and stopped."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from pydantic import Field

from whence.core.seeds import stream
from whence.evaluation.checks import refuse_translator
from whence.evaluation.exclusivity.attention_importance import importance_shares
from whence.evaluation.exclusivity.attention_search import RATE, FurthestAttention, Search, chosen, starts
from whence.evaluation.exclusivity.editable_attention import EditableAttention, single_site
from whence.experiments.instance_adversary import Config
from whence.subject.subject import Subject
from whence.workbench.operations.looking import Look, encoded
from whence.workbench.operations.requests import NAME, Asked

DIGITS = 7  # of a weight that is found
EACH = 2  # steps between two words of progress


class AdversaryRequest(Asked):
    """A search at one site, with the options of the experiment `instance_adversary`."""

    id: str = Field(max_length=NAME, description="the id of a look")
    epsilon: float = Field(0.01, gt=0, le=1, description="how far the prediction may move (total variation)")
    stack: str | None = Field(None, max_length=NAME, description="None: the site that the prediction is read from")
    layer: int | None = Field(None, ge=0)
    steps: int = Field(100, gt=0, le=2000, description="steps of each search")
    restarts: int = Field(5, gt=0, le=50, description="random starts")
    special_tokens: bool = Field(False, description="also move the weight of special tokens")
    change_decision: bool = Field(False, description="also take attention that changes the predicted class")
    seed: int = Field(0, ge=0, le=2**31)

    def config(self, subject: Subject) -> Config:
        """The same as options of the experiment; its model and data are those of the look."""
        return Config(
            model=subject.name or "model",
            data="one text",
            max_output_change=(self.epsilon,),
            probabilities="model",
            **self.model_dump(include={"steps", "restarts", "special_tokens", "change_decision", "seed"}),
        )


def search_adversary(subject: Subject, seen: Callable[[], Look], request: AdversaryRequest) -> Iterator[dict[str, Any]]:
    """Progress, and at the end the furthest attention that was found, as edits (Jain & Wallace 2019, §4.2.2)."""
    refuse_translator(subject, "the search needs one prediction per text", "")
    yield {"stage": "reading the text", "done": 0, "total": request.steps}
    look = seen()
    config, site = request.config(subject), single_site(subject, _site(look, request))
    batch, _ = encoded(subject, look.request)
    there = EditableAttention(subject, batch, site, config.rows, config.special_tokens, config.divergence)
    there = there.weighted(importance_shares(there))
    begin = starts(there, config.restarts, [stream(config.seed, "adversary 0")])
    search = Search(there, config, begin, config.learning_rate or RATE / config.steps)
    for step in range(config.steps):
        search.step()
        if step % EACH == 0:
            best = float(search.best.jsd.max())
            words = f"step {step + 1} of {config.steps}: JSD {best:.3f} nats"
            yield {"stage": "search", "done": step + 1, "total": config.steps, "jsd": best, "message": words}
    with torch.no_grad():
        search.look()
    found = chosen(search, request.epsilon, there.imposing(there.own))
    yield {"result": _result(there, look, site, found, request)}


def _site(look: Look, request: AdversaryRequest) -> str:
    if request.stack is None:
        return "auto"
    sites = look.stack(request.stack).sites
    return sites[min(request.layer if request.layer is not None else len(sites) - 1, len(sites) - 1)]


def _result(
    there: EditableAttention, look: Look, site: str, found: FurthestAttention, request: AdversaryRequest
) -> dict[str, Any]:
    """What was found: its distance, how far the prediction moves, and the edits that impose it."""
    jsd, tvd, met = float(found.jsd[0]), float(found.tvd[0]), bool(found.restart[0] >= 0)
    limit = f"within ε = {request.epsilon:g}"
    if not met:
        return {"edits": [], "jsd": 0.0, "tvd": 0.0, "met": False, "sentence": f"No other attention was found {limit}."}
    stack = next(one for one in look.stacks if site in one.sites)
    layer = stack.sites.index(site)
    n_key = stack.weights[layer].shape[2]
    places = there.places[0].tolist()
    rows = found.rows[0][..., :n_key].double().cpu()  # [head row key]
    weights = [[[float(f"{w:.{DIGITS}g}") for w in row] for row in head] for head in rows.tolist()]
    options = {"query": places[0], "weights": weights}
    sentence = (
        f"Attention that differs by {jsd:.3f} nats (JSD; at most 0.693) gives the same prediction {limit}"
        f" (it moves by {tvd:.4f})."
    )
    edit = {"stack": stack.id, "layers": [layer], "heads": None, "override": "rows", "options": options}
    return {"edits": [edit], "jsd": jsd, "tvd": tvd, "met": True, "sentence": sentence, "site": site}
