"""One more line in a training script: the same losses, within a memory budget.

    python examples/python/torch_trainers.py [BUDGET] [loop|transformers|trl|peft|accelerate|lightning ...]

Trains a small GPT-2 on random sentences, with the libraries that are installed, once without and once with a budget, and
shows the last loss and the peak of a step.
"""

import importlib.util
import logging
import sys
import tempfile
import warnings

import torch
import transformers
from pebble_bridge.torch import budget, measure_peak
from torch.utils.data import DataLoader

LENGTH, BATCH, STEPS = 32, 8, 10


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    sizes = {"vocab_size": 96, "n_embd": 48, "n_layer": 4, "n_head": 4, "n_positions": LENGTH}
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))


def sentences() -> list[dict]:
    tokens = torch.randint(3, 96, (BATCH * STEPS, LENGTH), generator=torch.Generator().manual_seed(1))
    return [{"input_ids": row.tolist(), "labels": row.tolist()} for row in tokens]


def collate(rows: list[dict]) -> dict[str, torch.Tensor]:
    return {key: torch.tensor([row[key] for row in rows]) for key in ("input_ids", "labels")}


def batches() -> DataLoader:
    return DataLoader(sentences(), BATCH, collate_fn=collate)


def loop(limit: str | None, model: torch.nn.Module | None = None) -> tuple[torch.nn.Module, float]:
    model = model or network()
    if limit:
        model = budget(model, limit, time=3)  # <- the line
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-3)
    for batch in batches():
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
    return model, loss.item()


def with_peft(limit: str | None) -> tuple[torch.nn.Module, float]:
    from peft import LoraConfig, get_peft_model

    return loop(limit, get_peft_model(network(), LoraConfig(target_modules=["c_attn"], fan_in_fan_out=True)))


SETTINGS = {
    "max_steps": STEPS,
    "per_device_train_batch_size": BATCH,
    "logging_steps": STEPS,
    "use_cpu": True,
    "disable_tqdm": True,
    "report_to": [],
    "save_strategy": "no",
}


def with_transformers(limit: str | None) -> tuple[torch.nn.Module, float]:
    model = network()
    if limit:
        model = budget(model, limit, time=3)  # <- the line
    with tempfile.TemporaryDirectory() as folder:
        args = transformers.TrainingArguments(folder, **SETTINGS)
        trainer = transformers.Trainer(model, args, train_dataset=sentences(), data_collator=collate)
        return model, trainer.train().training_loss


def with_trl(limit: str | None) -> tuple[torch.nn.Module, float]:
    import datasets
    from tokenizers import Tokenizer, models
    from trl import SFTConfig, SFTTrainer

    words = Tokenizer(models.WordLevel({f"t{i}": i for i in range(96)}, unk_token="t0"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="t0", eos_token="t1")
    model = network()
    if limit:
        budget(model.base_model, limit, time=3)  # <- the line: the trainer computes the loss itself
    with tempfile.TemporaryDirectory() as folder:
        args = SFTConfig(folder, **SETTINGS, bf16=False, gradient_checkpointing=False)
        data = datasets.Dataset.from_list([{"input_ids": row["input_ids"]} for row in sentences()])
        trainer = SFTTrainer(model, args, train_dataset=data, processing_class=tokenizer)
        return model, trainer.train().training_loss


def with_accelerate(limit: str | None) -> tuple[torch.nn.Module, float]:
    from accelerate import Accelerator

    accelerator, model = Accelerator(cpu=True), network()
    if limit:
        model = budget(model, limit, time=3)  # <- the line
    model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), 1e-3), batches())
    for batch in loader:
        optimizer.zero_grad()
        loss = model(**batch).loss
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model, loss.item()


def with_lightning(limit: str | None) -> tuple[torch.nn.Module, float]:
    import lightning

    class Lit(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.network, self.last = network(), 0.0
            if limit:
                self.network = budget(self.network, limit, time=3)  # <- the line

        def training_step(self, batch: dict, index: int) -> torch.Tensor:
            loss = self.network(**batch).loss
            self.last = loss.item()
            return loss

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters(), 1e-3)

    module = Lit()
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    lightning.Trainer(accelerator="cpu", max_epochs=1, enable_model_summary=False, **quiet).fit(module, batches())
    return module.network, module.last


TRAINERS = {
    "loop": loop,
    "transformers": with_transformers,
    "trl": with_trl,
    "peft": with_peft,
    "accelerate": with_accelerate,
    "lightning": with_lightning,
}


def peak_of_a_step(model: torch.nn.Module) -> float:
    """In MiB."""
    batch = next(iter(batches()))
    model(**batch).loss.backward()  # not measured: a new kind of call is planned here
    model.zero_grad()
    return measure_peak(lambda: model(**batch).loss.backward()) / 2**20


def main(words: list[str]) -> None:
    limit = next((word for word in words if word not in TRAINERS), "60%")
    for name in [word for word in words if word in TRAINERS] or TRAINERS:
        if name != "loop" and importlib.util.find_spec(name) is None:
            print(f"{name}: not installed")
            continue
        curve = []
        for given in (None, limit):
            torch.manual_seed(2)  # the same dropout masks in both
            model, loss = TRAINERS[name](given)
            peak = f", peak of a step {peak_of_a_step(model):.2f} MiB" if name != "trl" else ""
            print(f"{name}, {f'within {given}' if given else 'plain'}: last loss {loss:.6f}{peak}")
            curve.append(loss)
        print("equal" if curve[0] == curve[1] else "DIFFERENT")


torch.set_num_threads(1)
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
main(sys.argv[1:])
