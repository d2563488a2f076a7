"""Fine-tuning of one encoder with a logit for each task. It can be resumed, and uses a GPU."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.errors import CannotFitError, SentinelError
from sentinel_sql.monitor.encoders.checkpoints import STATE, newest_checkpoint, trainer_class
from sentinel_sql.monitor.encoders.extras import FITTING, import_extra, torch, transformers
from sentinel_sql.monitor.encoders.run import TOKENIZER, OnProgress
from sentinel_sql.monitor.encoders.tokens import Ids, pad
from sentinel_sql.monitor.encoders.torch_run import load_classifier, padding_token
from sentinel_sql.monitor.head import Bools, Floats, Ints

STOPPING_SHARE = 0.1
"""Share of the templates held out to validate for early stopping (ours)."""

VALIDATIONS = 2
"""Validations in an epoch, each with a checkpoint (ours)."""

WARMUP, DECAY = 0.1, 0.01
"""Share of the steps with a rising learning rate, and weight decay: usual values for encoders."""

FACTS = "facts.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """How an encoder is trained.

    Attributes:
        epochs: most epochs; early stopping may end training sooner.
        batch: snapshots in a training step.
        learning_rate: the highest of the schedule.
        patience: training stops after as many validations without a smaller loss.
        seed: of the new layer, dropout, the order of the snapshots and the stopping slice.
    """

    epochs: int
    batch: int
    learning_rate: float
    patience: int
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Examples:
    """The training data of an encoder: n snapshots, k tasks.

    Attributes:
        rows: n rows of token ids.
        targets: shape (n, k): 1, 0, or NaN where a task isn't trained on a snapshot.
        groups: shape (n,), the template of each snapshot.
    """

    rows: Sequence[Ids]
    targets: Floats
    groups: Ints


def train(
    source: Path, examples: Examples, recipe: Recipe, folder: Path, on_progress: OnProgress
) -> Mapping[str, Any]:
    """Train an encoder, or resume an interrupted training in this folder.

    Args:
        source: the folder of the encoder to start from.
        examples: with both classes of every task.
        recipe: the settings of training.
        folder: gets `model/` with configuration, weights and tokenizer. Until training is done
            it also holds the checkpoints to resume from.
        on_progress: called with the training steps.

    Returns:
        The facts of training: steps, epochs, the size of the stopping slice and its loss;
        JSON-ready.

    Raises:
        CannotFitError: the weights became infinite or NaN.
        InputError: the encoder can't be loaded.
        SentinelError: out of memory.
    """
    trained = folder / "model"
    if (trained / FACTS).is_file():
        stored: Mapping[str, Any] = json.loads((trained / FACTS).read_bytes())
        return stored
    import_extra("accelerate", FITTING)
    slice_ = stopping_slice(examples.targets, examples.groups, seed=recipe.seed)
    with _seed_generators(recipe.seed):
        model = load_classifier(source, tasks=examples.targets.shape[1])
        trainer = _trainer(model, examples, slice_, recipe, folder / "checkpoints", on_progress)
        last = newest_checkpoint(folder / "checkpoints")
        try:
            if last is not None and _had_stopped(last, recipe):
                best = json.loads((last / STATE).read_bytes())["best_global_step"]
                model = load_classifier(folder / "checkpoints" / f"checkpoint-{best}")
                trainer.state = transformers().TrainerState.load_from_json(str(last / STATE))
            else:
                trainer.train(resume_from_checkpoint=None if last is None else str(last))
        except torch().OutOfMemoryError as error:
            raise SentinelError(
                "the encoder ran out of memory in training: lower --batch or --training-tokens"
            ) from error
        if not all(bool(weight.isfinite().all()) for weight in model.parameters()):
            raise CannotFitError("training diverged: lower --learning-rate")
    facts = {
        "examples": len(examples.rows),
        "held_for_stopping": 0 if slice_ is None else int(slice_.sum()),
        "steps": int(trainer.state.global_step),
        "epochs": round(float(trainer.state.epoch or 0.0), 3),
        "best_loss": trainer.state.best_metric,
        "precision": _precision(),
    }
    _save(model.cpu(), source, facts, trained)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    return facts


def stopping_slice(targets: Floats, groups: Ints, *, seed: int) -> Bools | None:
    """Hold out whole templates for early stopping; return a mask of shape (n,), True if held out.

    Of up to 20 random splits, the first with both classes of every task on both sides is used.
    None if there is none: then training runs all its epochs.
    """
    if len(np.unique(groups)) < 2:
        return None
    from sklearn.model_selection import GroupShuffleSplit  # a guard starts without it

    splits = GroupShuffleSplit(n_splits=20, test_size=STOPPING_SHARE, random_state=seed)
    for _, held_rows in splits.split(targets, groups=groups):
        held = np.zeros(len(targets), np.bool_)
        held[held_rows] = True
        if all(
            (targets[side] == wanted).any(axis=0).all()
            for side in (held, ~held)
            for wanted in (0.0, 1.0)
        ):
            return held
    return None


def class_weights(targets: Floats) -> NDArray[np.float32]:
    """Return weights of all targets, shape (n, k), that balance the two classes of each task.

    The weights of a task average to 1 over the snapshots that it is trained on; others get 0.
    """
    positive, negative = (targets == 1.0), (targets == 0.0)
    total = positive.sum(0) + negative.sum(0)
    up, down = (total / (2.0 * np.maximum(side.sum(0), 1)) for side in (positive, negative))
    return np.asarray(positive * up + negative * down, np.float32)


def _trainer(
    model: Any,
    examples: Examples,
    slice_: Bools | None,
    recipe: Recipe,
    folder: Path,
    on_progress: OnProgress,
) -> Any:
    library, pytorch = transformers(), torch()
    held = np.zeros(len(examples.rows), np.bool_) if slice_ is None else slice_
    weights = np.zeros_like(examples.targets, np.float32)
    for side in (held, ~held):
        weights[side] = class_weights(examples.targets[side])
    targets = np.nan_to_num(examples.targets).astype(np.float32)

    class Rows(pytorch.utils.data.Dataset):  # type: ignore[misc, name-defined]
        def __init__(self, numbers: Ints) -> None:
            self.numbers = numbers
            self.lengths = [len(examples.rows[number]) for number in numbers]

        def __len__(self) -> int:
            return len(self.numbers)

        def __getitem__(self, at: int) -> int:
            return int(self.numbers[at])

    def collate(numbers: list[int]) -> dict[str, Any]:
        ids, mask = pad([examples.rows[number] for number in numbers], padding_token(model))
        return {
            "input_ids": pytorch.from_numpy(ids),
            "attention_mask": pytorch.from_numpy(mask),
            "labels": pytorch.from_numpy(targets[numbers]),
            "weights": pytorch.from_numpy(weights[numbers]),
        }

    class LengthSampler(pytorch.utils.data.Sampler):  # type: ignore[misc, name-defined]
        """Snapshots in batches of similar length, in a new order for each epoch."""

        def __init__(self, lengths: list[int]) -> None:
            self.lengths, self.epoch = lengths, 0

        def set_epoch(self, epoch: int) -> None:
            self.epoch = epoch

        def __len__(self) -> int:
            return len(self.lengths)

        def __iter__(self) -> Iterator[int]:
            # A generator of its own, so that a resumed epoch has the same order of snapshots.
            generator = np.random.default_rng([recipe.seed, self.epoch])
            return iter(batch_by_length(self.lengths, recipe.batch, generator))

    class Trainer(trainer_class()):  # type: ignore[misc]
        def _get_train_sampler(self, train_dataset: Any = None) -> Any:  # noqa: ARG002
            return LengthSampler(self.train_dataset.lengths)

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any
        ) -> Any:
            weights, labels = inputs["weights"], inputs["labels"]
            outputs = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
            losses = pytorch.nn.functional.binary_cross_entropy_with_logits(
                outputs.logits.float(), labels, weight=weights, reduction="none"
            )
            # The mean over the batch, without the targets that a task isn't trained on.
            loss = losses.sum() / (weights > 0).sum().clamp(min=1)
            return (loss, outputs) if return_outputs else loss

    class Progress(library.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            on_progress(f"training on {len(examples.rows):,}", state.global_step, state.max_steps)

    fitted_on = np.flatnonzero(~held)
    steps = max(1, math.ceil(math.ceil(len(fitted_on) / recipe.batch) / VALIDATIONS))
    precision = _precision()
    watched = slice_ is not None
    arguments = library.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=recipe.batch,
        per_device_eval_batch_size=recipe.batch,
        learning_rate=recipe.learning_rate,
        num_train_epochs=recipe.epochs,
        weight_decay=DECAY,
        warmup_steps=WARMUP,
        eval_strategy="steps" if watched else "no",
        eval_steps=steps if watched else None,
        save_strategy="steps",
        save_steps=steps,
        save_total_limit=2,
        load_best_model_at_end=watched,
        metric_for_best_model="loss" if watched else None,
        greater_is_better=False if watched else None,
        restore_callback_states_from_checkpoint=True,
        prediction_loss_only=True,
        remove_unused_columns=False,
        label_names=["labels"],
        seed=recipe.seed,
        data_seed=recipe.seed,
        bf16=precision == "bf16",
        fp16=precision == "fp16",
        dataloader_pin_memory=torch().cuda.is_available(),
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    stopping = [library.EarlyStoppingCallback(recipe.patience)] if watched else []
    trainer = Trainer(
        model=model,
        args=arguments,
        data_collator=collate,
        train_dataset=Rows(fitted_on),
        eval_dataset=Rows(np.flatnonzero(held)) if watched else None,
        callbacks=[*stopping, Progress()],
    )
    trainer.remove_callback(library.PrinterCallback)  # stdout is for the command's result only
    return trainer


def batch_by_length(
    lengths: Sequence[int], batch: int, generator: np.random.Generator
) -> list[int]:
    """Return all row numbers in a random order whose batches hold rows of similar length."""
    order = generator.permutation(len(lengths))
    chunk = batch * 50
    sized = np.asarray(lengths)
    batches: list[NDArray[np.int64]] = []
    for at in range(0, len(order), chunk):
        part = order[at : at + chunk]
        part = part[np.argsort(-sized[part], kind="stable")]
        batches += [part[start : start + batch] for start in range(0, len(part), batch)]
    # The last batch may be short. It stays last, so that the others keep their borders.
    whole = batches[:-1]
    shuffled = [whole[number] for number in generator.permutation(len(whole))]
    return [int(row) for batch_ in (*shuffled, batches[-1]) for row in batch_]


def _precision() -> str:
    """Return `bf16` or `fp16` if a GPU has it, else `fp32`."""
    cuda = torch().cuda
    if not cuda.is_available():
        return "fp32"
    return "bf16" if cuda.is_bf16_supported() else "fp16"


def _had_stopped(checkpoint: Path, recipe: Recipe) -> bool:
    """Return whether early stopping had ended training when this checkpoint was written."""
    state = json.loads((checkpoint / STATE).read_bytes())
    stopping = state.get("stateful_callbacks", {}).get("EarlyStoppingCallback", {})
    counter = stopping.get("attributes", {}).get("early_stopping_patience_counter", 0)
    return bool(state.get("best_global_step")) and int(counter) >= recipe.patience


def _save(model: Any, source: Path, facts: Mapping[str, Any], folder: Path) -> None:
    draft = folder.with_name(".model.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    model.config.architectures = [type(model).__name__]
    model.save_pretrained(str(draft), max_shard_size="1000GB")
    shutil.copyfile(source / TOKENIZER, draft / TOKENIZER)
    (draft / FACTS).write_text(json.dumps(facts))
    os.replace(draft, folder)


@contextmanager
def _seed_generators(seed: int) -> Iterator[None]:
    """Seed all random generators, and restore their states at the end."""
    before = random.getstate(), np.random.get_state()
    try:
        with torch().random.fork_rng():
            transformers().set_seed(seed)
            yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])
