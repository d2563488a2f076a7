"""`sentinel rivals`: asks the agent's own model how sure it is of its recorded answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
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
    react_agent,
)
from sentinel_sql.cli.options import (
    DatabaseAddress,
    MemoryMegabytes,
    Mode,
    ResultMegabytes,
    ResultRows,
    Seconds,
    Store,
    limits_of,
)
from sentinel_sql.cli.output import AsJson, emit, facts, fail_if_all_failed, progress, say
from sentinel_sql.cli.verbs.evaluate import Pool

if TYPE_CHECKING:
    from sentinel_sql.agent.react import ReactAgent
    from sentinel_sql.database.equivalence import Equivalence
    from sentinel_sql.rivals.ask_confidences import AskSummary
    from sentinel_sql.rivals.ask_costs import Cost
    from sentinel_sql.rivals.self_report_questions import Asker
    from sentinel_sql.trajectory.record import Trajectory

app = typer.Typer(
    help="Confidences of the agent's own model, to compare with the monitor's.",
    no_args_is_help=True,
)


class Methods(StrEnum):
    """The methods, as written on the command line."""

    p_true = "p-true"
    verbalized = "verbalized"
    single_turn = "single-turn"
    self_consistency = "self-consistency"


EXAMPLE = (
    "Example: sentinel rivals collect runs/qwen --pools pools.json --database mimic_iv.sqlite "
    "--base-url http://127.0.0.1:8000/v1 --model qwen2.5-coder-7b --out confidences/"
)


@app.command("collect", epilog=EXAMPLE)
def collect(
    store: Store,
    database: DatabaseAddress,
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="The endpoint of the recorded runs.")
    ],
    model: Annotated[str, typer.Option(metavar="NAME", help="Name of the agent's model.")],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Made if absent; an existing one is resumed.")
    ],
    method: Annotated[
        list[Methods] | None,
        typer.Option(
            help="How to ask; repeat for more. single-turn samples the last turn alone, "
            "self-consistency the whole run.  [p-true, verbalized and self-consistency]"
        ),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Samples for each answer.")] = 5,
    temperature: Annotated[float, typer.Option(min=0.01, help="Sampling temperature.")] = 0.7,
    mode: Mode = "sentinel-1",
    pools: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Ask only about the calibration and held-out pools; rivals need no train pool.",
        ),
    ] = None,
    pool: Annotated[
        list[Pool] | None, typer.Option(help="With --pools: other pools; repeat for more.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Most answers of this call.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the cost.")] = False,
    workers: Annotated[int, typer.Option(min=1, help="Answers asked about at the same time.")] = 1,
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
    seconds: Seconds = 30.0,
    result_rows: ResultRows = 10_000,
    result_mb: ResultMegabytes = 64,
    memory_mb: MemoryMegabytes = 1_000,
    as_json: AsJson = False,
) -> None:
    """Ask the agent's model about its recorded answers: P(True), a stated confidence, new samples.

    Give the same options as for collecting the runs. The replies are kept, so that `sentinel
    evaluate --rivals --confidences DIR` calls no model.
    """
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.labels.strict import mode_named
    from sentinel_sql.rivals.ask_confidences import answers_of, ask_confidences
    from sentinel_sql.rivals.ask_costs import costs
    from sentinel_sql.rivals.confidences import METHODS, held_in

    wanted = {each.value for each in method or _DEFAULT}
    chosen = [name for name in METHODS if name in wanted]
    runs = _runs(store, pools, [each.value for each in pool or ()])
    with (
        open_database(
            database,
            clock=runs[0].question.clock if runs else None,
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
        ) as agent,
    ):
        answers = answers_of(runs, agent)
        expected = costs(answers, chosen, samples=samples, held=held_in(out), limit=limit)
        for cost in expected:
            say(_cost_line(cost))
        document: dict[str, Any] = {"expected": [asdict(cost) for cost in expected]}
        if dry_run:
            emit(document, as_json=as_json, tables=list)
            return
        settings = {"base_url": base_url, "model": model, "timeout": timeout, "retries": retries}
        with (
            _asker(
                agent,
                mode_named(mode),
                settings,
                max_tokens=max_tokens,
                samples=samples,
                temperature=temperature,
            ) as asker,
            progress("records") as advance,
        ):
            summary = ask_confidences(
                answers,
                asker,
                chosen,
                store=out,
                workers=workers,
                limit=limit,
                on_progress=advance,
            )
    document |= {**asdict(summary), "store": str(summary.store)}
    emit(document, as_json=as_json, tables=lambda: [_table(summary)])
    if summary.interrupted:
        raise KeyboardInterrupt
    fail_if_all_failed("confidences", done=sum(summary.done.values()), failed=summary.failed)


_DEFAULT = (Methods.p_true, Methods.verbalized, Methods.self_consistency)


@app.command(
    "attach",
    epilog="Example: sentinel rivals attach runs/qwen --confidences confidences/ "
    "--store runs/qwen-asked",
)
def attach(
    store: Store,
    confidences: Annotated[
        Path, typer.Option(metavar="DIR", help="Made by `sentinel rivals collect`.")
    ],
    into: Annotated[
        Path,
        typer.Option("--store", metavar="NEW", help="The new store; made if absent, else resumed."),
    ],
    as_json: AsJson = False,
) -> None:
    """Write collected P(True) into the runs, in a new store, so that a monitor weighs it."""
    from sentinel_sql.rivals.attach_confidences import attach_confidences

    with progress("runs") as advance:
        made = attach_confidences(store, confidences, store=into, on_progress=advance)
    emit(
        {**asdict(made), "store": str(made.store)},
        as_json=as_json,
        tables=lambda: [
            facts(
                f"Attached into {into}",
                {
                    "runs": made.runs,
                    "answers with P(True)": made.answers,
                    "answers without": made.without,
                    "about another answer, left out": made.other or None,
                },
            )
        ],
    )


def _runs(store: Path, pools: Path | None, named: Sequence[str]) -> list[Trajectory]:
    from sentinel_sql.errors import InputError
    from sentinel_sql.questions.pools import Pools
    from sentinel_sql.trajectory.store import read_trajectories

    if pools is None:
        if named:
            raise InputError("--pool needs a pools file: give it with --pools")
        return list(read_trajectories(store))
    manifest = Pools.read(pools)
    wanted = named or ("calibration", "heldout")
    return [run for run in read_trajectories(store) if manifest.pool_of(run.question.id) in wanted]


@contextmanager
def _asker(
    agent: ReactAgent,
    mode: Equivalence,
    settings: Mapping[str, Any],
    *,
    max_tokens: int,
    samples: int,
    temperature: float,
) -> Iterator[Asker]:
    from sentinel_sql.agent.openai import OpenAIModel
    from sentinel_sql.agent.self_report import ALTERNATIVES, NUMBER_TOKENS, WORD_TOKENS
    from sentinel_sql.rivals.self_report_questions import Asker

    with ExitStack() as open_models:

        def model(**more: Any) -> OpenAIModel:
            return open_models.enter_context(OpenAIModel(**settings, **more))

        yield Asker(
            agent=agent,
            word=model(max_tokens=WORD_TOKENS, top=ALTERNATIVES),
            number=model(max_tokens=NUMBER_TOKENS),
            samplers=[
                model(max_tokens=max_tokens, temperature=temperature, seed=seed)
                for seed in range(1, samples + 1)
            ],
            mode=mode,
        )


def _cost_line(cost: Cost) -> str:
    tokens = (
        "tokens unknown"
        if cost.prompt_tokens is None or cost.completion_tokens is None
        else f"{cost.prompt_tokens:,} tokens read and {cost.completion_tokens:,} written"
    )
    pace = "" if cost.seconds is None else f", {cost.seconds / 60:.0f} min at the recorded pace"
    return f"{cost.method}: {cost.records} answers, {cost.calls} calls, {tokens}{pace}"


def _table(summary: AskSummary) -> Any:
    return facts(
        f"Confidences in {summary.store}",
        {
            "answers": summary.answers,
            "recorded": dict(summary.done),
            "there before": summary.already_there,
            "failed": sum(summary.failed.values()),
            **{f"  {count} ×": reason for reason, count in summary.failed.items()},
            "still to do": summary.missing,
            "calls": summary.calls,
            "tokens read": summary.prompt_tokens,
            "tokens written": summary.completion_tokens,
            "model minutes": f"{summary.seconds / 60:.1f}",
        },
    )
