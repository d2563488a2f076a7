"""Sets up the ReAct agent, and holds the options that the verbs which run it share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentinel_sql.cli.output import say

if TYPE_CHECKING:
    from sentinel_sql.agent.react import ReactAgent
    from sentinel_sql.database.executor import Database
    from sentinel_sql.database.probes.probe import Prober
    from sentinel_sql.database.value_index.index import ValueIndex

PromptName = Annotated[
    str, typer.Option("--prompt", metavar="NAME", help="guided, grounded or plain.")
]
IndexFile = Annotated[
    Path | None,
    typer.Option(
        "--index",
        metavar="FILE",
        help="With --prompt grounded: the value index.  [beside the database's file, else in your "
        "cache]",
    ),
]
IndexColumns = Annotated[
    str | None,
    typer.Option(
        "--index-columns",
        metavar="NAMES",
        help="With --prompt grounded: also index these columns, as table.column,…, although they "
        "may identify people.",
    ),
]
Tables = Annotated[
    str | None,
    typer.Option(
        "--tables",
        metavar="NAMES",
        help="Show the agent these tables only, as table,table.  [all]",
    ),
]
SchemaName = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="NAME",
        help="Show the agent the tables of this database schema only.  [all]",
    ),
]
Notes = Annotated[
    Path | None,
    typer.Option(
        "--notes", metavar="FILE", help="Facts about this database for the agent, as text."
    ),
]
Examples = Annotated[
    Path | None,
    typer.Option(
        "--examples",
        metavar="FILE",
        help="Worked examples as text, separated by empty lines.  [made from the schema]",
    ),
]
MaxSteps = Annotated[int, typer.Option("--max-steps", min=1, help="The step cap.")]
MaxTokens = Annotated[int, typer.Option("--max-tokens", min=16, help="Longest reply, in tokens.")]
Timeout = Annotated[float, typer.Option("--timeout", help="Seconds that one model call may take.")]
Retries = Annotated[
    int, typer.Option("--retries", min=0, help="How often a failed call is tried again.")
]
CommitOnError = Annotated[
    bool,
    typer.Option(
        "--commit-on-error/--no-commit-on-error",
        help="Count a final query that fails as an answer.",
    ),
]


@contextmanager
def react_agent(
    database: Database,
    *,
    base_url: str,
    model: str,
    prompt: str,
    notes: str | None,
    examples: Sequence[str] | None,
    max_steps: int,
    max_tokens: int,
    timeout: float,
    retries: int,
    commit_on_error: bool,
    index: Path | None,
    index_columns: str | None,
    tables: str | None,
    schema: str | None,
    temperature: float = 0.0,
    seed: int = 0,
) -> Iterator[ReactAgent]:
    """Set up the agent, and close its connections at the end.

    Raises:
        InputError: there is no such prompt, table or database schema.
        EndpointError: `base_url` is no address.
    """
    from sentinel_sql.agent.openai import OpenAIModel
    from sentinel_sql.agent.prompt import LONG, PROMPTS, Prompt
    from sentinel_sql.agent.react import ReactAgent
    from sentinel_sql.agent.schema_text import shown_schema
    from sentinel_sql.errors import InputError

    if prompt not in PROMPTS:
        raise InputError(f"there is no prompt {prompt!r}: choose one of {', '.join(PROMPTS)}")
    shown = shown_schema(
        database.schema, tables=[] if tables is None else tables.split(","), within=schema
    )
    built = Prompt.build(
        shown,
        database.clock,
        name=prompt,
        notes=notes,
        examples=examples,
        dialect=database.dialect,
    )
    if built.characters > LONG:
        say(
            f"sentinel: the prompt shows {len(shown.tables):,} tables in {built.characters:,} "
            "characters, which is long for a small model: name the tables that matter with --tables"
        )
    with (
        OpenAIModel(
            base_url=base_url,
            model=model,
            temperature=temperature,
            seed=seed,
            max_tokens=max_tokens,
            timeout=timeout,
            retries=retries,
        ) as served,
        _value_index(database, index, index_columns, wanted=PROMPTS[prompt].hints) as values,
    ):
        yield ReactAgent(
            model=served,
            database=database,
            prompt=built,
            max_steps=max_steps,
            commit_on_error=commit_on_error,
            index=values,
            shown=shown,
        )


@contextmanager
def _value_index(
    database: Database, file: Path | None, columns: str | None, *, wanted: bool
) -> Iterator[ValueIndex | None]:
    from sentinel_sql.database.value_index.opening import open_value_index
    from sentinel_sql.errors import InputError

    if not wanted:
        if file is not None or columns is not None:
            raise InputError(
                "only the prompt grounded uses a value index: give --prompt grounded, or leave out "
                "--index and --index-columns"
            )
        yield None
        return
    with open_value_index(database, file=file, columns=(columns or "").split(",")) as opened:
        yield opened


@contextmanager
def prober_of(database: str, clock: str, *, wanted: bool) -> Iterator[Prober | None]:
    """Open the database a second time, with the tight bounds of probes; None if not wanted."""
    if not wanted:
        yield None
        return
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.database.probes.probe import PROBE_LIMITS, Prober

    with (
        open_database(database, clock=clock, limits=PROBE_LIMITS) as opened,
        index_where_possible(opened) as index,
    ):
        yield Prober(opened, index=index)


@contextmanager
def index_where_possible(database: Database) -> Iterator[ValueIndex | None]:
    """Open a database's value index; None, and a word on stderr, where it can't be made."""
    from sentinel_sql.database.value_index.opening import open_value_index
    from sentinel_sql.errors import DatabaseError

    with ExitStack() as stack:
        try:
            index = stack.enter_context(open_value_index(database))
        except DatabaseError as error:
            say(f"sentinel: probes go without a value index: {error}")
            yield None
            return
        yield index


def notes_of(path: Path | None) -> str | None:
    """Read a file of notes.

    Raises:
        InputError: the file can't be read as text.
    """
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        from sentinel_sql.errors import InputError

        raise InputError(f"{path} can't be read as text: give a UTF-8 file") from error


def examples_of(path: Path | None) -> list[str] | None:
    """Read a file of worked examples.

    Raises:
        InputError: the file can't be read as text.
    """
    text = notes_of(path)
    return None if text is None else text.split("\n\n")
