"""Families that nobody looked at while the package was written: a sample that is reported on its own."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from .case import Case, padded
from .diffusion import noisy
from .language import PAIR, SIZES, causal, configured, encoder, model_of, translation
from .senses import CLASSES, VISION, classifier, images

GROUPED = SIZES | {"num_key_value_heads": 2}


def video() -> Case:
    """Clips of eight frames."""
    config = configured("TimesformerConfig", **VISION | {"num_labels": CLASSES, "num_frames": 8})
    return Case(model_of("TimesformerForVideoClassification", config), {
        "pixel_values": torch.randn(3, 8, 3, 64, 64), "labels": torch.randint(CLASSES, (3,))})  # fmt: skip


def document() -> Case:
    """Words with their boxes on a page."""
    values = padded(8, 128)
    corner = torch.randint(500, (8, 128, 2))
    values |= {"bbox": torch.cat([corner, corner + torch.randint(1, 400, (8, 128, 2))], -1), "labels": torch.randint(5, (8, 128))}
    return Case(model_of("LayoutLMForTokenClassification", configured("LayoutLMConfig", **SIZES, num_labels=5)), values)


def answers() -> Case:
    config = configured("SplinterConfig", **SIZES)
    values = padded(8, 128) | {"start_positions": torch.randint(64, (8,)), "end_positions": torch.randint(64, (8,))}
    return Case(model_of("SplinterForQuestionAnswering", config), values)


def depth() -> Case:
    config = configured("GLPNConfig", hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=32)
    return Case(model_of("GLPNForDepthEstimation", config), {"pixel_values": images(4, 128), "labels": torch.rand(4, 128, 128) + 0.5})


def signal() -> Case:
    """A U-Net for sequences, as in diffusion for control."""
    from diffusers import UNet1DModel

    model = UNet1DModel(sample_size=1024, in_channels=2, out_channels=2, extra_in_channels=0, block_out_channels=(32, 32, 64), norm_num_groups=8,
                        down_block_types=("DownResnetBlock1D", "DownResnetBlock1D", "DownResnetBlock1D"), mid_block_type="MidResTemporalBlock1D",
                        up_block_types=("UpResnetBlock1D", "UpResnetBlock1D"), out_block_type="OutConv1DBlock", act_fn="silu",
                        time_embedding_type="positional", use_timestep_embedding=True, layers_per_block=1)  # fmt: skip
    return noisy(model, torch.randn(8, 2, 1024))


MODELS: dict[str, Callable[[], Case]] = {
    "granite": partial(causal, "GraniteConfig", "GraniteForCausalLM", **GROUPED),
    "nemotron": partial(causal, "NemotronConfig", "NemotronForCausalLM", **GROUPED),
    "persimmon": partial(causal, "PersimmonConfig", "PersimmonForCausalLM", **SIZES),
    "biogpt": partial(causal, "BioGptConfig", "BioGptForCausalLM", **SIZES),
    "olmoe": partial(causal, "OlmoeConfig", "OlmoeForCausalLM", **GROUPED | {"num_experts": 4, "num_experts_per_tok": 2, "output_router_logits": True}),
    "convbert": partial(encoder, "ConvBertConfig", "ConvBertForMaskedLM", **SIZES),
    "squeezebert": partial(encoder, "SqueezeBertConfig", "SqueezeBertForMaskedLM", **SIZES | {"embedding_size": 128}),
    "layoutlm": document,
    "splinter": answers,
    "blenderbot": partial(translation, "BlenderbotSmallConfig", "BlenderbotSmallForConditionalGeneration", **PAIR),
    "timesformer": video,
    "focalnet": partial(classifier, "FocalNet", 16, **{"image_size": 64, "patch_size": 4, "embed_dim": 32, "depths": [1, 1, 2], "focal_levels": [2, 2, 2],
                                                      "focal_windows": [3, 3, 3], "hidden_sizes": [64, 96, 128]}),
    "pvt-v2": partial(classifier, "PvtV2", 16, 64, **{"image_size": 64, "hidden_sizes": [16, 32, 64, 96], "depths": [1, 1, 1, 1],
                                                     "num_attention_heads": [1, 2, 4, 4]}),
    "glpn": depth,
    "diffusers-unet1d": signal,
}  # fmt: skip
