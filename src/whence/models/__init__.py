"""Reference models, one readable file each, and the adoption of Hugging Face models.

Importing this package registers the reference models with transformers' Auto classes.
"""

from whence.models.additive import AdditiveConfig, AdditiveForSequenceClassification
from whence.models.disan import DisanForSequenceClassification, DisanForTokenClassification
from whence.models.hierarchical import HierarchicalConfig, HierarchicalForSequenceClassification
from whence.models.parts.disan_layers import DisanConfig
from whence.models.pooled import PooledConfig, PooledForSequenceClassification
from whence.models.pooled_series import PooledForTimeSeries, PooledSeriesConfig
from whence.models.reader import ReaderConfig, ReaderForSequenceClassification
from whence.models.recurrent import RecurrentConfig, RecurrentForConditionalGeneration
from whence.models.transformer import (
    TransformerConfig,
    TransformerForConditionalGeneration,
    TransformerForSequenceClassification,
    TransformerForTokenClassification,
)
from whence.models.weighted import WeightedConfig, WeightedForTokenClassification

__all__ = [
    "AdditiveConfig",
    "AdditiveForSequenceClassification",
    "DisanConfig",
    "DisanForSequenceClassification",
    "DisanForTokenClassification",
    "HierarchicalConfig",
    "HierarchicalForSequenceClassification",
    "PooledConfig",
    "PooledForSequenceClassification",
    "PooledForTimeSeries",
    "PooledSeriesConfig",
    "ReaderConfig",
    "ReaderForSequenceClassification",
    "RecurrentConfig",
    "RecurrentForConditionalGeneration",
    "TransformerConfig",
    "TransformerForConditionalGeneration",
    "TransformerForSequenceClassification",
    "TransformerForTokenClassification",
    "WeightedConfig",
    "WeightedForTokenClassification",
]
