"""`budget` in the trainers that people use: the same losses with and without a plan, within the budget."""

from __future__ import annotations

import copy
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from pebble_bridge import torch as planning  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

STEPS = 20
LENGTH = 16


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def rows(count, seed=3):
    """Sentences of different lengths."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(5, LENGTH + 1, (count,), generator=generator).tolist()
    return [{"input_ids": torch.randint(3, 64, (length,), generator=generator).tolist()} for length in lengths]


def collate(sentences):
    tokens = torch.zeros(len(sentences), LENGTH, dtype=torch.long)
    mask = torch.zeros_like(tokens)
    for row, sentence in enumerate(sentences):
        length = len(sentence["input_ids"])
        tokens[row, :length] = torch.tensor(sentence["input_ids"])
        mask[row, :length] = 1
    return {"input_ids": tokens, "attention_mask": mask, "labels": tokens.masked_fill(mask == 0, -100)}


def gpt2():
    torch.manual_seed(0)
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=64, n_embd=32, n_layer=2, n_head=2, n_positions=32, bos_token_id=0, eos_token_id=0
        )
    )


def llama():
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=64,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=32,
        )
    )


def bert():
    torch.manual_seed(0)
    return transformers.BertForMaskedLM(
        transformers.BertConfig(
            vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2
        )
    )


def limited(model, limit="80%"):
    return planning.budget(model, limit, time=1, verbose=False)


def check_peak(model, batch=None):
    """The measured peak of a whole step is within the budget, and something is recomputed for it."""
    batch = batch or collate(rows(4))
    model.zero_grad()
    model(**batch).loss.backward()  # this kind of call has a plan now
    model.zero_grad()
    peak = planning.measure_peak(lambda: model(**batch).loss.backward())
    plan = planning.plans(model)[0]
    assert peak <= plan.budget < plan.plain_peak
    assert plan.plan.metrics.overhead > 0


# -- transformers.Trainer ----------------------------------------------------------------------------------------------


class Losses(transformers.TrainerCallback):
    def __init__(self):
        self.curve = []

    def on_log(self, args, state, control, logs=None, **others):
        self.curve += [logs[key] for key in ("loss", "grad_norm", "eval_loss") if key in logs]


def trainer(model, folder, kind=transformers.Trainer, settings=transformers.TrainingArguments, more=None, **options):
    options = {
        "output_dir": str(folder),
        "per_device_train_batch_size": 4,
        "max_steps": STEPS,
        "logging_steps": 1,
        "learning_rate": 1e-2,
        "use_cpu": True,
        "disable_tqdm": True,
        "report_to": [],
        "save_strategy": "no",
    } | options
    losses = Losses()
    more = {"train_dataset": rows(30), "eval_dataset": rows(6, 9), "data_collator": collate} | (more or {})
    made = kind(model=model, args=settings(**options), callbacks=[losses], **more)
    made.remove_callback(transformers.PrinterCallback)
    made.losses = losses.curve
    return made


def trained(model, folder, **options):
    made = trainer(model, folder, **options)
    made.train()
    return made.losses


ACCUMULATING = {"gradient_accumulation_steps": 2, "eval_strategy": "steps", "eval_steps": 5, "max_grad_norm": 0.5}


def test_trainer_with_accumulation_evaluation_and_a_smaller_last_batch(tmp_path):
    """30 sentences in batches of 4: the last one has 2. Trainer passes num_items_in_batch to the model."""
    model = limited(gpt2())
    assert trained(model, tmp_path, **ACCUMULATING) == trained(gpt2(), tmp_path, **ACCUMULATING)
    assert {tuple(plan.captured.example_inputs[0].shape) for plan in planning.plans(model)} == {(4, LENGTH), (2, LENGTH)}
    check_peak(model)


@pytest.mark.long
@pytest.mark.parametrize("make", [gpt2, llama, bert])
def test_trainer(make, tmp_path):
    model = limited(make())
    losses = trained(model, tmp_path)
    assert len(losses) == 2 * STEPS and losses == trained(make(), tmp_path)
    check_peak(model)


@pytest.mark.long
def test_trainer_under_autocast(tmp_path):
    model = limited(llama())
    assert trained(model, tmp_path, bf16=True) == trained(llama(), tmp_path, bf16=True)
    assert planning.plans(model)[0].plan.metrics.overhead > 0


@pytest.mark.long
def test_dropout_under_autocast(tmp_path):
    """The factor of dropout, rounded to bfloat16 on processors, is that of eager PyTorch."""
    model = limited(gpt2())
    planned = trained(model, tmp_path, bf16=True, learning_rate=1e-3)
    assert planned == trained(gpt2(), tmp_path, bf16=True, learning_rate=1e-3)
    assert planning.plans(model)[0].plan.metrics.overhead > 0


@pytest.mark.long
def test_trainer_saves_and_resumes(tmp_path):
    options = {"save_strategy": "steps", "save_steps": 10}
    plain = trained(gpt2(), tmp_path / "plain", **options)
    assert trained(limited(gpt2()), tmp_path / "planned", **options) == plain
    saved = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "planned" / "checkpoint-20")
    other = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "plain" / "checkpoint-20")
    assert all(map(torch.equal, saved.parameters(), other.parameters()))
    resumed = trainer(limited(gpt2()), tmp_path / "planned", **options)
    resumed.train(resume_from_checkpoint=str(tmp_path / "planned" / "checkpoint-10"))
    assert resumed.losses == plain[20:]


# -- TRL and PEFT ------------------------------------------------------------------------------------------------------


def tokenizer():
    from tokenizers import Tokenizer, models

    words = Tokenizer(models.WordLevel({f"t{i}": i for i in range(64)}, unk_token="t0"))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="t0", eos_token="t1", unk_token="t0"
    )


def sft(model, folder, **options):
    trl = pytest.importorskip("trl")
    datasets = pytest.importorskip("datasets")
    options = {"bf16": False, "pad_to_multiple_of": LENGTH, "max_length": LENGTH} | options
    more = {
        "train_dataset": datasets.Dataset.from_list(rows(80)),
        "eval_dataset": None,
        "data_collator": None,
        "processing_class": tokenizer(),
    }
    return trainer(model, folder, trl.SFTTrainer, trl.SFTConfig, more, **options)


@pytest.mark.long
@pytest.mark.parametrize("checkpointing", [False, True])
def test_sft_trainer(tmp_path, checkpointing):
    """The trainer computes the loss in tiles, outside of the model's own forward: its base model gets the budget."""
    plain = sft(gpt2(), tmp_path, gradient_checkpointing=False)
    plain.train()
    model = gpt2()
    limited(model.base_model)
    planned = sft(model, tmp_path, gradient_checkpointing=checkpointing)
    planned.train()
    assert len(plain.losses) == 2 * STEPS and planned.losses == plain.losses
    assert planning.plans(model.base_model)[0].plan.metrics.overhead > 0


@pytest.mark.long
def test_a_forward_that_sft_trainer_replaces_is_refused(tmp_path):
    with pytest.raises(planning.Unsupported, match=r"was replaced after budget.*model\.base_model"):
        sft(limited(gpt2()), tmp_path).train()


def loop(model, batches, optimizer=None, every=1):
    """A plain loop; returns the losses."""
    optimizer = optimizer or torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-2)
    torch.manual_seed(7)
    curve = []
    for index, batch in enumerate(batches):
        loss = model(**batch).loss / every
        loss.backward()
        if (index + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
        curve.append(loss.item())
    return curve


def batches(count=STEPS, size=4):
    sentences = rows(count * size)
    return [collate(sentences[size * i : size * (i + 1)]) for i in range(count)]


@pytest.mark.long
def test_lora_before_and_after():
    peft = pytest.importorskip("peft")

    def adapted(model):
        torch.manual_seed(1)
        settings = peft.LoraConfig(r=4, target_modules=["c_attn"], lora_dropout=0.1, fan_in_fan_out=True)
        return peft.get_peft_model(model, settings).train()

    plain = loop(adapted(gpt2()), batches())
    after, inside = limited(adapted(gpt2()), "70%"), limited(gpt2(), "70%")
    before = adapted(inside)
    assert loop(after, batches()) == plain and loop(before, batches()) == plain
    check_peak(after)
    assert planning.plans(inside)[0].plan.metrics.overhead > 0


# -- accelerate and Lightning --------------------------------------------------------------------------------------------


def accelerated(order, precision="no"):
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(True)  # one for each process, with one precision
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2, mixed_precision=precision)
    model = gpt2()
    if order == "before":
        limited(model)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(rows(80), 4, collate_fn=collate))
    if order == "after":
        limited(model)
    torch.manual_seed(7)
    curve = []
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        curve.append(loss.item())
    return model, curve, accelerator


@pytest.mark.long
@pytest.mark.parametrize("order", ["before", "after"])
def test_accelerate(order):
    model, curve, _ = accelerated(order)
    assert len(curve) == STEPS and curve == accelerated("plain")[1]
    check_peak(model)


@pytest.mark.long
@pytest.mark.parametrize("order", ["before", "after"])
def test_accelerate_with_autocast(order):
    model, curve, accelerator = accelerated(order, "bf16")
    plain, exact = accelerated("plain", "bf16")[1], accelerated("plain")[1]
    assert distance(curve, plain) <= 2 * distance(plain, exact)
    assert planning.plans(model)
    if order == "before":  # accelerate takes its own wrapper off, and the budget remains
        model = accelerator.unwrap_model(model, keep_fp32_wrapper=False)
        model(**collate(rows(4))).loss.backward()
        assert planning.plans(model)
    planning.release(model)
    with pytest.raises(planning.Unsupported, match="has no budget"):
        planning.plans(model)
    model(**collate(rows(4))).loss.backward()


@pytest.mark.long
def test_lightning(tmp_path):
    lightning = pytest.importorskip("lightning")

    class Lit(lightning.LightningModule):
        def __init__(self, model):
            super().__init__()
            self.model, self.curve = model, []

        def training_step(self, batch, index):
            loss = self.model(**batch).loss
            self.curve.append(loss.item())
            return loss

        def validation_step(self, batch, index):
            self.log("validation", self.model(**batch).loss)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), 1e-2)

    def run(model):
        module = Lit(model)
        torch.manual_seed(7)
        lightning.Trainer(
            accelerator="cpu",
            max_epochs=1,
            accumulate_grad_batches=2,
            gradient_clip_val=1.0,
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=tmp_path,
        ).fit(module, DataLoader(rows(80), 4, collate_fn=collate), DataLoader(rows(8, 4), 4, collate_fn=collate))
        return module.curve

    model = limited(gpt2())
    losses = run(model)
    assert len(losses) == STEPS and losses == run(gpt2())
    check_peak(model)


# -- a plain loop --------------------------------------------------------------------------------------------------------


def test_a_loop_with_accumulation_hooks_and_averaged_models():
    """Copies of the model are models with their own plans; hooks see the gradients."""

    def run(model):
        averaged = torch.optim.swa_utils.AveragedModel(model)
        seen = []
        first = next(model.parameters())
        first.register_hook(lambda gradient: seen.append(gradient.norm().item()))
        first.register_post_accumulate_grad_hook(lambda parameter: seen.append(parameter.grad.norm().item()))
        curve = loop(model, batches(), every=2)
        averaged.update_parameters(model)
        other = copy.deepcopy(model)
        other(**batches(1)[0]).loss.backward()
        with torch.no_grad():
            return [*curve, *seen, averaged(**batches(1)[0]).loss.item(), next(other.parameters()).grad.norm().item()]

    model = limited(gpt2())
    assert run(model) == run(gpt2())
    check_peak(model)


@pytest.mark.long
def test_an_optimizer_in_backward_hooks():
    def run(model):
        for parameter in model.parameters():
            optimizer = torch.optim.SGD([parameter], 0.1)

            def step(p, optimizer=optimizer):
                optimizer.step()
                optimizer.zero_grad()

            parameter.register_post_accumulate_grad_hook(step)
        return loop(model, batches(), torch.optim.SGD([nn.Parameter(torch.zeros(1))], 0.1))

    assert run(limited(gpt2())) == run(gpt2())


@pytest.mark.long
def test_grad_scaler():
    def run(model):
        scaler, optimizer, curve = torch.amp.GradScaler("cpu"), torch.optim.SGD(model.parameters(), 0.1), []
        torch.manual_seed(7)
        for batch in batches():
            loss = model(**batch).loss
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            curve.append(loss.item())
        return curve

    assert run(limited(gpt2())) == run(gpt2())


# -- numbers among the arguments -----------------------------------------------------------------------------------------


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inner, self.outer = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x, y, count, rounds=1):
        if isinstance(count, str):
            count = len(count)
        for _ in range(rounds):
            x = x + self.inner(x).tanh()
        return nn.functional.cross_entropy(self.outer(x), y, reduction="sum") / count


class Particular(Counted):
    """Does something else with tensors than with numbers."""

    def forward(self, x, y, count):
        return super().forward(x, y, count * 2 if isinstance(count, torch.Tensor) else count)


def steps(model, calls):
    model.zero_grad()
    losses = []
    torch.manual_seed(1)
    x, y = torch.randn(16, 8), torch.randint(4, (16,))
    for numbers in calls:
        loss = model(x, y, *numbers)
        loss.backward()
        losses.append(loss.item())
    return losses, [parameter.grad.clone() for parameter in model.parameters()]


def agree(model, calls):
    found, expected = steps(model, calls), steps(planning.release(copy.deepcopy(model)), calls)
    return found[0] == expected[0] and all(map(torch.equal, found[1], expected[1]))


def test_numbers_that_change_are_inputs_of_one_plan():
    model = limited(Counted(), "100%")
    assert agree(model, [(3,), (5,), (6,), (7,), (8,), (3,)])
    assert len(planning.plans(model)) == 1
    assert agree(model, [(0.1,), (0.5,), (2.5,)])
    assert len(planning.plans(model)) == 2


def test_numbers_that_are_no_inputs_get_a_few_plans():
    model = limited(Counted(), "100%")
    assert agree(model, [(3, rounds) for rounds in (1, 2, 3, 4, 1)])
    with pytest.raises(planning.Unsupported, match=r"now 5, changes from call to call.*4 already.*reads its value"):
        steps(model, [(3, 5)])
    assert agree(model, [(count, 2) for count in (3, 4, 5, 6, 7, 8)])  # the other number is an input even so
    model = limited(Particular(), "100%")
    assert agree(model, [(3,), (4,), (5,), (6,)])
    with pytest.raises(planning.Unsupported, match=r"now 7, .*differs from the model's"):
        steps(model, [(7,)])


def test_compiled_models_are_refused():
    compiled = Counted()
    compiled.compile(backend="eager")
    for model in (torch.compile(Counted(), backend="eager"), compiled, nn.Sequential(compiled)):
        with pytest.raises(planning.Unsupported, match="is compiled"):
            limited(model)


# -- several processes ---------------------------------------------------------------------------------------------------

TWO = """
import os, sys, torch
from torch import nn
rank = int(sys.argv[2])
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)
from pebble_bridge import torch as planning


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down, self.drop = nn.LayerNorm(32), nn.Linear(32, 64), nn.Linear(64, 32), nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.down(nn.functional.gelu(self.up(self.norm(x)))))


class Net(nn.Module):
    def __init__(self, unused=False):
        super().__init__()
        torch.manual_seed(0)
        self.blocks, self.head = nn.ModuleList(Block() for _ in range(3)), nn.Linear(32, 4)
        self.unused = nn.Linear(4, 4) if unused else None

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def limited(model):
    return planning.budget(model, "85%", time=1, verbose=False)


def within(model, run):
    peak = planning.measure_peak(run)
    plan = planning.plans(model)[0]
    assert peak <= plan.budget and plan.plan.metrics.overhead > 0, (peak, plan)


torch.manual_seed(rank + 5)
batches = [(torch.randn(160, 32), torch.randint(4, (160,))) for _ in range(20)]
"""

DATA_PARALLEL = (
    TWO
    + """
from contextlib import nullcontext
from torch.nn.parallel import DistributedDataParallel


def train(order, unused=False, **options):
    net = Net(unused)
    if order == "before":
        limited(net)
    model = DistributedDataParallel(net, find_unused_parameters=unused, **options)
    if order == "after":
        assert limited(model) is model
    optimizer, curve = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), []
    torch.manual_seed(9)
    for index, (x, y) in enumerate(batches):
        with nullcontext() if index % 2 else model.no_sync():
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
        if index % 2:
            curve += [p.grad.clone() for p in model.parameters() if p.grad is not None]
            optimizer.step()
            optimizer.zero_grad()
        curve.append(loss.detach())
    if order != "plain":
        with model.no_sync():
            x, y = batches[0]
            within(model, lambda: nn.functional.cross_entropy(net(x), y).backward())
    return curve


for options in ({}, {"unused": True}, {"gradient_as_bucket_view": True, "bucket_cap_mb": 0.005}):
    plain = train("plain", **options)
    for order in ("before", "after"):
        assert all(map(torch.equal, train(order, **options), plain)), (order, options)
print("equal", flush=True)
torch.distributed.barrier()
os._exit(0)  # gloo's threads may still run when the interpreter ends, and then the process aborts
"""
)

SHARDED = (
    TWO
    + """
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,))


def sharded(net, **options):
    for block in net.blocks:
        fully_shard(block, mesh=mesh, **options)
    return fully_shard(net, mesh=mesh, **options)


def collectives(run):
    # the names of the collectives that a function calls, in order
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        run()
    return [event.name for event in profiler.events() if event.name.startswith("c10d::")]


def train(order, **options):
    net = Net()
    if order == "before":
        for block in net.blocks:
            limited(block)
    sharded(net, **options)
    if order == "after":
        for block in net.blocks:
            limited(block)
    optimizer, curve = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9), []
    torch.manual_seed(9)
    for x, y in batches:
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        curve += [loss.detach(), *(p.grad.to_local().clone() for p in net.parameters())]
        optimizer.step()
        optimizer.zero_grad()
    if order != "plain":
        for block in net.blocks:
            (plan,) = planning.plans(block)
            assert plan.measured_peak <= plan.budget and plan.plan.metrics.overhead > 0
            assert not any("c10d" in str(operation.node.target) for operation in plan.captured.program.operations)
    return curve, collectives(lambda: net(batches[0][0]).sum().backward())


for options in ({}, {"reshard_after_forward": False}):
    plain = train("plain", **options)
    for order in ("before", "after"):
        found = train(order, **options)
        assert all(map(torch.equal, found[0], plain[0])), (order, options)
        assert found[1] == plain[1] and len(plain[1]) >= 8, (found[1], plain[1])


def refused(run, *words):
    try:
        run()
    except planning.Unsupported as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(words)


refused(lambda: limited(sharded(Net())), "blocks.0", "call budget on each")
net = sharded(limited(Net()))
refused(lambda: net(batches[0][0]), "blocks.0", "call budget on each")
refused(lambda: limited(FullyShardedDataParallel(Net(), device_id=torch.device("cpu"))), "fully_shard")
print("equal", flush=True)
torch.distributed.barrier()
os._exit(0)
"""
)


@pytest.mark.long
@pytest.mark.parametrize("script", [DATA_PARALLEL, SHARDED], ids=["DistributedDataParallel", "fully_shard"])
def test_two_processes(tmp_path, root, script):
    if not (torch.distributed.is_available() and torch.distributed.is_gloo_available()):
        pytest.skip("torch without gloo")
    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    command = [sys.executable, "-B", "-c", script, str(tmp_path / "meet")]
    running = [
        subprocess.Popen([*command, str(rank)], env=environment, stdout=subprocess.PIPE, text=True) for rank in (0, 1)
    ]
    for process in running:
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0 and output == "equal\n"
