"""Architectures of the transformers library at small sizes, with initial weights."""

from __future__ import annotations

from typing import Any

from torch import nn

TEXT = {
    "vocab_size": 60,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
}
DECODER = {**TEXT, "use_cache": False, "bos_token_id": 1, "eos_token_id": 2}
GROUPED = {**DECODER, "num_key_value_heads": 2}
GPT = {
    "vocab_size": 60,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 40,
    "use_cache": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
SEQ2SEQ = {
    "vocab_size": 60,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 40,
    "use_cache": False,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
IMAGE = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "image_size": 32,
    "patch_size": 8,
}
CLIP_TEXT = {**TEXT, "projection_dim": 16, "bos_token_id": 1, "eos_token_id": 59}
CLIP_IMAGE = {**IMAGE, "projection_dim": 16}

ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("BertForSequenceClassification", TEXT),
    "roberta": ("RobertaModel", TEXT),
    "distilbert": (
        "DistilBertModel",
        {
            "vocab_size": 60,
            "dim": 32,
            "n_layers": 2,
            "n_heads": 4,
            "hidden_dim": 48,
            "max_position_embeddings": 40,
        },
    ),
    "albert": ("AlbertModel", {**TEXT, "embedding_size": 16}),
    "electra": ("ElectraModel", {**TEXT, "embedding_size": 16}),
    "deberta-v2": (
        "DebertaV2Model",
        {
            **TEXT,
            "relative_attention": True,
            "position_buckets": 8,
            "norm_rel_ebd": "layer_norm",
            "pos_att_type": ["p2c", "c2p"],
        },
    ),
    "gpt2": ("GPT2LMHeadModel", GPT),
    "gpt-neo": (
        "GPTNeoForCausalLM",
        {
            "vocab_size": 60,
            "hidden_size": 32,
            "num_layers": 2,
            "num_heads": 4,
            "max_position_embeddings": 40,
            "window_size": 4,
            "attention_types": [[["global", "local"], 1]],
            "use_cache": False,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
    ),
    "opt": ("OPTForCausalLM", {**DECODER, "ffn_dim": 48, "word_embed_proj_dim": 32}),
    "llama": ("LlamaForCausalLM", GROUPED),
    "mistral": ("MistralForCausalLM", {**GROUPED, "sliding_window": 8}),
    "qwen2": ("Qwen2ForCausalLM", GROUPED),
    "gemma": ("GemmaForCausalLM", {**GROUPED, "head_dim": 8}),
    "phi": ("PhiForCausalLM", DECODER),
    "bloom": ("BloomForCausalLM", {**GPT, "hidden_size": 32}),
    "falcon": ("FalconForCausalLM", DECODER),
    "mixtral": (
        "MixtralForCausalLM",
        {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2},
    ),
    "llama4": (
        "Llama4ForCausalLM",
        {
            **GROUPED,
            "num_local_experts": 4,
            "head_dim": 8,
            "intermediate_size_mlp": 64,
            "attention_chunk_size": 32,
        },
    ),
    "mamba": (
        "MambaForCausalLM",
        {
            "vocab_size": 60,
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "state_size": 4,
            "use_cache": False,
        },
    ),
    "t5": (
        "T5Model",
        {
            "vocab_size": 60,
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 48,
            "num_layers": 2,
            "num_heads": 4,
            "use_cache": False,
            "decoder_start_token_id": 0,
        },
    ),
    "bart": ("BartModel", SEQ2SEQ),
    "whisper-encoder": (
        "WhisperForAudioClassification",
        {
            **{k: v for k, v in SEQ2SEQ.items() if k != "max_position_embeddings"},
            "num_mel_bins": 8,
            "max_source_positions": 20,
            "max_target_positions": 20,
        },
    ),
    "vit": ("ViTForImageClassification", IMAGE),
    "clip": ("CLIPModel", {"text_config": CLIP_TEXT, "vision_config": CLIP_IMAGE}),
}


def build(name: str) -> nn.Module:
    """Return an architecture, its outputs away from zero."""
    import transformers

    class_name, settings = ARCHITECTURES[name]
    cls = getattr(transformers, class_name)
    model: nn.Module = cls(cls.config_class(**settings))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=parameter.shape[-1] ** -0.5)
    return model.eval()
