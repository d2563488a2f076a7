"""`sentinel collect`: runs the agent over questions and records every run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    DatabaseAddress,
    MemoryMegabytes,
    QuestionFiles,
    ResultMegabytes,
    ResultRows,
    Seconds,
    limits_of,
)
from sentinel_sql.cli.output import AsJson, emit, facts, fail_if_all_failed, say, terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sentinel_sql.pipeline.collect import CollectSummary, Progress

SECONDS_BETWEEN_LINES = 30.0

EXAMPLE = (
    "Example: sentinel collect --questions valid.jsonl --database mimic_iv.sqlite "
    "--base-url http://127.0.0.1:8000/v1 --model qwen2.5-coder-7b --store runs/qwen --workers 8"
)


def collect(
    questions: QuestionFiles,
    database: DatabaseAddress,
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="An OpenAI-compatible endpoint, ending in /v1.")
    ],
    model: Annotated[str, typer.Option(metavar="NAME", help="Name of the model.")],
    store: Annotated[
        Path, typer.Option(metavar="DIR", help="Made if absent; an existing one is resumed.")
    ],
    workers: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 4,
    limit: Annotated[int | None, typer.Option(min=1, help="Most new runs of this call.")] = None,
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
    temperature: Annotated[
        float, typer.Option(min=0.0, help="Sampling temperature; 0 always takes the likeliest.")
    ] = 0.0,
    seed: Annotated[
        int,
        typer.Option(
            help="Sampling seed. For several samples of a question, one store each, with other "
            "seeds."
        ),
    ] = 0,
    clock: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The database's own current time, 'YYYY-MM-DD HH:MM:SS'. A store keeps the time "
            "of its first runs. In a new store, known databases have their own time, and others "
            "use this machine's time.",
        ),
    ] = None,
    probes: Annotated[
        bool,
        typer.Option(
            "--probes",
            help="Also record a few small counts beside each query; the agent never sees them.",
        ),
    ] = False,
    seconds: Seconds = 30.0,
    result_rows: ResultRows = 10_000,
    result_mb: ResultMegabytes = 64,
    memory_mb: MemoryMegabytes = 1_000,
    as_json: AsJson = False,
) -> None:
    """Run the agent over questions and record every run; resumes where it stopped.

    The API key is read from OPENAI_API_KEY. Interrupt it at any time: finished runs are kept.
    Failed runs are counted, and tried again by the next call. If all failed, the exit code is 4.
    """
    from sentinel_sql.agent.openai import OpenAIModel
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.pipeline.collect import collect as collect_runs
    from sentinel_sql.questions.read import read_questions
    from sentinel_sql.trajectory.manifest import read_manifest

    records = read_questions(questions)
    kept = read_manifest(store)
    if clock is None and kept is not None:
        clock = kept.clock  # this machine's time has moved on since
    with (
        open_database(
            database,
            clock=clock,
            limits=limits_of(
                seconds=seconds, rows=result_rows, megabytes=result_mb, memory=memory_mb
            ),
        ) as opened,
        react_agent(
            opened,
            base_url=base_url,
            model=model,
            prompt=prompt,
            notes=notes_of(notes),
            examples=examples_of(examples),
            max_steps=max_steps,
            max_tokens=max_tokens,
            timeout=timeout,
            retries=retries,
            commit_on_error=commit_on_error,
            index=index,
            index_columns=index_columns,
            tables=tables,
            schema=schema,
            temperature=temperature,
            seed=seed,
        ) as agent,
        prober_of(database, opened.clock, wanted=probes) as prober,
        _progress() as advance,
    ):
        summary = collect_runs(
            records,
            agent,
            opened,
            store=store,
            workers=workers,
            limit=limit,
            prober=prober,
            on_progress=advance,
        )
    document = {
        **asdict(summary),
        "store": str(summary.store),
        "gaps": list(summary.gaps),
        "forgotten": list(summary.forgotten),
    }
    if isinstance(agent.model, OpenAIModel) and agent.model.adapted:
        say(f"sentinel: the endpoint refuses a field: {', '.join(agent.model.adapted)}")
    emit(document, as_json=as_json, tables=lambda: [_table(summary)])
    if summary.interrupted:
        raise KeyboardInterrupt
    fail_if_all_failed("runs", done=summary.done, failed=summary.failed)


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """Show progress on stderr: a live bar on a terminal, otherwise a line every 30 seconds."""
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    console = terminal(stderr=True)
    with Live(console=console, transient=True, auto_refresh=False) as live:
        last_line, ended = 0.0, False

        def advance(now: Progress) -> None:
            nonlocal last_line, ended
            left = "?" if now.seconds_left is None else f"{now.seconds_left / 60:.0f} min"
            line = (
                f"{now.done} of {now.total} recorded, {now.rate * 60:.1f} a minute, {left} left, "
                f"{now.failed} failed"
            )
            if console.is_terminal:
                row = Table.grid(padding=(0, 1))
                row.add_row(
                    ProgressBar(total=now.total, completed=now.done + now.failed, width=20), line
                )
                live.update(row, refresh=True)
                return
            complete = (
                now.done + now.failed == now.total and not ended
            )  # several workers may report it
            if complete or now.seconds - last_line >= SECONDS_BETWEEN_LINES:
                last_line, ended = now.seconds, ended or complete
                say(line)

        yield advance


_NOTES = {
    "cut-by-length": "replies cut at --max-tokens",
    "cut-by-filter": "replies cut by a content filter",
    "cut-by-fault": "replies cut by a fault of the server",
    "telemetry-unread": "replies with impossible log-probabilities",
}


def _table(summary: CollectSummary) -> RenderableType:
    first_gaps = ", ".join(summary.gaps[:5]) + (" …" if len(summary.gaps) > 5 else "")
    return facts(
        f"Collected in {summary.store}",
        {
            "recorded": summary.done,
            "there before": summary.already_there,
            "forgotten, not asked": len(summary.forgotten) or None,
            "failed": sum(summary.failed.values()),
            **{f"  {count} ×": reason for reason, count in summary.failed.items()},
            "gaps": f"{len(summary.gaps)} of {summary.asked} questions"
            + (f": {first_gaps}" if summary.gaps else ""),
            "steps": summary.steps,
            "tokens read": summary.prompt_tokens,
            "tokens written": summary.completion_tokens,
            **{_NOTES[note]: count for note, count in sorted(summary.notes.items())},
            "minutes": f"{summary.seconds / 60:.1f}",
        },
    )
