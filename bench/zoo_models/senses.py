"""Models of transformers for images, sound, time series, and several of them."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from .case import Case, padded, unpadded
from .language import GROUPED, PAIR, SIZES, SPECIAL, WIDTH, configured, model_of

CLASSES = 10
VISION = SIZES | {"image_size": 64, "patch_size": 8}


def images(batch: int, size: int) -> torch.Tensor:
    return torch.randn(batch, 3, size, size)


def classifier(name: str, batch: int = 8, image: int = 64, model: str = "{}ForImageClassification", **settings: Any) -> Case:
    values = {"pixel_values": images(batch, image), "labels": torch.randint(CLASSES, (batch,))}
    config = configured(f"{name}Config", num_labels=CLASSES, **settings)
    return Case(model_of(model.format(name), config), values)


def segmenter(name: str, batch: int = 4, image: int = 128, **settings: Any) -> Case:
    values = {"pixel_values": images(batch, image), "labels": torch.randint(CLASSES, (batch, image, image))}
    return Case(model_of(f"{name}ForSemanticSegmentation", configured(f"{name}Config", num_labels=CLASSES, **settings)), values)


def autoencoder() -> Case:
    """The masked autoencoder draws which patches it hides."""
    config = configured("ViTMAEConfig", **VISION, decoder_hidden_size=64, decoder_num_hidden_layers=2, decoder_num_attention_heads=4,
                        decoder_intermediate_size=128)  # fmt: skip
    return Case(model_of("ViTMAEForPreTraining", config), {"pixel_values": images(32, 64)})


def detector() -> Case:
    """DETR: convolutions, a transformer, and a loss that matches boxes."""
    from transformers import ResNetConfig

    batch = 4
    backbone = ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage4"])
    config = configured("DetrConfig", **(PAIR | {"d_model": 64}), backbone_config=backbone, use_timm_backbone=False, use_pretrained_backbone=False,
                        backbone=None, num_queries=20, num_labels=CLASSES)  # fmt: skip
    boxes = [{"class_labels": torch.randint(CLASSES, (count,)), "boxes": torch.rand(count, 4) * 0.5 + 0.25} for count in (3, 1, 4, 2)]
    return Case(model_of("DetrForObjectDetection", config), {
        "pixel_values": images(batch, 320), "pixel_mask": torch.ones(batch, 320, 320, dtype=torch.long), "labels": boxes})  # fmt: skip


def clip() -> Case:
    text = SIZES | {"vocab_size": 1000, "projection_dim": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    import transformers

    config = transformers.CLIPConfig(text_config=text, vision_config=VISION | {"projection_dim": 64}, projection_dim=64)
    values = padded(16, 32) | {"pixel_values": images(16, 64), "return_loss": True}
    return Case(model_of("CLIPModel", config), values)


def llava() -> Case:
    """Images as tokens of a language model."""
    import transformers

    vision = transformers.CLIPVisionConfig(**VISION)
    text = transformers.LlamaConfig(**SPECIAL, **GROUPED)
    text.use_cache = False
    config = transformers.LlavaConfig(vision_config=vision, text_config=text, image_token_id=3, image_seq_length=64)
    batch, patches = 6, 64
    values = padded(batch, 160)
    values["input_ids"][:, 4 : 4 + patches] = 3
    values |= {"labels": unpadded(values), "pixel_values": images(batch, 64)}
    return Case(model_of("LlavaForConditionalGeneration", config), values)


SPEECH = WIDTH | {
    "num_hidden_layers": 3, "intermediate_size": 384, "conv_dim": (64, 64, 64, 64), "conv_stride": (5, 4, 4, 2), "conv_kernel": (10, 8, 4, 4),
    "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, "vocab_size": 32, "mask_time_length": 4, "mask_time_min_masks": 1,
    "num_feat_extract_layers": 4,
}  # fmt: skip


def speech(name: str, model: str, ctc: bool, **settings: Any) -> Case:
    batch, samples = 4, 16000
    mask = (torch.arange(samples) < torch.linspace(samples, samples // 2, batch).long()[:, None]).long()
    labels = torch.randint(1, 32, (batch, 20)) if ctc else torch.randint(CLASSES, (batch,))
    if ctc:
        labels[:, 15:] = -100
    config = configured(f"{name}Config", **SPEECH, num_labels=CLASSES, **settings)
    return Case(model_of(model, config), {"input_values": torch.randn(batch, samples), "attention_mask": mask, "labels": labels})


def whisper() -> Case:
    config = configured("WhisperConfig", **(PAIR | {"max_source_positions": 100, "max_target_positions": 64, "num_mel_bins": 40}))
    values = {"input_features": torch.randn(8, 40, 200), "labels": unpadded(padded(8, 48))}
    return Case(model_of("WhisperForConditionalGeneration", config), values)


def spectrogram() -> Case:
    config = configured("ASTConfig", **SIZES, num_mel_bins=64, max_length=128, patch_size=16, frequency_stride=8, time_stride=8, num_labels=CLASSES)
    values = {"input_values": torch.randn(8, 128, 64), "labels": torch.randint(CLASSES, (8,))}
    return Case(model_of("ASTForAudioClassification", config), values)


def series() -> Case:
    """A time series transformer: past and future values, covariates and masks of missing ones."""
    import transformers

    context, horizon, lags, batch = 64, 16, [1, 2, 3, 7], 32
    config = transformers.TimeSeriesTransformerConfig(
        prediction_length=horizon, context_length=context, lags_sequence=lags, num_time_features=2, num_static_categorical_features=1,
        cardinality=[8], embedding_dimension=[4], d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128)  # fmt: skip
    config.use_cache = False
    past = context + max(lags)
    values = {
        "past_values": torch.rand(batch, past) + 1, "past_time_features": torch.randn(batch, past, 2),
        "past_observed_mask": (torch.rand(batch, past) < 0.95).float(), "static_categorical_features": torch.randint(8, (batch, 1)),
        "future_values": torch.rand(batch, horizon) + 1, "future_time_features": torch.randn(batch, horizon, 2),
        "future_observed_mask": torch.ones(batch, horizon),
    }  # fmt: skip
    return Case(model_of("TimeSeriesTransformerForPrediction", config), values)


def patches() -> Case:
    import transformers

    config = transformers.PatchTSTConfig(num_input_channels=7, context_length=256, prediction_length=48, patch_length=16, patch_stride=8, d_model=64,
                                         num_hidden_layers=3, num_attention_heads=4, ffn_dim=128)  # fmt: skip
    values = {"past_values": torch.randn(16, 256, 7), "future_values": torch.randn(16, 48, 7)}
    return Case(model_of("PatchTSTForPrediction", config), values)


STAGES = {"depths": [1, 1, 2, 1], "hidden_sizes": [16, 32, 64, 96]}
MODELS: dict[str, Callable[[], Case]] = {
    "vit": partial(classifier, "ViT", 16, **VISION),
    "deit": partial(classifier, "DeiT", 16, **VISION),
    "beit": partial(classifier, "Beit", 16, **VISION, use_relative_position_bias=True),
    "dinov2": partial(classifier, "Dinov2", 16, **VISION | {"intermediate_size": None, "mlp_ratio": 3}),
    "swin": partial(classifier, "Swin", image=112, image_size=112, patch_size=4, embed_dim=32, depths=[2, 2, 2], num_heads=[2, 4, 8], window_size=7),
    "swinv2": partial(classifier, "Swinv2", batch=12, image=64, image_size=64, patch_size=4, embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=8),
    "convnext": partial(classifier, "ConvNext", 16, image=128, **STAGES),
    "resnet": partial(classifier, "ResNet", 24, image=128, embedding_size=16, hidden_sizes=[16, 32, 64, 96], depths=[1, 1, 1, 1]),
    "regnet": partial(classifier, "RegNet", 24, image=96, embedding_size=16, hidden_sizes=[16, 32, 64, 96], depths=[1, 1, 2, 1], groups_width=8),
    "mobilenet-v2": partial(classifier, "MobileNetV2", image=96, image_size=96, depth_multiplier=0.5),
    "efficientnet": partial(classifier, "EfficientNet", image=96, image_size=64, width_coefficient=0.5, depth_coefficient=0.5, hidden_dim=640),
    "levit": partial(classifier, "Levit", 24, image=128, image_size=128, hidden_sizes=[64, 96, 128], num_attention_heads=[2, 3, 4], depths=[2, 2, 2],
                     key_dim=[16, 16, 16]),
    "poolformer": partial(classifier, "PoolFormer", 16, image=128, depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 64, 96]),
    "segformer": partial(segmenter, "Segformer", hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 1, 1], decoder_hidden_size=48),
    "vit-mae": autoencoder,
    "detr": detector,
    "clip": clip,
    "llava": llava,
    "wav2vec2": partial(speech, "Wav2Vec2", "Wav2Vec2ForCTC", ctc=True, ctc_loss_reduction="mean", layerdrop=0.0),
    "hubert": partial(speech, "Hubert", "HubertForSequenceClassification", ctc=False),
    "whisper": whisper,
    "ast": spectrogram,
    "time-series": series,
    "patchtst": patches,
}
