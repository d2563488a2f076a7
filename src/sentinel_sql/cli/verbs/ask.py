"""`sentinel ask`: asks one question under guard, and shows each step and decision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.agents import (
    CommitOnError,
    Examples,
    IndexColumns,
    IndexFile,
    MaxSteps,
    MaxTokens,
    Notes,
    PromptName,
    Retries,
    SchemaName,
    Tables,
    Timeout,
    examples_of,
    notes_of,
    prober_of,
    react_agent,
)
from sentinel_sql.cli.options import (
    DATABASE_KINDS,
    MemoryMegabytes,
    ResultMegabytes,
    ResultRows,
    Seconds,
    limits_of,
)
from sentinel_sql.cli.output import AsJson, emit, say, terminal
from sentinel_sql.cli.settings import is_on_command_line
from sentinel_sql.cli.verbs.demo import FOLDER

if TYPE_CHECKING:
    from rich.console import Console

    from sentinel_sql.agent.react import ReactAgent
    from sentinel_sql.database.executor import Database, Limits
    from sentinel_sql.decision.guard import Guard
    from sentinel_sql.pipeline.demo import DemoFolder

EXAMPLE = (
    'Example: sentinel ask "how many patients got heparin this year?" '
    "--base-url http://127.0.0.1:8080/v1 --model qwen2.5-coder-7b"
)
NO_ENDPOINT = """\
sentinel: no endpoint to ask. Start one, such as
  llama-server -m MODEL.gguf --port 8080
and give --base-url http://127.0.0.1:8080/v1 --model NAME, or set
SENTINEL_BASE_URL and SENTINEL_MODEL. Or guard a recorded run, without a model:
  sentinel ask --recorded"""


class OnUnavailable(StrEnum):
    """What happens if the monitor can't judge, as written on the command line."""

    withhold = "withhold"
    deliver = "deliver"


def ask(
    context: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION", help="The question; with --recorded, its id."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="DB", help=f"Your database, {DATABASE_KINDS}.  [the hospital]"),
    ] = None,
    monitor: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The bundle of your agent.  [the hospital's]"),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            envvar="SENTINEL_BASE_URL",
            help="An OpenAI-compatible endpoint, ending in /v1.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", envvar="SENTINEL_MODEL", help="Name of the model."),
    ] = None,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Guard a recorded run of the hospital instead.")
    ] = False,
    stakes: Annotated[float, typer.Option(min=0.0, help="λ, what a wrong answer costs.")] = 1.0,
    early_stop: Annotated[
        bool, typer.Option(help="Also stop runs early that are unlikely to succeed.")
    ] = False,
    certified: Annotated[
        bool,
        typer.Option(
            "--certified",
            help="Deliver only where the calibration runs prove that it beats silence.",
        ),
    ] = False,
    no_gate: Annotated[
        bool, typer.Option("--no-gate", help="Switch off the monitor's gate.")
    ] = False,
    on_unavailable: Annotated[
        OnUnavailable, typer.Option(help="What to do if the monitor can't judge.")
    ] = OnUnavailable.withhold,
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of `sentinel demo`; made if needed.")
    ] = FOLDER,
    prompt: PromptName = "guided",
    notes: Notes = None,
    examples: Examples = None,
    index: IndexFile = None,
    index_columns: IndexColumns = None,
    tables: Tables = None,
    schema: SchemaName = None,
    max_steps: MaxSteps = 8,
    max_tokens: MaxTokens = 512,
    timeout: Timeout = 120.0,
    retries: Retries = 4,
    commit_on_error: CommitOnError = False,
    clock: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="The database's own current time.  [that of the monitor's runs]"
        ),
    ] = None,
    seconds: Seconds = 30.0,
    result_rows: ResultRows = 10_000,
    result_mb: ResultMegabytes = 64,
    memory_mb: MemoryMegabytes = 1_000,
    as_json: AsJson = False,
) -> None:
    """Ask one question, guarded: the answer is shown only if the monitor lets it pass.

    A monitor is for one agent. If model, prompt or step cap differ from those of the fit, it can't
    judge, and nothing is delivered unless you choose --on-unavailable deliver.
    """
    from sentinel_sql.cli.recorded_runs import RecordedRuns
    from sentinel_sql.cli.watch import closing
    from sentinel_sql.errors import EndpointError, InputError
    from sentinel_sql.trajectory.record import AskedQuestion

    console = None if as_json else terminal()
    if recorded:
        if is_on_command_line(context, "database") or is_on_command_line(context, "monitor"):
            raise InputError(
                "--recorded replays runs over the hospital: leave out --database and --monitor"
            )
        with RecordedRuns.open(
            _demo(folder), stakes=stakes, early_stop=early_stop, gate=not no_gate
        ) as recorded_runs:
            _say_rules(recorded_runs.guard, console)
            document = recorded_runs.replay(question or recorded_runs.first(), console=console)
        emit(document, as_json=as_json, tables=list)
        return
    if question is None or AskedQuestion(id="live", text=question).is_wordless:
        raise InputError('no question: give one, such as "how many patients are there?"')
    if database is not None and monitor is None:
        raise InputError(
            "no monitor for this database: give your agent's bundle with --monitor (made by "
            "`sentinel fit`)"
        )
    if base_url is None or model is None:
        say(NO_ENDPOINT)
        raise typer.Exit(EndpointError.exit_code)
    with (
        _setting(
            database,
            monitor,
            folder=folder,
            clock=clock,
            limits=limits_of(
                seconds=seconds, rows=result_rows, megabytes=result_mb, memory=memory_mb
            ),
        ) as setting,
        react_agent(
            setting.database,
            base_url=base_url,
            model=model,
            prompt=prompt,
            notes=setting.notes if notes is None else notes_of(notes),
            examples=setting.examples if examples is None else examples_of(examples),
            max_steps=max_steps,
            max_tokens=max_tokens,
            timeout=timeout,
            retries=retries,
            commit_on_error=commit_on_error,
            index=index,
            index_columns=index_columns,
            tables=tables,
            schema=schema,
        ) as agent,
    ):
        document = _ask_agent(
            question,
            agent,
            setting,
            console=console,
            stakes=stakes,
            gate=not no_gate,
            early_stop=early_stop,
            certified=certified,
            on_unavailable=on_unavailable,
        )
    emit(document, as_json=as_json, tables=lambda: closing(document))


@dataclass(frozen=True, kw_only=True)
class _Setting:
    """The database and monitor of a question, and the agent's default notes and examples."""

    database: Database
    address: str
    monitor: Path
    notes: str | None = None
    examples: Sequence[str] | None = None


@contextmanager
def _setting(
    database: str | None,
    monitor: Path | None,
    *,
    folder: Path,
    clock: str | None,
    limits: Limits,
) -> Iterator[_Setting]:
    from sentinel_sql.database.clock import KNOWN_CLOCKS
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.hospital.briefing import EXAMPLES, NOTES
    from sentinel_sql.hospital.folder import HospitalFolder
    from sentinel_sql.monitor.bundle import load

    if database is not None and monitor is not None:
        if clock_of_runs := clock is None:
            clock = load(monitor).estimators.clock
        with open_database(database, clock=clock, limits=limits) as opened:
            if clock_of_runs and opened.name.lower() not in KNOWN_CLOCKS:
                say(f"sentinel: the database's time is {clock}, as in the monitor's runs")
            yield _Setting(database=opened, address=database, monitor=monitor)
        return
    if monitor is None:
        made = _demo(folder)
        monitor, hospital = made.monitor, made.hospital
    else:
        hospital = HospitalFolder.at(folder)
        if not hospital.database.is_file():
            HospitalFolder.write(folder)
    with open_database(hospital.database, clock=clock, limits=limits) as opened:
        yield _Setting(
            database=opened,
            address=str(hospital.database),
            monitor=monitor,
            notes=NOTES,
            examples=EXAMPLES,
        )


def _demo(folder: Path) -> DemoFolder:
    """Return the demo's folder; it is built first if it doesn't exist."""
    from sentinel_sql.hospital.recordings import recording
    from sentinel_sql.pipeline.demo import build, find_demo

    return find_demo(folder) or build(folder, runs=recording(), on_stage=say)


def _ask_agent(
    text: str,
    agent: ReactAgent,
    setting: _Setting,
    *,
    console: Console | None,
    stakes: float,
    gate: bool,
    early_stop: bool,
    certified: bool,
    on_unavailable: OnUnavailable,
) -> dict[str, Any]:
    """Run the agent under guard, and fetch the answer's rows if it is delivered."""
    from rich.text import Text

    from sentinel_sql.cli.watch import answer_json, follow, no_screen, rules_json, screen
    from sentinel_sql.database.executor import time_zone_of
    from sentinel_sql.decision.guard import Guard
    from sentinel_sql.pipeline.probe import probe_step
    from sentinel_sql.trajectory.record import AskedQuestion

    database = setting.database
    guard = Guard.load(
        setting.monitor,
        stakes=stakes,
        gate=gate,
        early_stop=early_stop,
        certified=certified,
        on_unavailable=on_unavailable.value,
        agent=agent.info,
        schema=database.schema,
        clock=database.clock,
        dialect=database.dialect,
        time_zone=time_zone_of(database),
    )
    record = AskedQuestion(
        id="live",
        text=text,
        database=database.name,
        clock=database.clock,
        dialect=database.dialect,
        time_zone=time_zone_of(database),
    )
    _say_rules(guard, console)
    if console is not None:
        console.print(Text(text, style="bold"))
    seen = no_screen() if console is None else screen(console, pace=0.0)
    facts = guard.monitor.facts
    probed, covered = bool(facts.get("probed")), bool(facts.get("covered"))
    with (
        prober_of(setting.address, database.clock, wanted=probed or covered) as prober,
        guard.session(record, grounder=None if prober is None else prober.grounder) as session,
        seen as show,
    ):
        steps = agent.steps(record)
        if prober is not None and probed:
            steps = (probe_step(step, prober, live=True) for step in steps)
        answer, states = follow(session, steps, show)
    result = None if answer.final_sql is None else database.execute(answer.final_sql)
    return {
        "question": text,
        "database": database.name,
        "agent": agent.info.fingerprint,
        "monitor_agent": guard.monitor.agent,
        "clock": database.clock,
        "monitor_clock": guard.monitor.estimators.clock,
        **rules_json(guard),
        "states": [state.to_json() for state in states],
        "answer": answer_json(answer),
        "result": None
        if result is None
        else {
            "columns": list(result.columns),
            "rows": [[_cell(cell) for cell in row] for row in result.rows],
            "truncated": result.truncated,
            "error": result.error,
        },
    }


def _say_rules(guard: Guard, console: Console | None) -> None:
    from rich.text import Text

    from sentinel_sql.report.terminal.gauges import rules

    if guard.stakes_message is not None:
        say(f"sentinel: {guard.stakes_message}")
    if console is not None:
        console.print(Text(rules(guard.policy, early_stop=guard.early_stop), style="dim"))


def _cell(cell: object) -> object:
    if isinstance(cell, float) and not math.isfinite(cell):
        return str(cell)  # JSON has no such number
    return cell.hex() if isinstance(cell, bytes) else cell
