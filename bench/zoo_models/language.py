"""Language models of transformers."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from .case import Case, masked, padded, unpadded

VOCABULARY = 1000
WIDTH = {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4}
SIZES = WIDTH | {"intermediate_size": 384, "max_position_embeddings": 256}
SHORT = {"n_embd": 128, "n_layer": 4, "n_head": 4}
GROUPED = SIZES | {"num_key_value_heads": 2}
SPECIAL = {"vocab_size": VOCABULARY, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def configured(config: str, **settings: Any) -> Any:
    """A configuration as trainers set it: without the cache of generation."""
    import transformers

    made = getattr(transformers, config)(**(SPECIAL | settings))
    if hasattr(made, "use_cache"):
        made.use_cache = False
    return made


def model_of(name: str, config: Any) -> Any:
    import transformers

    return getattr(transformers, name)(config).train()


def causal(config: str, model: str, batch: int = 8, length: int = 128, **settings: Any) -> Case:
    """A decoder that predicts the next token."""
    values = padded(batch, length, VOCABULARY)
    return Case(model_of(model, configured(config, **settings)), values | {"labels": unpadded(values)})


def encoder(config: str, model: str, kinds: bool = True, batch: int = 8, length: int = 128, **settings: Any) -> Case:
    """An encoder that predicts masked tokens; `kinds`: the tokenizer returns token types too."""
    values = masked(padded(batch, length, VOCABULARY))
    if kinds:
        values["token_type_ids"] = (torch.arange(length) > length // 3).long().expand(batch, -1) * values["attention_mask"]
    return Case(model_of(model, configured(config, **settings)), values)


def bert(model: str, labels: Callable[[int, int], dict[str, torch.Tensor]], classes: int = 5) -> Case:
    """BERT with the head and the labels of another task."""
    batch, length = 8, 128
    values = padded(batch, length, VOCABULARY)
    values["token_type_ids"] = torch.zeros_like(values["input_ids"])
    return Case(model_of(model, configured("BertConfig", num_labels=classes, **SIZES)), values | labels(batch, length))


def translation(config: str, model: str, decoder_mask: bool = False, **settings: Any) -> Case:
    """An encoder and a decoder; the model shifts the labels to the right."""
    values, labels = padded(8, 96, VOCABULARY), padded(8, 64, VOCABULARY)
    values["labels"] = unpadded(labels)
    if decoder_mask:
        values["decoder_input_ids"] = labels["input_ids"].roll(1, 1)
        values["decoder_attention_mask"] = labels["attention_mask"]
    return Case(model_of(model, configured(config, **settings)), values)


PAIR = {
    "d_model": 128, "encoder_layers": 3, "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 384, "decoder_ffn_dim": 384, "max_position_embeddings": 256, "decoder_start_token_id": 2,
}  # fmt: skip
T5 = {"d_model": 128, "d_kv": 32, "d_ff": 384, "num_layers": 3, "num_decoder_layers": 3, "num_heads": 4, "decoder_start_token_id": 0}
EXPERTS = {"num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2}

CAUSAL: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2LMHead", SHORT | {"n_positions": 256}),
    "gpt-neo": ("GPTNeoForCausalLM", {"hidden_size": 128, "num_layers": 4, "num_heads": 4, "attention_types": [[["global", "local"], 2]],
                                      "window_size": 64, "max_position_embeddings": 256}),
    "gpt-neox": ("GPTNeoXForCausalLM", SIZES),
    "gptj": ("GPTJForCausalLM", SHORT | {"n_positions": 256, "rotary_dim": 16}),
    "gpt-bigcode": ("GPTBigCodeForCausalLM", SHORT | {"n_positions": 256}),
    "llama": ("LlamaForCausalLM", GROUPED),
    "qwen2": ("Qwen2ForCausalLM", GROUPED),
    "qwen3": ("Qwen3ForCausalLM", GROUPED | {"head_dim": 32}),
    "qwen3-moe": ("Qwen3MoeForCausalLM", GROUPED | EXPERTS | {"head_dim": 32, "moe_intermediate_size": 192}),
    "mistral": ("MistralForCausalLM", GROUPED | {"sliding_window": 64}),
    "mixtral": ("MixtralForCausalLM", GROUPED | EXPERTS),
    "phi": ("PhiForCausalLM", SIZES),
    "phi3": ("Phi3ForCausalLM", GROUPED),
    "gemma": ("GemmaForCausalLM", GROUPED | {"head_dim": 32}),
    "gemma2": ("Gemma2ForCausalLM", GROUPED | {"head_dim": 32, "sliding_window": 64}),
    "gemma3": ("Gemma3ForCausalLM", GROUPED | {"head_dim": 32, "sliding_window": 64}),
    "olmo2": ("Olmo2ForCausalLM", GROUPED),
    "stablelm": ("StableLmForCausalLM", GROUPED),
    "starcoder2": ("Starcoder2ForCausalLM", GROUPED),
    "cohere": ("CohereForCausalLM", GROUPED),
    "opt": ("OPTForCausalLM", WIDTH | {"ffn_dim": 384, "max_position_embeddings": 256, "word_embed_proj_dim": 128}),
    "bloom": ("BloomForCausalLM", {"hidden_size": 128, "n_layer": 4, "n_head": 4}),
    "falcon": ("FalconForCausalLM", WIDTH),
    "mpt": ("MptForCausalLM", {"d_model": 128, "n_layers": 4, "n_heads": 4, "max_seq_len": 256}),
    "xglm": ("XGLMForCausalLM", {"d_model": 128, "num_layers": 4, "attention_heads": 4, "ffn_dim": 384, "max_position_embeddings": 256}),
    "mamba": ("MambaForCausalLM", {"hidden_size": 64, "num_hidden_layers": 2, "batch": 6, "length": 64}),
    "mamba2": ("Mamba2ForCausalLM", {"hidden_size": 64, "num_hidden_layers": 2, "num_heads": 8, "head_dim": 16, "n_groups": 2, "state_size": 16,
                                     "chunk_size": 32}),
    "rwkv": ("RwkvForCausalLM", {"hidden_size": 128, "num_hidden_layers": 2, "context_length": 128, "batch": 12, "length": 64}),
}  # fmt: skip

ENCODERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertConfig", "BertForMaskedLM", SIZES),
    "roberta": ("RobertaConfig", "RobertaForMaskedLM", SIZES | {"kinds": False}),
    "electra": ("ElectraConfig", "ElectraForMaskedLM", SIZES | {"embedding_size": 64}),
    "deberta-v2": ("DebertaV2Config", "DebertaV2ForMaskedLM", SIZES | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"],
                                                                      "position_buckets": 32, "norm_rel_ebd": "layer_norm", "share_att_key": True}),
    "distilbert": ("DistilBertConfig", "DistilBertForMaskedLM", {"dim": 128, "n_layers": 4, "n_heads": 4, "hidden_dim": 384, "kinds": False}),
    "albert": ("AlbertConfig", "AlbertForMaskedLM", SIZES | {"embedding_size": 64}),
    "modernbert": ("ModernBertConfig", "ModernBertForMaskedLM", SIZES | {"kinds": False, "local_attention": 64}),
    "mpnet": ("MPNetConfig", "MPNetForMaskedLM", SIZES | {"kinds": False}),
    "funnel": ("FunnelConfig", "FunnelForMaskedLM", {"d_model": 128, "n_head": 4, "d_head": 32, "d_inner": 384, "block_sizes": [2, 2],
                                                    "num_decoder_layers": 1}),
    "longformer": ("LongformerConfig", "LongformerForMaskedLM", SIZES | {"kinds": False, "attention_window": 32, "max_position_embeddings": 260}),
    "big-bird": ("BigBirdConfig", "BigBirdForMaskedLM", SIZES | {"block_size": 8, "num_random_blocks": 2, "batch": 4, "length": 128}),
}  # fmt: skip

PAIRS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "t5": ("T5Config", "T5ForConditionalGeneration", T5),
    "mt5": ("MT5Config", "MT5ForConditionalGeneration", T5),
    "bart": ("BartConfig", "BartForConditionalGeneration", PAIR),
    "mbart": ("MBartConfig", "MBartForConditionalGeneration", PAIR),
    "pegasus": ("PegasusConfig", "PegasusForConditionalGeneration", PAIR | {"decoder_start_token_id": 0}),
    "marian": ("MarianConfig", "MarianMTModel", PAIR | {"decoder_mask": True, "decoder_start_token_id": 0}),
    "m2m": ("M2M100Config", "M2M100ForConditionalGeneration", PAIR),
}


def random_labels(classes: int, *names: str, tokens: bool = False) -> Callable[[int, int], dict[str, torch.Tensor]]:
    return lambda batch, length: {name: torch.randint(classes, (batch, length) if tokens else (batch,)) for name in names}


def causal_entry(model: str, settings: dict[str, Any]) -> Callable[[], Case]:
    stem = model.removesuffix("ForCausalLM").removesuffix("LMHead")
    config = {"Gemma3": "Gemma3TextConfig"}.get(stem, f"{stem}Config")
    return partial(causal, config, model + "Model" if model.endswith("LMHead") else model, **settings)


MODELS: dict[str, Callable[[], Case]] = {
    **{name: causal_entry(model, settings) for name, (model, settings) in CAUSAL.items()},
    **{name: partial(encoder, config, model, **settings) for name, (config, model, settings) in ENCODERS.items()},
    "bert-sequence": partial(bert, "BertForSequenceClassification", random_labels(5, "labels")),
    "bert-tokens": partial(bert, "BertForTokenClassification", random_labels(5, "labels", tokens=True)),
    "bert-answers": partial(bert, "BertForQuestionAnswering", random_labels(64, "start_positions", "end_positions"), classes=2),
    **{name: partial(translation, config, model, **settings) for name, (config, model, settings) in PAIRS.items()},
}
