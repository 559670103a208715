"""One training step: a model, the arguments that its trainer passes, and its loss."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn


@dataclass
class Case:
    """`loss` is ``loss(output, **targets)``; None if the model returns its loss, as an attribute or as itself."""

    model: nn.Module
    inputs: dict[str, Any]
    loss: Callable[..., torch.Tensor] | None = None
    targets: dict[str, torch.Tensor] = field(default_factory=dict)

    def loss_of(self, output: Any, targets: dict[str, torch.Tensor] | None = None) -> torch.Tensor:
        if self.loss is not None:
            return self.loss(output, **(self.targets if targets is None else targets))
        return output if isinstance(output, torch.Tensor) else output.loss

    def step(self) -> torch.Tensor:
        """Forward, loss and backward, as a training loop runs them."""
        loss = self.loss_of(self.model(**self.inputs))
        loss.backward()
        return loss.detach()


def padded(batch: int, length: int, vocabulary: int = 1000, first: int = 5) -> dict[str, torch.Tensor]:
    """Sentences of different lengths as a tokenizer pads them: ``input_ids`` and ``attention_mask``."""
    lengths = torch.linspace(length, length // 2, batch).long()
    mask = (torch.arange(length) < lengths[:, None]).long()
    return {"input_ids": torch.randint(first, vocabulary, (batch, length)) * mask, "attention_mask": mask}


def unpadded(values: dict[str, torch.Tensor]) -> torch.Tensor:
    """Labels for a language model: the tokens, and -100 for padding."""
    return values["input_ids"].masked_fill(values["attention_mask"] == 0, -100)


def masked(values: dict[str, torch.Tensor], mask: int = 4, share: float = 0.15) -> dict[str, torch.Tensor]:
    """A batch of a masked language model: some tokens are hidden, and only they have labels."""
    hidden = (torch.rand(values["input_ids"].shape) < share) & (values["attention_mask"] == 1)
    labels = values["input_ids"].masked_fill(~hidden, -100)
    return values | {"input_ids": values["input_ids"].masked_fill(hidden, mask), "labels": labels}
