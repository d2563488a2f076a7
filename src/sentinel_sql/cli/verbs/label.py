"""`sentinel label`: labels every recorded run as answered correctly or not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.options import (
    DATABASE_KINDS,
    MemoryMegabytes,
    OptionalMode,
    ResultMegabytes,
    ResultRows,
    RunsClock,
    Seconds,
    Store,
    limits_of,
)
from sentinel_sql.cli.output import AsJson, emit, facts, fail_if_all_failed, progress, say

if TYPE_CHECKING:
    from sentinel_sql.database.executor import Database
    from sentinel_sql.pipeline.label import Labelling
    from sentinel_sql.pipeline.llm_label import Cost, PreparedCases
    from sentinel_sql.pipeline.rating_labels import RatedLabelling
    from sentinel_sql.questions.record import Question
    from sentinel_sql.trajectory.record import Trajectory


class Judge(StrEnum):
    """The judges, as written on the command line."""

    strict = "strict"
    rules = "rules"
    llm = "llm"


EXAMPLE = (
    "Example: sentinel label runs/qwen --questions valid.jsonl --database mimic_iv.sqlite "
    "--judge rules --out labels.jsonl"
)


def label(
    store: Store,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the labels are written.")],
    questions: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A question file with gold SQL or gold answers; repeat for more. --ratings needs "
            "none.",
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="DB",
            help=f"The runs' database, opened read-only: {DATABASE_KINDS}. --ratings needs none.",
        ),
    ] = None,
    ratings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="People's ratings instead of a judge: a CSV with the columns run (or id) and "
            "rating, and perhaps rater and answerable.",
        ),
    ] = None,
    judge: Annotated[
        Judge,
        typer.Option(
            help="strict: the data set's own comparison. rules: also accepts what a careful reader "
            "would accept. llm: also accepts what a language model accepts."
        ),
    ] = Judge.rules,
    mode: OptionalMode = None,
    clock: RunsClock = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="llm: an OpenAI-compatible endpoint, ending in /v1."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="llm: name of the judging model.")
    ] = None,
    rows: Annotated[
        int,
        typer.Option(
            min=0,
            help="llm: most rows of each result that the judge gets; 0 sends only their number.",
        ),
    ] = 20,
    price: Annotated[
        float | None,
        typer.Option(min=0, help="llm: price of a million tokens, to show the cost first."),
    ] = None,
    verdicts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="llm: file of the verdicts, to resume from.  [beside the labels]",
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="llm: calls at the same time.")] = 4,
    timeout: Annotated[float, typer.Option(help="llm: seconds that one call may take.")] = 120.0,
    retries: Annotated[
        int, typer.Option(min=0, help="llm: how often a failed call is tried again.")
    ] = 4,
    yes: Annotated[
        bool, typer.Option("--yes", help="llm: start without asking, as scripts must.")
    ] = False,
    seconds: Seconds = 30.0,
    result_rows: ResultRows = 10_000,
    result_mb: ResultMegabytes = 64,
    memory_mb: MemoryMegabytes = 1_000,
    as_json: AsJson = False,
) -> None:
    """Label every recorded run as correct or not.

    The answer's query is run and compared with the result of the gold SQL or, where a question has
    none, with its gold answer. With --ratings nothing is run, and people's ratings decide.

    The llm judge asks for confirmation before it starts, and resumes where it stopped. Its API key
    is read from OPENAI_API_KEY.
    """
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.errors import InputError
    from sentinel_sql.labels.file import check_place
    from sentinel_sql.labels.strict import mode_of
    from sentinel_sql.pipeline.label import label_runs
    from sentinel_sql.pipeline.llm_label import prepare
    from sentinel_sql.questions.read import read_questions
    from sentinel_sql.trajectory.store import read_trajectories

    check_place(out)
    if ratings is not None:
        if judge is Judge.llm:
            raise InputError("--ratings are people's, so they need no --judge llm: leave one out")
        rated = _label_by_ratings(store, ratings, questions, database, clock)
        _write(out, rated, rated.to_json(), as_json=as_json)
        return
    if questions is None or database is None:
        raise InputError(
            "label compares answers, which needs --questions and --database: give both, or "
            "people's ratings with --ratings"
        )
    endpoint = None
    if judge is Judge.llm:
        if base_url is None or model is None:
            raise InputError(
                "the llm judge needs an endpoint: give it with --base-url and --model, or choose "
                "--judge rules"
            )
        endpoint = (base_url, model)
    kept = verdicts or out.with_name(out.name + ".verdicts")
    if kept.resolve() == out.resolve():
        raise InputError(f"{out} can't hold both labels and verdicts: name another --verdicts")
    records: list[Question] = read_questions(questions)
    runs = list(read_trajectories(store))
    clocks = {run.question.clock for run in runs} - {None}
    if clock is None and len(clocks) == 1:
        clock = clocks.pop()  # an answer is judged at the database's time of its run
    with (
        open_database(
            database,
            clock=clock,
            limits=limits_of(
                seconds=seconds, rows=result_rows, megabytes=result_mb, memory=memory_mb
            ),
        ) as opened,
        progress("runs") as advance,
    ):
        check_database(opened, store, runs)
        mode = mode_of(records, opened.name) if mode is None else mode
        if endpoint is not None:
            prepared = prepare(runs, records, opened, mode, rows=rows, on_progress=advance)
        else:
            made = label_runs(runs, records, opened, judge.value, mode, on_progress=advance)
            document = made.to_json()
    if endpoint is not None:
        made, document = _label_by_model(
            prepared,
            kept,
            base_url=endpoint[0],
            model=endpoint[1],
            rows=rows,
            price=price,
            workers=workers,
            timeout=timeout,
            retries=retries,
            yes=yes,
        )
    _write(out, made, document, as_json=as_json)
    failed: dict[str, int] = document.get("failed", {})
    judged = document.get("asked", 0) - sum(failed.values())
    fail_if_all_failed("verdicts of the model", done=judged, failed=failed)


def _write(out: Path, made: Labelling, counts: dict[str, Any], *, as_json: bool) -> None:
    """Write the labels, and show their counts."""
    from sentinel_sql.labels.file import write_labels

    write_labels(out, made.header, made.labels)
    document = {**counts, "out": str(out)}
    emit(document, as_json=as_json, tables=lambda: [facts("Labels", document)])


def _label_by_ratings(
    store: Path,
    ratings: Path,
    questions: list[Path] | None,
    database: str | None,
    clock: str | None,
) -> RatedLabelling:
    """Label by people's ratings, and name the ratings that couldn't be used."""
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.pipeline.rating_labels import NAMED, label_by_ratings
    from sentinel_sql.questions.read import read_questions
    from sentinel_sql.trajectory.store import read_trajectories

    records = None if questions is None else read_questions(questions)
    runs = list(read_trajectories(store))
    with nullcontext() if database is None else open_database(database, clock=clock) as opened:
        if opened is not None:
            check_database(opened, store, runs)
        made = label_by_ratings(runs, ratings, questions=records, database=opened, clock=clock)
    for ids, fault in (
        (made.strangers, "of no run of this store"),
        (made.several_runs, "of a question with several runs, so of no single answer"),
    ):
        if ids:
            named = ", ".join(ids[:NAMED]) + (" …" if len(ids) > NAMED else "")
            say(f"sentinel: {len(ids)} rated ids are {fault}, and weren't used: {named}")
    if opened is None:
        say(
            "sentinel: without --database the labels hold no schema, so a monitor that is fitted "
            "on them can't check the names of tables and columns"
        )
    return made


def _label_by_model(
    prepared: PreparedCases,
    verdicts: Path,
    *,
    base_url: str,
    model: str,
    rows: int,
    price: float | None,
    workers: int,
    timeout: float,
    retries: int,
    yes: bool,
) -> tuple[Labelling, dict[str, Any]]:
    """Show the cost, ask for confirmation, and let the model judge; return labels and counts."""
    from sentinel_sql.address import shown_address
    from sentinel_sql.agent.openai import OpenAIModel
    from sentinel_sql.labels.verdicts import VerdictLog
    from sentinel_sql.pipeline.llm_label import LONGEST_REPLY, estimate, label_by_model

    with VerdictLog.open(verdicts) as log:
        pending = prepared.pending(log, model)
        cost = estimate(pending, price=price)
        if pending:
            say(_cost_line(cost, len(prepared.cases), shown_address(base_url), model, rows))
            _confirm(yes)
        with (
            OpenAIModel(
                base_url=base_url,
                model=model,
                max_tokens=LONGEST_REPLY,
                stop=(),
                timeout=timeout,
                retries=retries,
            ) as judge,
            progress("answers judged") as advance,
        ):
            done = label_by_model(prepared, judge, log, workers=workers, on_progress=advance)
    return done.labelling, {**done.to_json(), "verdicts": str(verdicts)}


def _cost_line(cost: Cost, cases: int, base_url: str, model: str, rows: int) -> str:
    sent = (
        f"up to {rows} rows of each result, which may be patients' data,"
        if rows
        else "the number of rows of each result, but no row,"
    )
    money = "" if cost.price is None else f", which cost about {cost.price:.4g}"
    return (
        f"sentinel: {cost.calls} of {cases} answers are still to be judged by {model} at "
        f"{base_url}: {cost.calls} calls (at most {cost.most_calls}), about "
        f"{cost.prompt_tokens:,} tokens read and {cost.completion_tokens:,} written{money}. "
        f"Questions, queries and {sent} are sent there."
    )


def _confirm(yes: bool) -> None:
    from sentinel_sql.errors import InputError

    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError(
            "the llm judge asks for confirmation, but stdin is no terminal: add --yes to "
            "agree to the calls, the cost and what is sent"
        )
    if not typer.confirm("Start?", err=True):
        say("sentinel: nothing was sent")
        raise typer.Exit(1)


def check_database(opened: Database, store: Path, runs: Sequence[Trajectory]) -> None:
    """Refuse a database of another schema than the store's; warn if its name differs."""
    from sentinel_sql.errors import LabelsError
    from sentinel_sql.trajectory.manifest import read_manifest

    manifest = read_manifest(store)
    if manifest is not None and manifest.schema_sha256 not in (None, opened.schema.sha256):
        raise LabelsError(
            f"the runs in {store} were made over a database of another schema than "
            f"{opened.name}'s: give their database with --database"
        )
    names = {run.question.database for run in runs} - {None, opened.name}
    if names:
        say(
            f"sentinel: the runs were made over {', '.join(sorted(map(str, names)))} and are "
            f"judged over {opened.name}: the labels hold only if the content is the same"
        )
