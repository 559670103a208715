"""Models of transformers: captured with the masks that every collator makes, and right for other masks."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from pebble_bridge import torch as planning  # noqa: E402
from torch import nn  # noqa: E402

SIZES = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 32,
}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


class WithLoss(nn.Module):
    """The loss of a model that computes its own, by position."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, mask, labels):
        return self.model(input_ids=tokens, attention_mask=mask, labels=labels).loss


def llama(**options):
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES, num_key_value_heads=1, **options))


def bert(**options):
    return transformers.BertForMaskedLM(
        transformers.BertConfig(**SIZES, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **options)
    )


def gpt2(**options):
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=64, n_embd=32, n_layer=2, n_head=2, n_positions=32, bos_token_id=0, eos_token_id=0, **options
        )
    )


def gradients(model, step, *batch):
    model.zero_grad()
    torch.manual_seed(5)
    loss = step(*batch)
    if loss.requires_grad:
        loss.backward()
    return [loss.detach(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)]


@pytest.mark.parametrize("make", [llama, bert, gpt2])
@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_a_step_planned_for_one_mask_is_right_for_another(make, implementation):
    tokens, whole = torch.randint(3, 64, (2, 16)), torch.ones(2, 16, dtype=torch.long)
    padded = whole.clone()
    padded[0, 9:] = 0
    model = WithLoss(make(attn_implementation=implementation)).train()
    step = planning.fit(model, (tokens, whole, tokens.clone()), None, "90%", time=0.5, verbose=False)
    for mask in (whole, padded):
        found = gradients(model, step, tokens, mask, tokens.clone())
        expected = gradients(model, model, tokens, mask, tokens.clone())
        scale = max(gradient.abs().max() for gradient in expected)
        assert all((a - b).abs().max() <= 1e-5 * scale for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("checkpointing", [False, True])
def test_models_without_a_cache_are_captured(checkpointing):
    model = llama(use_cache=False).train()
    if checkpointing:
        model.gradient_checkpointing_enable()
    tokens = torch.randint(3, 64, (2, 16))
    step = planning.fit(
        model, (tokens, tokens), lambda out, y: nn.functional.cross_entropy(out.logits.mT, y), "90%", time=0.5,
        verbose=False,
    )
    assert step.measured_peak <= step.budget


@pytest.mark.parametrize("make", [llama, bert, gpt2])
@pytest.mark.parametrize("mode", ["autocast bfloat16", "autocast float16", "bfloat16"])
def test_steps_in_short_types_are_planned(make, mode):
    model, tokens, dtype = make().train(), torch.randint(3, 64, (2, 16)), getattr(torch, mode.split()[-1])
    if not mode.startswith("autocast"):
        model.to(dtype)
    with torch.autocast("cpu", dtype=dtype, enabled=mode.startswith("autocast")):
        planning.Planner(model, (tokens, tokens), lambda out, y: nn.functional.cross_entropy(out.logits.mT, y))
