"""`sentinel demo`: runs the whole system on real recorded runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.command_name import call_hint
from sentinel_sql.cli.output import AsJson, emit, say, terminal

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from sentinel_sql.decision.policy import Policy
    from sentinel_sql.evaluation_store.record import Evaluation
    from sentinel_sql.pipeline.demo import DemoFolder

EXAMPLE = "Example: sentinel demo"

FOLDER = Path("demo")
FIRST = ("ladder", "heads")
"""Exhibits that the demo shows; `sentinel evaluate` shows all."""

ENDINGS = {
    "refused": ("Refused before the first step", "in {} of them no right answer was lost"),
    "stopped": ("Exited mid-run, or withheld", "in {} of them no right answer was lost"),
    "delivered": ("Delivered", "{} of these answers are right"),
}
"""Kind of ending → its title, and the meaning of its count of right cases."""


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder for all files of the demo.")
    ] = FOLDER,
    runs: Annotated[
        Path | None,
        typer.Option(
            metavar="STORE",
            help="Your own agent's runs over the default benchmark.  [the bundled recording]",
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Copy the hospital into duckdb:///FILE or postgresql://USER@HOST/NAME, and take "
            "every answer from there.  [SQLite]",
        ),
    ] = None,
    stakes: Annotated[float, typer.Option(min=0.0, help="Stakes λ of the three runs shown.")] = 1.0,
    fast: Annotated[bool, typer.Option("--fast", help="Don't slow the three runs down.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build the hospital, fit and evaluate a monitor on recorded runs, and watch three of them.

    The agent's runs are recorded, over SQLite. Everything else is computed now, on this machine and
    offline. With --database, the recorded SQL is translated, and answers come from that database.
    """
    from sentinel_sql.hospital.recordings import DEFAULT, confidences, provenance, recording
    from sentinel_sql.pipeline.demo import build, evaluate_demo, without_answer

    made = build(
        folder,
        runs=runs or recording(),
        confidences=None if runs else confidences(),
        database=database,
        on_stage=say,
    )
    say("replaying every system over the held-out runs")
    evaluation = evaluate_demo(made)
    document: dict[str, Any] = {
        "folder": str(folder),
        "runs": str(made.runs),
        "provenance": None if runs else provenance().get(DEFAULT),
        "evaluation": evaluation.to_json(),
    }
    console = None if as_json else terminal()
    if console is not None:
        for part in _exhibits(document):
            console.print(part)
    policy, replays = _replays(
        made, evaluation, stakes=stakes, console=console, pace=0.0 if fast else None
    )
    document["replays"] = replays
    document["without_answer"] = without_answer(evaluation.scores, policy)
    document["next"] = _next(made, [it["run"]["question"]["id"] for it in replays if it["run"]])
    emit(document, as_json=as_json, tables=lambda: _closing(document))


def _exhibits(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    from sentinel_sql.report.terminal.evaluation import TABLES, headline

    shown = document["evaluation"]
    known = document["provenance"]
    if known is not None:
        yield Text(
            f"{known['runs']:,} runs of {known['agent']['model']} ({known['quantization']}, "
            f"{known['server']}), recorded {known['days']}",
            style="dim",
        )
    yield headline(shown)
    for name in FIRST:
        yield Text()
        yield TABLES[name].show(shown["exhibits"][name])
    rest = [name for name in TABLES if name not in FIRST]
    yield Text(f"\nMore tables, by the first command below:\n{', '.join(rest)}.\n")


def _replays(
    made: DemoFolder,
    evaluation: Evaluation,
    *,
    stakes: float,
    console: Console | None,
    pace: float | None,
) -> tuple[Policy, list[dict[str, Any]]]:
    """Replay one run of each ending through a live guard; return its policy, and the runs."""
    from rich.text import Text

    from sentinel_sql.cli.recorded_runs import RecordedRuns
    from sentinel_sql.pipeline.demo import endings

    replays: list[dict[str, Any]] = []
    with RecordedRuns.open(made, stakes=stakes, early_stop=True) as recorded:
        if console is not None:
            head = f"Three held-out runs, guarded, at λ = {stakes:g} with early stop"
            console.print(Text(head, style="bold"))
            console.print("They are chosen as clear examples; the counts show what is typical.")
        policy = recorded.guard.policy
        for kind, ending in endings(evaluation.scores, policy).items():
            if console is not None:
                title, right = ENDINGS[kind]
                console.print()
                console.rule(Text(title, style="bold"), align="left", style="dim")
                console.print(
                    f"{ending.cases} of {len(evaluation.scores)} held-out runs end like this; "
                    f"{right.format(ending.right)}."
                    if ending.cases
                    else f"None of the {len(evaluation.scores)} held-out runs ends like this.",
                    style="dim",
                )
            run = None
            if ending.chosen is not None:
                run = recorded.replay(ending.chosen, console=console, pace=pace)
            replays.append({"kind": kind, "cases": ending.cases, "right": ending.right, "run": run})
    return policy, replays


def _next(made: DemoFolder, shown: Sequence[str]) -> list[str]:
    folder = made.hospital.folder
    place = "" if folder == FOLDER else f" --folder {folder}"
    asked = f" --confidences {made.confidences}" if made.confidences.is_dir() else ""
    return [
        f"sentinel evaluate {made.runs} --pools {made.pools} \\\n"
        f"    --labels {made.labels} --monitor {made.monitor} \\\n"
        f"    --rivals{asked} --out {folder / 'evaluation'}",
        f"sentinel report {folder / 'evaluation'} --out {folder / 'report'}",
        f"sentinel show {made.runs} {shown[-1] if shown else 'QUESTION_ID'} \\\n"
        f"    --monitor {made.monitor}",
        f"sentinel ask --recorded{place}",
        f'sentinel ask "how many patients are there?"{place} \\\n    --base-url URL --model NAME',
    ]


def _closing(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    others, runs = document["without_answer"], document["evaluation"]["counts"]["runs"]
    yield Text(
        f"\nIn the other {others} of {runs} held-out runs the agent itself gave no answer.",
        style="dim",
    )
    yield Text(f"\nAll that was made is in {document['folder']}.")
    for line in call_hint():
        yield Text(line, no_wrap=True, overflow="ignore")
    yield Text("Next:")
    for command in document["next"]:
        # Users paste these commands, so a long path is never wrapped.
        yield Text(f"  {command}", no_wrap=True, overflow="ignore")
