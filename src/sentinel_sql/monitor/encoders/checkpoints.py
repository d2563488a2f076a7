"""A Trainer whose checkpoints are safetensors and JSON, so that loading one can't run code.

The Trainer of transformers stores the states of optimizer, schedule and random generators as
pickles. Its hooks for them are overridden here. A test checks that every file of a checkpoint has
one of the two formats.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np

from sentinel_sql.monitor.encoders.extras import FITTING, import_extra, torch, transformers

STATE, OPTIMIZER, RANDOM = "trainer_state.json", "optimizer.safetensors", "random.json"
SCHEDULE = "schedule.json"


def newest_checkpoint(folder: Path) -> Path | None:
    """Return the newest complete checkpoint of a folder; half-written ones are ignored."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    for path in reversed(found):
        try:
            json.loads((path / STATE).read_bytes())  # written last
        except (OSError, ValueError):
            continue
        return path
    return None


def trainer_class() -> Any:
    """Return the Trainer. Its class is made here, because the import of its parent is slow."""
    library = transformers()
    tensors: Any = import_extra("safetensors.torch", FITTING)
    pytorch: Any = torch()

    class PlainTrainer(library.Trainer):  # type: ignore[misc, name-defined]
        """A Trainer that writes no pickle."""

        def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
            self.model.save_pretrained(output_dir or self.args.output_dir, state_dict=state_dict)

        def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
            state = self.optimizer.state_dict()
            flat = {
                f"{number}.{name}": value.contiguous()
                for number, values in state["state"].items()
                for name, value in values.items()
            }
            groups = {"groups": json.dumps(state["param_groups"])}
            tensors.save_file(flat, os.path.join(output_dir, OPTIMIZER), metadata=groups)
            schedule = {
                "schedule": self.lr_scheduler.state_dict(),
                "scaler": None if self._scaler() is None else self._scaler().state_dict(),
            }
            _write(Path(output_dir, SCHEDULE), schedule)

        def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
            if checkpoint is None:
                return
            path = os.path.join(checkpoint, OPTIMIZER)
            state: dict[int, dict[str, Any]] = {}
            with import_extra("safetensors", FITTING).safe_open(path, framework="pt") as stored:
                groups = json.loads(stored.metadata()["groups"])
                for key in stored.keys():  # noqa: SIM118  (no mapping)
                    number, name = key.split(".", 1)
                    state.setdefault(int(number), {})[name] = stored.get_tensor(key)
            self.optimizer.load_state_dict({"state": state, "param_groups": groups})
            schedule = json.loads(Path(checkpoint, SCHEDULE).read_bytes())
            self.lr_scheduler.load_state_dict(schedule["schedule"])
            if self._scaler() is not None and schedule["scaler"] is not None:
                self._scaler().load_state_dict(schedule["scaler"])

        def _scaler(self) -> Any:
            return getattr(self.accelerator, "scaler", None)

        def _save_scaler(self, output_dir: str) -> None:
            """Do nothing: the scaler is saved with the schedule."""

        def _load_scaler(self, checkpoint: str | None) -> None:
            """Do nothing: the scaler is loaded with the schedule."""

        def _save_rng_state(self, output_dir: str) -> None:
            kind, keys, *rest = np.random.get_state()
            states = {
                "python": random.getstate(),
                "numpy": [kind, np.asarray(keys).tolist(), *rest],
                "torch": pytorch.random.get_rng_state().tolist(),
                "cuda": [state.tolist() for state in pytorch.cuda.get_rng_state_all()]
                if pytorch.cuda.is_available()
                else [],
            }
            Path(output_dir).mkdir(parents=True, exist_ok=True)
            _write(Path(output_dir, RANDOM), states)

        def _load_rng_state(self, checkpoint: str | None) -> None:
            if checkpoint is None:
                return
            states = json.loads(Path(checkpoint, RANDOM).read_bytes())
            version, keys, gauss = states["python"]
            random.setstate((version, tuple(keys), gauss))
            np.random.set_state(tuple(states["numpy"]))
            pytorch.random.set_rng_state(pytorch.tensor(states["torch"], dtype=pytorch.uint8))
            if states["cuda"] and len(states["cuda"]) == pytorch.cuda.device_count():
                pytorch.cuda.set_rng_state_all(
                    [pytorch.tensor(state, dtype=pytorch.uint8) for state in states["cuda"]]
                )

    return PlainTrainer


def _write(path: Path, state: Any) -> None:
    path.write_text(json.dumps(state))
