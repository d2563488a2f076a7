"""`sentinel fit`: fits a monitor on recorded, labelled runs and saves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.options import LabelsFile, PoolsFile, Store
from sentinel_sql.cli.output import AsJson, emit, facts, progress

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sentinel_sql.monitor.session import Monitor

EXAMPLE = "Example: sentinel fit runs/qwen --pools pools.json --labels labels.jsonl --out monitor/"


class Serve(StrEnum):
    """The library that runs a fitted encoder."""

    torch = "torch"
    onnx = "onnx"
    int8 = "onnx-int8"


class GateChoice(StrEnum):
    """How the gate's threshold is chosen."""

    bounded = "bounded"
    paper = "paper"


class MapKind(StrEnum):
    """The kind of the maps from scores to confidences."""

    chosen = "chosen"
    isotonic = "isotonic"
    platt = "platt"
    beta = "beta"
    venn_abers = "venn-abers"


class Answers(StrEnum):
    """The answers that the correctness head learns from."""

    better = "better"
    all = "all"
    answerable = "answerable"


def fit(
    store: Store,
    pools: PoolsFile,
    labels: LabelsFile,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the bundle is written.")],
    head: Annotated[str, typer.Option(help="linear, ngrams, embedding or encoder.")] = "linear",
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Heads encoder and embedding: a local folder, or a name on the model hub.",
        ),
    ] = None,
    shared_trunk: Annotated[
        bool, typer.Option("--shared-trunk", help="Head encoder: one network for both heads.")
    ] = False,
    serve: Annotated[
        Serve | None,
        typer.Option(
            help="Heads encoder and embedding: the library that runs the network.  [torch]"
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Head encoder: keep training states here, to resume after an interruption.",
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Head encoder: training epochs.  [3]")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Head encoder: snapshots in a batch.  [8]")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Head encoder: learning rate.  [3e-5]")
    ] = None,
    training_tokens: Annotated[
        int | None, typer.Option(min=16, help="Head encoder: newest tokens read.  [2048]")
    ] = None,
    scoring_tokens: Annotated[
        int | None,
        typer.Option(min=16, help="Heads encoder and embedding: newest tokens read.  [4096]"),
    ] = None,
    gate: Annotated[
        GateChoice,
        typer.Option(help="bounded: only with enough templates; paper: by the paper's rule."),
    ] = GateChoice.bounded,
    no_gate: Annotated[bool, typer.Option("--no-gate", help="Fit without a gate.")] = False,
    gate_tolerance: Annotated[
        float,
        typer.Option(help="Largest share of answerable templates that a bounded gate may stop."),
    ] = 0.05,
    calibration: Annotated[
        MapKind,
        typer.Option(
            help="Maps from scores to confidences; chosen: by loss on held-out templates."
        ),
    ] = MapKind.chosen,
    certify: Annotated[
        float,
        typer.Option(metavar="CHANCE", help="Largest chance that a certified bar is wrong."),
    ] = 0.1,
    certify_risk: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Largest share of templates with a wrong answer that a certified bar claims.  "
            "[1/(1+λ), to beat silence]",
        ),
    ] = None,
    from_: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="MONITOR",
            help="Head linear: draw weights towards general, a bundle's, or none.",
        ),
    ] = "general",
    only_calibrate: Annotated[
        bool,
        typer.Option(
            "--only-calibrate",
            help="Take the heads of --from as they are, and use the runs to calibrate them alone.",
        ),
    ] = False,
    learn_from: Annotated[
        Answers,
        typer.Option(help="Answers that the correctness head learns from; answerable: the paper."),
    ] = Answers.better,
    seed: Annotated[int, typer.Option(help="Seed of folds and heads.")] = 42,
    as_json: AsJson = False,
) -> None:
    """Fit both heads on the train pool, and freeze maps and thresholds on the calibration pool."""
    from sentinel_sql.labels.file import read_labels
    from sentinel_sql.monitor.bundle import check_place, head_with, save
    from sentinel_sql.pipeline.fit import fit as fit_monitor
    from sentinel_sql.questions.pools import Pools
    from sentinel_sql.trajectory.store import read_trajectories

    settings: dict[str, Any] = {
        "encoder": encoder,
        "shared_trunk": shared_trunk or None,
        "serve": None if serve is None else serve.value,
        "work": work,
        "epochs": epochs,
        "batch": batch,
        "learning_rate": learning_rate,
        "training_tokens": training_tokens,
        "scoring_tokens": scoring_tokens,
    }
    kind = head_with(head, {name: it for name, it in settings.items() if it is not None})
    check_place(out)
    header, labels_by_run = read_labels(labels)
    with progress("fit") as advance:
        made = fit_monitor(
            read_trajectories(store),
            Pools.read(pools),
            labels_by_run,
            header,
            head=replace(kind, on_progress=advance.part)  # type: ignore[type-var]
            if hasattr(kind, "on_progress")
            else kind,
            prior=None if from_ == "none" else from_,
            only_calibrate=only_calibrate,
            learn_from=learn_from.value,
            seed=seed,
            gate=False if no_gate else "paper" if gate is GateChoice.paper else True,
            gate_tolerance=gate_tolerance,
            calibration=calibration.value,
            certify=certify,
            certify_risk=certify_risk,
            on_progress=advance,
        )
    save(made, out)
    document = {
        "monitor": str(out),
        "agent": made.agent,
        "head": made.estimators.head.name,
        "delivery": made.estimators.delivery.name,
        "needs_telemetry": sorted(made.estimators.delivery.telemetry),
        "thresholds": made.thresholds.to_json(),
        "facts": dict(made.facts),
    }
    emit(document, as_json=as_json, tables=lambda: _screen(made, out))


def _screen(made: Monitor, out: Path) -> Iterator[RenderableType]:
    from rich.text import Text

    yield facts("Monitor", _summary(made, out))
    yield Text("\nIts agent, for Guard.load(agent=…), is on the next line:")
    yield Text(
        made.agent, no_wrap=True, overflow="ignore"
    )  # users paste this line, so it is never wrapped


def _summary(made: Monitor, out: Path) -> Mapping[str, object]:

    from sentinel_sql.decision.certificate import certify_frozen
    from sentinel_sql.decision.payoff import STAKES_OF_RECORD

    frozen, served = made.thresholds, made.thresholds.served
    estimators = made.estimators
    return {
        "bundle": out,
        "runs": made.facts["runs"],
        "left out, no label": made.facts["unlabelled"] or None,
        "left out, no verdict": made.facts["unjudged"] or None,
        "head": estimators.head.name,
        "weights drawn towards": made.facts["prior"],
        "learned from answers": made.facts["learned_from"],
        "furthest from torch": {
            name: chosen["drift"]["largest"]
            for name, chosen in made.facts["chosen"].items()
            if "drift" in chosen
        }
        or None,
        "delivery by": estimators.delivery.name,
        "AUROC, train (out of fold)": made.facts["train_auroc_out_of_fold"],
        "AUROC, calibration": made.facts["calibration_auroc"],
        "a live run needs": " and ".join(
            ["token log-probabilities and entropies"] * bool(estimators.delivery.telemetry)
            + ["probes of the database"] * bool(made.facts["probed"])
            + ["a coverage record of the question"] * bool(made.facts["covered"])
            + ["nothing of the model's tokens"] * (not estimators.delivery.telemetry)
        ),
        "gate θ": "none" if frozen.gate.theta is None else f"{frozen.gate.theta:.4g}",
        "": frozen.gate.why,
        "serves stakes up to": None if served is None else f"λ = {served.limit:.3g}: {served.why}",
        "maps to confidences": {
            name: chosen["kind"] for name, chosen in made.facts["calibration_maps"].items()
        },
        "certified to beat silence"
        if frozen.certification.risk is None
        else "certified by its risk": {
            f"λ={level:g}": certify_frozen(made.calibration, frozen, stakes=level).why
            for level in STAKES_OF_RECORD
        },
        "early stop s": {
            f"λ={stop.stakes:g}": "never" if stop.threshold is None else stop.threshold
            for stop in frozen.early_stops
            if not stop.exact_bar
        },
        "schema": None if made.facts["schema_known"] else "unknown: two features stay neutral",
    }
