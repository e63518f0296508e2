"""`pooled_series`: `pooled` for time series, a value for each window of a narrative. Wu et al. 2020, §2, Fig. 1.

    c_t = the vector of window t, as in `pooled` (Eq. 1-6) · h_t = LSTM(c_1 … c_t) · ŷ_t = MLP(h_t)

The windows of all narratives go through the encoder in one batch, as separate texts: its sites see
[batch*window head query key]. The LSTM reads them in their order, so that a value depends on no later window.
"""

from typing import Any, no_type_check

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForTimeSeriesPrediction
from transformers.modeling_outputs import TokenClassifierOutput

from whence.models.pooled import PooledConfig, PooledModel, PooledSharedOptions, readout
from whence.models.presets import wu2020
from whence.reference_model import BuildInputs, ReferenceModel


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class PooledSeriesConfig(PooledConfig):
    """The encoder's options are those of `PooledConfig`; `lstm_size` is the width of the LSTM's states. The loss is
    always the squared error, whatever `loss` says.
    """

    model_type = "whence-pooled-series"

    lstm_size: int = 300


class PooledForTimeSeries(PooledModel):
    """A window's vector, an LSTM over the windows, and an MLP of 64 units without activation at its end.

    Sites: `layers.<i>.attention` and `local`, each called once for all windows. `logits` are the values
    [batch window 1], zero where there is no window.
    """

    config_class = PooledSeriesConfig
    config: PooledSeriesConfig
    terminal = False  # the LSTM mixes the windows

    def __init__(self, config: PooledSeriesConfig) -> None:
        super().__init__(config)
        self.lstm = nn.LSTM(config.hidden_size, config.lstm_size, batch_first=True)
        self.decoder = readout((config.lstm_size, 64, 1), config.readout_dropout)
        self.post_init()

    def forward(
        self,
        input_ids: Int[Tensor, "batch *window token"],
        attention_mask: Int[Tensor, "batch *window token"] | None = None,
        labels: Float[Tensor, "batch window"] | None = None,
        **kwargs: Any,
    ) -> TokenClassifierOutput:
        """`attention_mask` is 1 for tokens; a window of zeros is none. Texts [batch token] are one window each.

        `labels` are the true values, NaN where there is none.
        """
        if input_ids.dim() == 2:
            input_ids = input_ids[:, None]
            attention_mask = None if attention_mask is None else attention_mask[:, None]
        mask = self.real(input_ids, attention_mask)
        windows = mask.any(-1)  # [batch window]
        context = self.context(input_ids.flatten(0, 1), mask.flatten(0, 1).long())  # [batch*window width]
        hidden, _ = self.lstm(context.unflatten(0, windows.shape))  # [batch window width]
        values: Any = self.decoder(hidden) * windows[..., None]  # [batch window 1]
        loss: Any = None if labels is None else squared_error(values.squeeze(-1), labels, windows)
        return TokenClassifierOutput(loss=loss, logits=values)


def squared_error(
    values: Float[Tensor, "batch window"], labels: Float[Tensor, "batch window"], windows: Bool[Tensor, "batch window"]
) -> Float[Tensor, ""]:
    """The mean squared error over the windows of all narratives together."""
    known = windows & ~labels.isnan()
    errors = torch.where(known, values - labels.nan_to_num(), 0.0)
    return (errors**2).sum() / known.sum().clamp_min(1)


AutoConfig.register(PooledSeriesConfig.model_type, PooledSeriesConfig)
AutoModelForTimeSeriesPrediction.register(PooledSeriesConfig, PooledForTimeSeries)


def build(options: PooledSharedOptions, inputs: BuildInputs) -> PooledForTimeSeries:
    """A model of narratives; its LSTM is as wide as its encoder."""
    config = PooledSeriesConfig(**options.config_values(inputs), lstm_size=options.hidden_size)
    return PooledForTimeSeries(config)


MODEL = ReferenceModel(
    "pooled_series",
    __doc__,
    PooledSharedOptions,
    ("series",),
    build,
    presets=wu2020.PRESETS | {"batch_size": 25},
    modes=wu2020.SERIES_MODES,
)
