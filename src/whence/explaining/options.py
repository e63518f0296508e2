"""The options of an explanation, the same for `whence explain` and for `whence.explain`."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from tyro.conf import arg

from whence.attribution.registry import USUAL, names
from whence.options import Unspoken, usually

SHARED = ("layer", "heads", "row", "normalize", "of")  # options of several methods, given once for all of them

Layer = Literal["last", "mean"] | int
Heads = Literal["mean", "max", "min"] | int
Row = Literal["auto", "first", "last", "mean", "prediction"] | int
Normalize = Literal["softmax_sum", "softmax_mean", "l1", "none"]
Output = Literal["predicted", "paper", "code"]


class ExplainOptions(BaseModel):
    """What is explained, by which methods, and how."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pair: Annotated[str | None, usually("none", "TEXT")] = Field(
        None, description="the second text, for models that read two"
    )
    target: Annotated[str | None, usually("predicted", "CLASS|TEXT")] = Field(
        None,
        description="the class to explain, or a language model's next word; for models that generate a text from a"
        " text: that text, whose last token is explained",
    )
    against: Annotated[str | None, usually("the best other", "CLASS")] = Field(
        None, description="why the target and not this class (or word): explain the difference of their logits"
    )
    at: Annotated[str | None, usually("the last", "WORD|INT")] = Field(
        None, description="which word of a translator's target, or which word's tag: the word, or its number from 0"
    )
    methods: Annotated[tuple[str, ...], arg(name="method")] = Field(
        USUAL, description=f"methods, of: {', '.join(names())}; or module:function"
    )
    method_options: Unspoken[dict[str, dict[str, Any]]] = Field({}, description="options of single methods, by method")
    paragraphs: bool = Field(
        False, description="read a text of any length: each paragraph alone, weighted by its share of the prediction"
    )
    words: bool = Field(False, description="show words, not subwords: each has the sum of its subwords' scores")
    summary: bool = Field(
        True, description="report which heads and layers the prediction depends on most (Michel et al. 2019)"
    )
    layer: Annotated[Layer | None, usually("by method", "last|mean|INT")] = Field(
        None, description="methods with layers: a layer's number, the last, or the mean of all"
    )
    heads: Annotated[Heads | None, usually("mean", "mean|max|min|INT")] = Field(
        None, description="raw_attention, rollout, flow: mean, maximum or minimum over heads; raw_attention: one head"
    )
    row: Annotated[Row | None, usually("auto", "auto|first|last|mean|prediction|INT")] = Field(
        None, description="methods that start from a token: which one (auto: where the prediction is read)"
    )
    normalize: Annotated[Normalize | None, usually("softmax_sum", "softmax_sum|softmax_mean|l1|none")] = Field(
        None, description="lat, lat_mixed, gradient_squared: how raw scores are normalized over the text"
    )
    of: Annotated[Output | None, usually("predicted", "predicted|paper|code")] = Field(
        None,
        description="gradient_squared: gradient of which output (predicted: what is explained; paper: its logit; code:"
        " all classes)",
    )
    measure: Literal["probability", "logit", "margin"] = Field(
        "margin",
        description="what is explained: the margin of the target's logit over the best other class, the logit, or the"
        " probability (which hardly moves where the model is sure)",
    )

    def shared(self) -> dict[str, Any]:
        """The options that were given once for all methods that have them."""
        return {name: getattr(self, name) for name in SHARED if getattr(self, name) is not None}
