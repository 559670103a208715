"""Models of diffusers, with the loss of their training scripts: the mean squared error of the predicted noise."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from .case import Case


def noise_error(output: Any, noise: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(output.sample.float(), noise.float(), reduction="mean")


def noisy(model: torch.nn.Module, sample: torch.Tensor, name: str = "sample", **others: Any) -> Case:
    """A training step on a noisy sample, with one time step for each image."""
    steps = {"timestep": torch.randint(0, 1000, (sample.size(0),))}
    return Case(model.train(), {name: sample} | steps | others, noise_error, {"noise": torch.randn_like(sample)})


def unet() -> Case:
    from diffusers import UNet2DModel

    model = UNet2DModel(sample_size=32, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(32, 64, 64), norm_num_groups=8,
                        down_block_types=("DownBlock2D", "AttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "AttnUpBlock2D", "UpBlock2D"),
                        attention_head_dim=16)  # fmt: skip
    return noisy(model, torch.randn(4, 3, 32, 32))


CONDITION: dict[str, Any] = {
    "sample_size": 24, "in_channels": 4, "layers_per_block": 1, "block_out_channels": (32, 64), "norm_num_groups": 8, "cross_attention_dim": 64,
    "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "attention_head_dim": 8,
}  # fmt: skip


def conditional_model() -> Any:
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(**CONDITION, out_channels=4, up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"))


def conditional() -> Case:
    """As Stable Diffusion: cross-attention on the states of a text encoder."""
    return noisy(conditional_model(), torch.randn(4, 4, 24, 24), encoder_hidden_states=torch.randn(4, 24, 64))


class Controlled(torch.nn.Module):
    """A ControlNet in training: its states go into a frozen U-Net."""

    def __init__(self, control: torch.nn.Module, unet: torch.nn.Module) -> None:
        super().__init__()
        self.control, self.unet = control, unet.requires_grad_(False)

    def forward(self, sample: torch.Tensor, timestep: torch.Tensor, encoder_hidden_states: torch.Tensor, controlnet_cond: torch.Tensor) -> Any:
        down, middle = self.control(sample, timestep, encoder_hidden_states, controlnet_cond, return_dict=False)
        return self.unet(sample, timestep, encoder_hidden_states, down_block_additional_residuals=down, mid_block_additional_residual=middle)


def controlnet() -> Case:
    from diffusers import ControlNetModel

    control = ControlNetModel(**{key: value for key, value in CONDITION.items() if key != "sample_size"}, conditioning_embedding_out_channels=(8, 16))
    model = Controlled(control, conditional_model())
    for parameter in control.parameters():  # its last layers begin at zero, which gives all other parameters no gradient
        if not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)
    return noisy(model, torch.randn(4, 4, 24, 24), encoder_hidden_states=torch.randn(4, 24, 64), controlnet_cond=torch.rand(4, 3, 48, 48))


def autoencoder() -> Case:
    """AutoencoderKL: it draws the latent; reconstruction and divergence."""
    from diffusers import AutoencoderKL

    kinds = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
    model = AutoencoderKL(**kinds, block_out_channels=(24, 48), norm_num_groups=8, latent_channels=4, sample_size=48)

    class Training(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.vae = model

        def forward(self, sample: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            posterior = self.vae.encode(sample).latent_dist
            return self.vae.decode(posterior.sample()).sample, posterior.kl()

    def loss(output: tuple[torch.Tensor, torch.Tensor], image: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(output[0], image) + 1e-6 * output[1].mean()

    image = torch.rand(2, 3, 48, 48) * 2 - 1
    return Case(Training().train(), {"sample": image}, loss, {"image": image.clone()})


def quantized() -> Case:
    """VQModel: the nearest vectors of a codebook, gradients passed straight through."""
    from diffusers import VQModel

    kinds = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
    model = VQModel(**kinds, block_out_channels=(24, 48), norm_num_groups=8, latent_channels=4, num_vq_embeddings=64, sample_size=48)

    def loss(output: Any, image: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(output.sample, image) + output.commit_loss.mean()

    image = torch.rand(2, 3, 48, 48) * 2 - 1
    return Case(model.train(), {"sample": image}, loss, {"image": image.clone()})


def dit() -> Case:
    """A diffusion transformer with classes, which it drops at random."""
    from diffusers import DiTTransformer2DModel

    model = DiTTransformer2DModel(num_attention_heads=4, attention_head_dim=32, in_channels=4, out_channels=4, num_layers=4, sample_size=16,
                                  patch_size=2, num_embeds_ada_norm=100)  # fmt: skip
    return noisy(model, torch.randn(16, 4, 16, 16), "hidden_states", class_labels=torch.randint(100, (16,)))


def pixart() -> Case:
    from diffusers import PixArtTransformer2DModel

    model = PixArtTransformer2DModel(num_attention_heads=4, attention_head_dim=32, in_channels=4, out_channels=4, num_layers=3, sample_size=16,
                                     cross_attention_dim=128, caption_channels=64, use_additional_conditions=False)  # fmt: skip
    mask = (torch.arange(24) < torch.linspace(24, 8, 16).long()[:, None]).long()
    return noisy(model, torch.randn(16, 4, 16, 16), "hidden_states", encoder_hidden_states=torch.randn(16, 24, 64), encoder_attention_mask=mask,
                 added_cond_kwargs={"resolution": None, "aspect_ratio": None})  # fmt: skip


def sd3() -> Case:
    from diffusers import SD3Transformer2DModel

    model = SD3Transformer2DModel(sample_size=16, patch_size=2, in_channels=4, out_channels=4, num_layers=3, attention_head_dim=32,
                                  num_attention_heads=4, joint_attention_dim=64, caption_projection_dim=128, pooled_projection_dim=64,
                                  pos_embed_max_size=16)  # fmt: skip
    return noisy(model, torch.randn(16, 4, 16, 16), "hidden_states", encoder_hidden_states=torch.randn(16, 24, 64),
                 pooled_projections=torch.randn(16, 64))  # fmt: skip


def flux() -> Case:
    from diffusers import FluxTransformer2DModel

    model = FluxTransformer2DModel(patch_size=1, in_channels=16, num_layers=2, num_single_layers=2, attention_head_dim=32, num_attention_heads=4,
                                   joint_attention_dim=64, pooled_projection_dim=64, guidance_embeds=True, axes_dims_rope=(8, 12, 12))  # fmt: skip
    batch, side, words = 4, 12, 24
    grid = torch.stack(torch.meshgrid(torch.arange(1), torch.arange(side), torch.arange(side), indexing="ij"), -1).reshape(-1, 3).float()
    case = noisy(model, torch.randn(batch, side * side, 16), "hidden_states", encoder_hidden_states=torch.randn(batch, words, 64),
                 pooled_projections=torch.randn(batch, 64), txt_ids=torch.zeros(words, 3), img_ids=grid, guidance=torch.full((batch,), 3.5))  # fmt: skip
    case.inputs["timestep"] = torch.rand(batch)
    return case


MODELS: dict[str, Callable[[], Case]] = {
    "diffusers-unet": unet,
    "diffusers-conditional": conditional,
    "diffusers-controlnet": controlnet,
    "diffusers-vae": autoencoder,
    "diffusers-vq": quantized,
    "diffusers-dit": dit,
    "diffusers-pixart": pixart,
    "diffusers-sd3": sd3,
    "diffusers-flux": flux,
}
