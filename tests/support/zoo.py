"""Small models of many families, made from configs: what the laws are tested on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest
import torch
import transformers as hf
from torch import nn

from whence.models import (
    AdditiveConfig,
    AdditiveForSequenceClassification,
    DisanConfig,
    DisanForSequenceClassification,
    DisanForTokenClassification,
    HierarchicalConfig,
    HierarchicalForSequenceClassification,
    PooledConfig,
    PooledForSequenceClassification,
    PooledForTimeSeries,
    PooledSeriesConfig,
    ReaderConfig,
    ReaderForSequenceClassification,
    RecurrentConfig,
    RecurrentForConditionalGeneration,
    TransformerConfig,
    TransformerForConditionalGeneration,
    TransformerForSequenceClassification,
    TransformerForTokenClassification,
    WeightedConfig,
    WeightedForTokenClassification,
)

SPECIAL_TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
TEXT = {"vocab_size": 99, **SPECIAL_TOKENS}
BERT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37, **TEXT}
GROUPED = {**BERT, "num_key_value_heads": 2, "head_dim": 8}
GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4, **TEXT}
# fmt: off
SEQ2SEQ = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 37, "decoder_ffn_dim": 37, "decoder_start_token_id": 2, "forced_eos_token_id": 2, **TEXT,
}
# fmt: on
T5 = {"d_model": 32, "d_kv": 8, "d_ff": 37, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0, **TEXT}
OURS = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24, **TEXT}
# fmt: off
LATENT = {
    **BERT, "intermediate_size": 32, "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16,
    "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8,
}
SPARSE = {
    **LATENT, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1,
    "moe_intermediate_size": 32, "first_k_dense_replace": 1, "index_topk": 4, "index_n_heads": 2, "index_head_dim": 16,
}
# fmt: on
PICTURE = {"image_size": 16, "patch_size": 4}


@dataclass(frozen=True)
class Family:
    """How to build a small model of a family."""

    name: str
    model: Callable[[hf.PreTrainedConfig], hf.PreTrainedModel]
    config: Callable[[], hf.PreTrainedConfig]
    ours: bool = False

    def build(self, dtype: torch.dtype = torch.float32) -> hf.PreTrainedModel:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = self.model(self.config())
            for parameter in model.parameters():
                if parameter.dim() > 1:  # the usual beginnings are so small that attention is nearly uniform
                    nn.init.normal_(parameter, std=0.15)
        model.to(dtype).eval()
        return model


def family(name: str, model: str, config: str, **options: object) -> Family:
    """Of transformers, by names: a family's file, which is large, is imported when a model of it is built."""
    return Family(name, lambda made: getattr(hf, model)(made), lambda: getattr(hf, config)(**options))


# fmt: off
REQUIRED = [
    family("bert", "BertForSequenceClassification", "BertConfig", **BERT),
    family("roberta", "RobertaForSequenceClassification", "RobertaConfig", **BERT),
    family("distilbert", "DistilBertForSequenceClassification", "DistilBertConfig",
           dim=32, n_layers=2, n_heads=4, hidden_dim=37, **TEXT),
    family("electra", "ElectraForSequenceClassification", "ElectraConfig", embedding_size=16, **BERT),
    family("albert", "AlbertForSequenceClassification", "AlbertConfig", embedding_size=16, **BERT),
    family("modernbert", "ModernBertForSequenceClassification", "ModernBertConfig",
           local_attention=4, global_attn_every_n_layers=2, cls_token_id=1, sep_token_id=2, **BERT),
    family("deberta-v2", "DebertaV2ForSequenceClassification", "DebertaV2Config",
           relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8, **BERT),
    family("xlnet", "XLNetForSequenceClassification", "XLNetConfig",
           d_model=32, n_layer=2, n_head=4, d_inner=37, **TEXT),
    family("gpt2", "GPT2ForSequenceClassification", "GPT2Config", **GPT),
    family("gpt-neox", "GPTNeoXForCausalLM", "GPTNeoXConfig", **BERT),
    family("gpt-j", "GPTJForCausalLM", "GPTJConfig", rotary_dim=4, **GPT),
    family("opt", "OPTForCausalLM", "OPTConfig", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=37,
           word_embed_proj_dim=32, **TEXT),
    family("llama", "LlamaForCausalLM", "LlamaConfig", **GROUPED),
    family("mistral", "MistralForCausalLM", "MistralConfig", sliding_window=4, **GROUPED),
    family("qwen3", "Qwen3ForCausalLM", "Qwen3Config", **GROUPED),
    family("gemma2", "Gemma2ForCausalLM", "Gemma2Config", sliding_window=4, attn_logit_softcapping=2.0, **GROUPED),
    family("gpt-oss", "GptOssForCausalLM", "GptOssConfig", sliding_window=4, num_local_experts=4, num_experts_per_tok=2,
           **(GROUPED | {"intermediate_size": 32})),
    family("t5", "T5ForConditionalGeneration", "T5Config", **T5),
    family("bart", "BartForConditionalGeneration", "BartConfig", **SEQ2SEQ),
    family("marian", "MarianMTModel", "MarianConfig", **SEQ2SEQ),
    family("vit", "ViTForImageClassification", "ViTConfig", hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
           intermediate_size=37, **PICTURE),
]
# fmt: on

# fmt: off
UNLISTED = [
    family("xlm-roberta", "XLMRobertaForTokenClassification", "XLMRobertaConfig", **BERT),
    family("mpnet", "MPNetForSequenceClassification", "MPNetConfig", **BERT),
    family("deberta", "DebertaForSequenceClassification", "DebertaConfig",
           relative_attention=True, pos_att_type=["c2p", "p2c"], **BERT),
    family("bert-decoder", "BertLMHeadModel", "BertConfig", is_decoder=True, **BERT),
    family("rembert", "RemBertForSequenceClassification", "RemBertConfig",
           input_embedding_size=16, output_embedding_size=16, **BERT),
    family("roformer", "RoFormerForSequenceClassification", "RoFormerConfig", embedding_size=16, **BERT),
    family("markuplm", "MarkupLMForSequenceClassification", "MarkupLMConfig", max_depth=4, xpath_unit_hidden_size=8,
           **BERT),  # forbids with -10000, not with the least number
    family("esm", "EsmForSequenceClassification", "EsmConfig", mask_token_id=3, **BERT),
    family("funnel", "FunnelForSequenceClassification", "FunnelConfig", block_sizes=[1, 1], num_decoder_layers=1,
           d_model=32, n_head=4, d_head=8, d_inner=37, vocab_size=99),
    family("xlm", "XLMForSequenceClassification", "XLMConfig", emb_dim=32, n_layers=2, n_heads=4, n_words=99,
           max_position_embeddings=64, pad_index=0, bos_index=1, eos_index=2, **SPECIAL_TOKENS),
    family("bloom", "BloomForCausalLM", "BloomConfig", hidden_size=32, n_layer=2, n_head=4, **TEXT),
    family("falcon", "FalconForCausalLM", "FalconConfig",
           hidden_size=32, num_hidden_layers=2, num_attention_heads=4, **TEXT),
    family("gpt-neo", "GPTNeoForCausalLM", "GPTNeoConfig", hidden_size=32, num_layers=2, num_heads=4, window_size=4,
           attention_types=[[["global", "local"], 1]], intermediate_size=37, **TEXT),
    family("phi", "PhiForCausalLM", "PhiConfig", **BERT),
    family("qwen2", "Qwen2ForCausalLM", "Qwen2Config", **GROUPED),
    family("gemma3", "Gemma3ForCausalLM", "Gemma3TextConfig", sliding_window=4, **GROUPED),
    family("olmo2", "Olmo2ForCausalLM", "Olmo2Config", **GROUPED),
    family("cohere", "CohereForCausalLM", "CohereConfig", **GROUPED),
    family("starcoder2", "Starcoder2ForCausalLM", "Starcoder2Config", **GROUPED),
    family("mixtral", "MixtralForCausalLM", "MixtralConfig",
           num_local_experts=4, **(GROUPED | {"intermediate_size": 32})),
    family("deepseek-v3", "DeepseekV3ForCausalLM", "DeepseekV3Config", q_lora_rank=16, kv_lora_rank=16,
           qk_nope_head_dim=8, qk_rope_head_dim=8, v_head_dim=6, n_routed_experts=4, num_experts_per_tok=2, n_group=1,
           topk_group=1, moe_intermediate_size=32, first_k_dense_replace=1, num_key_value_heads=4,
           **(BERT | {"intermediate_size": 32})),
    family("deepseek-v32", "DeepseekV32ForCausalLM", "DeepseekV32Config", **SPARSE),  # an indexer chooses the keys
    family("glm-moe-dsa", "GlmMoeDsaForCausalLM", "GlmMoeDsaConfig", **SPARSE),
    family("modernbert-decoder", "ModernBertDecoderForCausalLM", "ModernBertDecoderConfig", local_attention=4,
           global_attn_every_n_layers=2, cls_token_id=1, sep_token_id=2, **BERT),
    family("llama4", "Llama4ForCausalLM", "Llama4TextConfig", attention_chunk_size=4, num_local_experts=2,
           intermediate_size_mlp=32, no_rope_layers=[1, 0], **(GROUPED | {"intermediate_size": 32})),
    family("minicpm3", "MiniCPM3ForCausalLM", "MiniCPM3Config", **LATENT),
    family("youtu", "YoutuForCausalLM", "YoutuConfig", **LATENT),
    family("qwen3-next", "Qwen3NextForCausalLM", "Qwen3NextConfig", layer_types=["linear_attention", "full_attention"],
           num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32, shared_expert_intermediate_size=32,
           linear_num_value_heads=4, linear_num_key_heads=2, linear_key_head_dim=8, linear_value_head_dim=8,
           **(GROUPED | {"intermediate_size": 32})),
    family("mt5", "MT5ForConditionalGeneration", "MT5Config", **T5),
    family("trocr", "TrOCRForCausalLM", "TrOCRConfig", d_model=32, decoder_layers=2, decoder_attention_heads=4,
           decoder_ffn_dim=37, is_decoder=True, **TEXT),
    family("pegasus", "PegasusForConditionalGeneration", "PegasusConfig", **SEQ2SEQ),
    family("bart-classifier", "BartForSequenceClassification", "BartConfig", **SEQ2SEQ),
    family("squeezebert", "SqueezeBertForSequenceClassification", "SqueezeBertConfig", embedding_size=32,
           **(BERT | {"intermediate_size": 40})),
    family("mbart", "MBartForConditionalGeneration", "MBartConfig", **SEQ2SEQ),
    family("whisper", "WhisperForConditionalGeneration", "WhisperConfig", num_mel_bins=8, max_source_positions=12,
           **(SEQ2SEQ | {"decoder_start_token_id": 1})),
    family("deit", "DeiTForImageClassification", "DeiTConfig", hidden_size=32, num_hidden_layers=2,
           num_attention_heads=4, intermediate_size=37, **PICTURE),
    family("beit", "BeitForImageClassification", "BeitConfig", hidden_size=32, num_hidden_layers=2,
           num_attention_heads=4, intermediate_size=37, **PICTURE),
]
# fmt: on


def ours(name: str, model: type[nn.Module], config: type[hf.PreTrainedConfig], **options: object) -> Family:
    return Family(name, model, lambda: config(**options), ours=True)


# fmt: off
REFERENCE = [
    ours(f"additive-{encoder}-{attention}", AdditiveForSequenceClassification, AdditiveConfig,
         encoder=encoder, attention=attention, embedding_size=12, hidden_size=8, **TEXT)
    for encoder, attention in [("lstm", "additive"), ("cnn", "additive"), ("average", "additive"), ("lstm", "dot")]
] + [
    ours(f"additive-{attention}-pairs{'-bypass' * bypass}", AdditiveForSequenceClassification, AdditiveConfig,
         attention=attention, pairs=True, bypass=bypass, embedding_size=12, hidden_size=8, **TEXT)
    for attention, bypass in [("additive", False), ("dot", True)]
] + [
    ours("additive-pairs-conditional", AdditiveForSequenceClassification, AdditiveConfig, pairs=True, conditional=True,
         embedding_size=12, hidden_size=8, **TEXT),
    ours("hierarchical", HierarchicalForSequenceClassification, HierarchicalConfig, embedding_size=12, hidden_size=8,
         attention_size=10, sentence_end_ids=[13, 14, 15, 30, 56, 73], **TEXT),  # 13 to 15 are . ! ? in tokenizing.py
] + [
    ours(f"disan{'-pairs' * pairs}", DisanForSequenceClassification, DisanConfig, pairs=pairs, embedding_size=12,
         hidden_size=8, **TEXT)
    for pairs in (False, True)
] + [
    ours("disan-tags", DisanForTokenClassification, DisanConfig, embedding_size=12, hidden_size=8, **TEXT),
] + [
    ours(f"pooled-{norm}-{positions}-{loss}", PooledForSequenceClassification, PooledConfig, norm=norm,
         positions=positions, loss=loss, embedding_size=12, head_size=24, **OURS)
    for norm, positions, loss in [("post", "sinusoidal", "cross_entropy"), ("query", "none", "binary"),
                                  ("pre", "none", "cross_entropy")]
] + [
    ours("pooled-series", PooledForTimeSeries, PooledSeriesConfig, embedding_size=12, head_size=24, lstm_size=10,
         **OURS),
] + [
    ours(f"reader-{cell}-{attention}", ReaderForSequenceClassification, ReaderConfig, cell=cell, attention=attention,
         embedding_size=12, hidden_size=8, **TEXT)
    for cell, attention in [("lstm", "additive"), ("gru", "dot"), ("rnn", "additive")]
] + [
    ours(f"recurrent-{attention}", RecurrentForConditionalGeneration, RecurrentConfig, attention=attention,
         embedding_size=12, hidden_size=8, **TEXT)
    for attention in ("additive", "dot")
] + [
    ours(f"transformer-{norm}-{positions}", TransformerForSequenceClassification, TransformerConfig,
         norm=norm, positions=positions, pool=pool, **OURS)
    for norm, positions, pool in [("pre", "sinusoidal", "first"), ("post", "learned", "mean"), ("pre", "none", "mean")]
] + [
    ours(f"transformer-seq2seq-{norm}", TransformerForConditionalGeneration, TransformerConfig, norm=norm, **OURS)
    for norm in ("pre", "post")
] + [
    ours("transformer-tagger", TransformerForTokenClassification, TransformerConfig, **OURS),
    ours("weighted-tagger", WeightedForTokenClassification, WeightedConfig, embedding_size=12, hidden_size=8,
         num_attention_heads=2, **TEXT),
    ours("transformer-tagger-torchnlp", TransformerForTokenClassification, TransformerConfig, form="torchnlp",
         rectified=True, embedding_size=12, **OURS),
]
# fmt: on

ADOPTED = REQUIRED + UNLISTED
PADDING_SEES_NOTHING = {"modernbert-decoder", "llama4"}  # beyond their window; there eager and sdpa differ
EVERY = REFERENCE + ADOPTED
BY_NAME = {family.name: family for family in EVERY}

REPRESENTATIVES = (
    "bert",  # an encoder through transformers' attention interface
    "gpt-oss",  # a decoder, with grouped heads and sinks
    "t5",  # an encoder and a decoder, with biases of positions
    "xlnet",  # its own eager attention
    "falcon",  # a fused kernel
    "recurrent-dot",  # a decoder that attends step by step
    "transformer-pre-sinusoidal",  # our Transformer
    "disan",  # attention per feature
)


def representatives(families: Iterable[Family], *values: object):
    """Names of families as parameters of a test: representatives always, the others with `--all-families` only."""
    other = pytest.mark.every_family
    return [pytest.param(one.name, *values, marks=() if one.name in REPRESENTATIVES else other) for one in families]
