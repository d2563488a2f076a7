"""What an encoder costs a step beside the linear head: ratios, measured in one run.

The encoder has the shape of ModernBERT-base with random weights: latency doesn't depend on what
they are. Times are processor time, so that other work on the machine matters little.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sentinel_sql.monitor.encoders.extras import transformers
from sentinel_sql.monitor.encoders.onnx_export import export
from sentinel_sql.monitor.encoders.run import Description, Encoder, files_in
from sentinel_sql.monitor.encoders.text import Text
from sentinel_sql.monitor.heads.encoder import FittedEncoderHead
from sentinel_sql.monitor.heads.linear import LinearHead
from sentinel_sql.monitor.surroundings import NOWHERE
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.render import SCORING_TOKENS, count_tokens, render_step

TOKENS = 1024
"""Of the transcript, where linear head and encoder are compared."""

SHORTER, LONGER = 512, 2048
"""Tokens at which encoders are compared with each other as well."""

LINEAR_FACTOR, INT8_FACTOR, SHARED_SHARE = 200, 2, 0.55
REPEATS = 3
_WORDS = ("patient", "heparin", "glucose", "select", "count", "admission", "from", "where", "id")


def measure() -> dict[str, Any]:
    """Return the figures and whether each is within its budget."""
    linear = measure_linear_step()
    with tempfile.TemporaryDirectory() as folder:
        network = measure_networks(Path(folder))
    ratio = network["torch_fp32_ms_at_1024"] / linear
    return {
        "linear_step_ms_at_1024": round(linear, 3),
        **{name: round(figure, 3) for name, figure in network.items()},
        "linear_times_faster": round(ratio),
        "linear_within_budget": ratio >= LINEAR_FACTOR,
        "int8_within_budget": all(
            network[f"int8_times_faster_at_{tokens}"] >= INT8_FACTOR
            for tokens in (SHORTER, TOKENS, LONGER)
        ),
        "shared_trunk_within_budget": network["shared_trunk_share"] <= SHARED_SHARE,
    }


def measure_linear_step() -> float:
    """Time one new step of a run that then holds 1,024 tokens: reading and one head's score."""
    rng = random.Random(0)
    head = LinearHead()
    runs = [_run(rng, 300) for _ in range(60)]
    inputs, targets = [], []
    for number, run in enumerate(runs):
        reading = head.read(run.question, NOWHERE)
        for step in run.steps:
            reading.observe(step, None)
        inputs.append(reading.snapshot(SCORING_TOKENS))
        targets.append(number % 2 == 0)
    fitted = head.fit(inputs, np.array(targets), groups=np.arange(len(runs)) // 2, seed=1)
    took = []
    for _ in range(100):
        run = _run(rng, TOKENS)
        reading = head.read(run.question, NOWHERE)
        for step in run.steps[:-1]:
            reading.observe(step, None)
        started = time.process_time()
        reading.observe(run.steps[-1], None)
        fitted.score([reading.snapshot(SCORING_TOKENS)])
        took.append(1000 * (time.process_time() - started))
    return statistics.median(took)


def measure_networks(folder: Path) -> dict[str, float]:
    """Time torch, onnxruntime with int8 weights, and two heads on one trunk or on two."""
    two = _opened(_base(folder / "two", logits=2))
    source = _base(folder / "one", logits=1)
    export(source, folder / "int8", runtime="onnx-int8", output="logits", limit=8192)
    int8 = Encoder(files_in(folder / "int8"))
    first, second = _opened(source), _opened(source)

    def passes(tokens: int) -> list[Callable[[], object]]:
        ids = [_ids(tokens)]
        return [partial(its._network.vectors, ids) for its in (first, int8)]

    figures: dict[str, float] = {}
    for tokens in (SHORTER, TOKENS, LONGER):
        plain, rounded = _least(*passes(tokens))
        figures |= {
            f"torch_fp32_ms_at_{tokens}": plain,
            f"onnxruntime_int8_ms_at_{tokens}": rounded,
            f"int8_times_faster_at_{tokens}": plain / rounded,
        }

    def heads(*at: tuple[Encoder, int]) -> list[FittedEncoderHead]:
        return [FittedEncoderHead(encoder=its, column=column, fit_facts={}) for its, column in at]

    def step(pair: list[FittedEncoderHead]) -> Callable[[], object]:
        texts = iter(_texts())  # each is scored once: an encoder remembers

        def scored() -> object:
            text = next(texts)
            return [head.score([text]) for head in pair]

        return scored

    shared, apart = _least(step(heads((two, 0), (two, 1))), step(heads((first, 0), (second, 0))))
    return {
        **figures,
        "two_heads_on_one_trunk_ms": shared,
        "two_heads_on_two_trunks_ms": apart,
        "shared_trunk_share": shared / apart,
    }


def _base(folder: Path, *, logits: int) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    library = transformers()
    config = library.ModernBertConfig(num_labels=logits)  # its defaults are the base model's
    model = library.AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(str(folder))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(_WORDS, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    Description(runtime="torch", output="logits", limit=8192).write(folder)
    return folder


def _opened(folder: Path) -> Encoder:
    return Encoder(files_in(folder))


def _ids(count: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.random.default_rng(0).integers(10, 50_000, count).astype(np.int32)


def _texts() -> list[Text]:
    """Return texts of 512 tokens, each another one."""
    rng = random.Random(1)
    return [Text(question=" ".join(rng.choices(_WORDS, k=SHORTER))) for _ in range(REPEATS + 1)]


def _least(*works: Callable[[], object]) -> list[float]:
    """Time works in turns, so that what else runs here meets all alike; the least disturbed counts.

    Returns:
        Milliseconds of processor time of each.
    """
    took: list[list[float]] = [[] for _ in works]
    for turn in range(REPEATS + 1):
        for work, times in zip(works, took, strict=True):
            started = time.process_time()
            work()
            if turn:  # the first pass warms up
                times.append(1000 * (time.process_time() - started))
    return [min(times) for times in took]


def _run(rng: random.Random, tokens: int) -> Any:
    """Make a run whose rendered steps hold about so many tokens."""
    steps: list[Any] = []
    held = 0
    while held < tokens:
        name = rng.choice(_WORDS)
        step = make_step(
            len(steps) + 1,
            thought=" ".join(rng.choices(_WORDS, k=30)),
            sql=f"SELECT COUNT(*) FROM patients WHERE gender = '{name}' AND id = {rng.random()}",
        )
        held += count_tokens(render_step(step, None))
        steps.append(step)
    return make_trajectory(text=" ".join(rng.choices(_WORDS, k=12)), steps=steps)


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
