"""Which text families of the installed transformers can be adopted: every one, built from a tiny config and tried.

`make families` writes docs/families.md. A family is a config class that a causal, masked or translating language model
or a text classifier is made from. Its defaults are shrunk by the names of its options; what cannot be built so is
listed, and counted as neither adopted nor refused.
"""

import re
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
import transformers
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel, logging
from transformers.models.auto import modeling_auto as auto

from whence import adopt, attending, sites
from whence.core.errors import WhenceError
from whence.huggingface.probe import Inputs, difference, natively_eager, probe_inputs, run

PAGE = Path(__file__).parents[1] / "docs" / "families.md"
MAPPINGS: list[Mapping[str, str]] = [
    auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
]
TOLERANCE = 1e-4
LARGEST = 30_000_000  # parameters: a model that the options below did not shrink
SIZES: list[tuple[str, int]] = [  # what an option is set to, by the first pattern that its whole name matches
    (r"vocab_size|n_words|decoder_vocab_size", 128),
    (r"hidden_size|d_model|n_embd|n_embed|dim|emb_dim|model_dim|embed_dim|decoder_hidden_size|word_embed_proj_dim", 32),
    (
        r"embedding_size|input_embedding_size|output_embedding_size|lm_head_size|emb_size|hidden_size_per_layer_input",
        32,
    ),
    (r"num_hidden_layers|n_layers?|num_layers|(num_)?(encoder|decoder)_layers|num_(encoder|decoder)_hidden_layers", 2),
    (
        r"num_attention_heads|n_heads?|num_heads|(encoder|decoder)_attention_heads|(num_)?(en|de)coder_attention_heads",
        4,
    ),
    (r"num_(encoder|decoder)_attention_heads", 4),
    (r"num_key_value_heads|num_kv_heads|multi_query_group_num|num_global_key_value_heads", 2),
    (r"head_dim|d_kv|d_head|attention_head_size|kv_channels|qk_(nope|rope)_head_dim|v_head_dim|global_head_dim", 8),
    (r"(q|kv)_lora_rank|rotary_dim|index_head_dim", 8),
    (r"index_topk|index_n_heads", 4),
    (r".*intermediate_size.*|(encoder_|decoder_)?ffn_dim|d_ff|d_inner|hidden_dim|n_inner|ffn_hidden_size", 32),
    (r".*num_(local_|routed_)?experts|n_routed_experts|moe_num_experts|num_experts", 4),
    (r"num_experts_per_tok(en)?|moe_k|moe_topk|top_k_experts|moe_top_k", 2),
    (r"n_group|topk_group|num_expert_group|first_k_dense_replace|n_shared_experts|num_shared_experts", 1),
    (r"mamba_n_heads|mamba_num_heads|linear_num_(key|value)_heads", 4),
    (r"mamba_d_head|mamba_head_dim|linear_(key|value)_head_dim|ssm_state_size|mamba_d_state|state_size", 16),
    (r"mamba_n_groups|n_groups", 1),
    (r"max_position_embeddings|n_positions|n_ctx|max_source_positions|max_target_positions|seq_length", 128),
]
VARIANTS: list[dict[str, object]] = [  # tried in turn, where the options exist, until a model runs
    {},
    {"num_key_value_heads": 4},
    {"head_dim": 8},
    {"head_dim": 16},
    {"num_experts_per_tok": 1},
]


@dataclass(frozen=True)
class Trial:
    """What came of one family."""

    family: str
    model: str
    outcome: str  # adopted, refused, not built, wrong
    why: str


def shrunk(config_class: type[PreTrainedConfig], variant: Mapping[str, object]) -> PreTrainedConfig:
    """A config of a family with its sizes made small, and its lists of layers cut to two."""
    options: dict[str, object] = {}
    defaults = vars(config_class())
    for name, value in defaults.items():
        size = next((size for pattern, size in SIZES if re.fullmatch(pattern, name)), None)
        if size is not None and isinstance(value, int) and not isinstance(value, bool):
            options[name] = size
        elif name == "layer_types" and isinstance(value, list):
            options[name] = _two_kinds(value)
        elif name in ("mlp_layer_types", "no_rope_layers") and isinstance(value, list):
            options[name] = value[-2:]
        elif name.endswith("_token_id") and isinstance(value, int) and value >= 128:
            options[name] = 2
    return config_class(**(options | {name: value for name, value in variant.items() if name in defaults}))


def _two_kinds(layer_types: list[str]) -> list[str]:
    kinds = list(dict.fromkeys(layer_types))
    return (kinds * 2)[:2]


def build(model_class: type[PreTrainedModel], variant: Mapping[str, object]) -> tuple[PreTrainedModel, Inputs]:
    """A tiny random model of a family, and an input that it runs on."""
    config = shrunk(model_class.config_class, variant)
    with torch.device("meta"):
        size = sum(parameter.numel() for parameter in model_class(config).parameters())
    if size > LARGEST:
        raise ValueError(f"{size:,} parameters are left; its options have names of their own")
    torch.manual_seed(0)
    model = model_class(config)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.1)
    model = model.float().eval()
    return model, probe_inputs(model)


def attempt(family: str, model_class: type[PreTrainedModel]) -> Trial:
    """Build, adopt and watch one family."""
    name, reason = model_class.__name__, ""
    for variant in VARIANTS:
        try:
            model, inputs = build(model_class, variant)
        except Exception as error:  # anything may go wrong with a config that nobody wrote; the reason is in the table
            reason = reason or f"{type(error).__name__}: {error}"
            continue
        return adopted(family, model, inputs)
    return Trial(family, name, "not built", reason)


def adopted(family: str, model: PreTrainedModel, inputs: Inputs) -> Trial:
    """Adopt and watch a model; what comes out must be what the model computes without us, eager or as it is set."""
    name = type(model).__name__
    try:
        adopt(model)
    except WhenceError as error:
        return Trial(family, name, "refused", str(error))
    except Exception as error:  # a traceback at adoption is a mistake of ours: it must show
        return Trial(family, name, "wrong", f"{type(error).__name__}: {error}")
    with attending(model):
        watched = run(model, inputs)
    with natively_eager(model):
        eager = run(model, inputs)
    off = min(difference(watched, eager), difference(watched, run(model, inputs)))
    if not off <= TOLERANCE:
        return Trial(family, name, "wrong", f"off by {off:.2g}")
    kinds = Counter(site.kind for site in sites(model).values())
    return Trial(family, name, "adopted", ", ".join(f"{count} {kind}" for kind, count in kinds.items()))


def text_families() -> dict[str, type[PreTrainedModel]]:
    """The first model class of each family in the mappings that can be imported and has one config for its text."""
    found: dict[str, type[PreTrainedModel]] = {}
    for mapping in MAPPINGS:
        for family, names in mapping.items():
            model_class = getattr(transformers, names if isinstance(names, str) else names[0], None)
            config_class = getattr(model_class, "config_class", None)
            if model_class is None or config_class is None or getattr(config_class, "sub_configs", None):
                continue
            if family not in found:
                found[family] = model_class
    return dict(sorted(found.items()))


def page(trials: list[Trial]) -> str:
    """The table, as Markdown."""
    counts = Counter(trial.outcome for trial in trials)
    tried = len(trials) - counts["not built"]
    rows = [
        f"| {t.family} | {t.model} | {t.outcome} | {_one_line(t.why)} |" for t in trials if t.outcome != "not built"
    ]
    left_out = [f"| {t.family} | {_one_line(t.why)} |" for t in trials if t.outcome == "not built"]
    return "\n".join(
        [
            "# Text families of transformers",
            "",
            f"Made by `make families` with transformers {transformers.__version__}. Each family is built from a tiny"
            f" config with random weights and adopted. Of {tried} families, **{counts['adopted']} are adopted**,"
            f" {counts['refused']} are refused with a reason, and {counts['wrong']} go wrong.",
            "",
            "| family | model | outcome | attention sites, or why not |",
            "|---|---|---|---|",
            *rows,
            "",
            f"Not tried, since the script could build no tiny model of them, or no input: {len(left_out)} families.",
            "",
            "| family | why |",
            "|---|---|",
            *left_out,
            "",
        ]
    )


def _one_line(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:240]


def main() -> None:
    """Try every family and write the page."""
    logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    trials = []
    for family, model_class in text_families().items():
        trials.append(attempt(family, model_class))
        print(f"{family}: {trials[-1].outcome}", flush=True)
    PAGE.write_text(page(trials), encoding="utf-8")
    print(f"wrote {PAGE.name}: {dict(Counter(trial.outcome for trial in trials))}")


if __name__ == "__main__":
    main()
