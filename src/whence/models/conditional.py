"""`conditional`: the model `additive` for pairs, whose second text is encoded from the last state of the first.

Rocktäschel et al. 2016; Vashishth et al. 2019, Eq. 3. The model itself is in `additive.py`.
"""

from typing import Literal

from pydantic import Field

from whence.core.errors import BadConfig
from whence.models.additive import AdditiveForSequenceClassification, build_additive
from whence.reference_model import BuildInputs, ModelOptions, ReferenceModel


class ConditionalOptions(ModelOptions):
    """Defaults are those of `additive`. The encoder is an LSTM: it has a state to pass on."""

    attention: Literal["additive", "dot"] = Field("additive", description="how attention scores a word")
    bypass: bool = Field(False, description="let the second text reach the decoder past the attention")
    embedding_size: int = Field(300, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(128, gt=0, description="width of the encoder, per direction")
    freeze: bool = Field(False, description="do not train the given word vectors")
    projection_scale: float = Field(1.0, gt=0, description="multiplies the initial W₁ and W₂ of the attention's scores")
    v_scale: float = Field(1.0, gt=0, description="multiplies the initial v of the attention's scores")

    @property
    def freezes_vectors(self) -> bool:
        """The option `freeze`."""
        return self.freeze


def build(options: ConditionalOptions, inputs: BuildInputs) -> AdditiveForSequenceClassification:
    """A classifier of pairs."""
    if not inputs.has_pairs:
        raise BadConfig(f"conditional is for corpora of pairs; {inputs.corpus.name} has single texts")
    return build_additive(options, inputs, conditional=True, pairs=True)


MODEL = ReferenceModel("conditional", __doc__, ConditionalOptions, ("sequence-classification",), build)
