"""`sentinel doctor`: checks that everything Sentinel needs is installed and works."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sentinel_sql.cli.options import DATABASE_KINDS, Clock
from sentinel_sql.cli.output import AsJson, emit
from sentinel_sql.cli.settings import FILE, Settings
from sentinel_sql.errors import SentinelError
from sentinel_sql.installation import install_command

if TYPE_CHECKING:
    from rich.console import RenderableType

EXAMPLE = "Example: sentinel doctor --database mimic_iv.sqlite --base-url http://127.0.0.1:8000/v1"

LIBRARIES = (
    *("httpx", "numpy", "pydantic", "rich", "scikit-learn"),
    *("sniffio", "sqlglot", "threadpoolctl", "typer"),
)

_NAME = re.compile(r"[A-Za-z0-9_.-]+")

EXTRAS = ("duckdb", "encoders", "fast", "http2", "langchain", "onnx", "postgres", "report")
"""Sets of optional libraries, as in the project's metadata."""

Standing = Literal["ok", "absent", "warning", "broken"]
"""`absent`: an extra that isn't installed, or no settings; this is no fault. `warning`: it works,
and its owner should change something; the exit code stays 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    standing: Standing
    detail: str


def doctor(
    context: typer.Context,
    database: Annotated[
        str | None,
        typer.Option(metavar="DB", help=f"Also check this database: {DATABASE_KINDS}."),
    ] = None,
    monitor: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also check this bundle.")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Also ask this endpoint for its models; the only network call."
        ),
    ] = None,
    clock: Clock = None,
    as_json: AsJson = False,
) -> None:
    """Check this installation, and a database, a bundle or an endpoint if you name one."""
    findings = [_python(), _sqlite(), *_libraries(), *_extras(), _settings(context.obj)]
    if database is not None:
        findings.extend(_database(database, clock))
    if monitor is not None:
        findings.append(_monitor(monitor))
    if base_url is not None:
        findings.append(_endpoint(base_url))
    broken = [finding for finding in findings if finding.standing == "broken"]
    document = {"healthy": not broken, "findings": [asdict(finding) for finding in findings]}
    emit(document, as_json=as_json, tables=lambda: [_table(findings)])
    if broken:
        raise SentinelError(f"{len(broken)} of {len(findings)} checks failed: {broken[0].name}")


def _python() -> Finding:
    return Finding(name="python", standing="ok", detail=sys.version.split()[0])


def _sqlite() -> Finding:
    import sqlite3

    return Finding(name="sqlite", standing="ok", detail=sqlite3.sqlite_version)


def _settings(settings: Settings) -> Finding:
    """List each setting and its source, but not its value, which may hold a key."""
    if not settings.values:
        return Finding(name="settings", standing="absent", detail=f"no {FILE} in this folder")
    names = [
        name if source == "file" else f"{name} ({source})"
        for name, source in settings.sources.items()
    ]
    where = "the environment" if settings.file is None else settings.file
    return Finding(name="settings", standing="ok", detail=f"{where}: {', '.join(names)}")


def _libraries() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    for library in LIBRARIES:
        try:
            yield Finding(name=library, standing="ok", detail=version(library))
        except PackageNotFoundError:
            yield Finding(
                name=library, standing="broken", detail=f"not installed: {install_command()}"
            )


def _extras() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, requires, version

    stated = requires("sentinel-sql") or []
    for extra in EXTRAS:
        needed = [_NAME.match(line) for line in stated if f"extra == '{extra}'" in line]
        names = ["sqlglotc" if extra == "fast" else match.group() for match in needed if match]
        missing = []
        for name in names:
            try:
                version(name)
            except PackageNotFoundError:
                missing.append(name)
        yield Finding(
            name=f"extra {extra}",
            standing="absent" if missing else "ok",
            detail=f"{install_command(extra)} brings {', '.join(missing)}"
            if missing
            else ", ".join(names),
        )


def _database(address: str, clock: str | None) -> list[Finding]:
    """Check a database; what its owner should change are findings of their own."""
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.database.value_index.opening import columns_in

    try:
        with open_database(address, clock=clock) as opened:
            health = opened.health()
            indexed = columns_in(opened)
            index = (
                "no value index"
                if indexed is None
                else "value index of "
                + ", ".join(f"{it.table}.{it.column} ({it.texts})" for it in indexed)
            )
            detail = f"{len(opened.schema.tables)} tables, clock {opened.clock}"
    except SentinelError as error:
        return [Finding(name="database", standing="broken", detail=str(error))]
    return [
        Finding(name="database", standing="ok", detail=f"{detail}; {health.detail}; {index}"),
        *(Finding(name="database", standing="warning", detail=it) for it in health.warnings),
    ]


def _monitor(path: Path) -> Finding:
    from sentinel_sql.monitor.bundle import load

    try:
        bundle = load(path)
    except SentinelError as error:
        return Finding(name="monitor", standing="broken", detail=str(error))
    return Finding(name="monitor", standing="ok", detail=f"fitted on {bundle.agent}")


def _endpoint(base_url: str) -> Finding:
    from sentinel_sql.agent.openai import list_models

    try:
        models = list_models(base_url)
    except SentinelError as error:
        return Finding(name="endpoint", standing="broken", detail=str(error))
    return Finding(name="endpoint", standing="ok", detail=f"models: {', '.join(models) or 'none'}")


def _table(findings: list[Finding]) -> RenderableType:
    from rich.text import Text

    from sentinel_sql.report.terminal.table import Layout, column, value

    styles = {"ok": "green", "absent": "dim", "warning": "yellow", "broken": "red"}
    layout = Layout(
        columns=(
            column("what", value("name")),
            column("is", lambda row: Text(row["standing"], styles[row["standing"]]), words=True),
            column("detail", value("detail"), words=True, fold=True),
        )
    )
    return layout.show({"rows": [asdict(finding) for finding in findings]})
