"""The `sentinel` command: joins the verbs, and turns each error into one line and a code."""

from __future__ import annotations

import io
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, TextIO

import typer

from sentinel_sql.address import without_secrets
from sentinel_sql.cli.output import shown
from sentinel_sql.cli.settings import read_settings
from sentinel_sql.cli.verbs import (
    ask,
    audit,
    bench,
    collect,
    demo,
    doctor,
    drift,
    evaluate,
    fit,
    forget,
    heads,
    hospital,
    import_,
    label,
    migrate,
    probe,
    questions,
    report,
    rivals,
    show,
    start,
)
from sentinel_sql.errors import SentinelError, UncheckedWarning

EXIT_CODES = (
    "Exit codes: 0 success · 1 another failure · 2 an option, file or record can't be used · "
    "3 the database · 4 the model endpoint · 5 too little data to fit · "
    "6 a leakage control fails · 130 interrupted."
)

_INTERRUPTED = "interrupted; what was collected is kept"

app = typer.Typer(
    name="sentinel",
    help="Knows when a data agent should not be believed.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(questions.app, name="questions", short_help="Check questions, split into pools.")
app.add_typer(audit.app, name="audit", short_help="Compare judges with people and with each other.")
app.add_typer(heads.app, name="heads", short_help="Compare kinds of head.")
app.add_typer(rivals.app, name="rivals", short_help="Ask the agent's own model how sure it is.")
for name, verb, example, short in (
    ("demo", demo.demo, demo.EXAMPLE, "Run the whole system on recorded runs."),
    ("start", start.start, start.EXAMPLE, "From a file of questions to a report."),
    ("ask", ask.ask, ask.EXAMPLE, "Ask one question, guarded."),
    ("hospital", hospital.hospital, hospital.EXAMPLE, "Build a synthetic hospital to query."),
    ("collect", collect.collect, collect.EXAMPLE, "Run the agent and record every run."),
    ("import", import_.import_, import_.EXAMPLE, "Import another agent's logs."),
    ("probe", probe.probe, probe.EXAMPLE, "Add probes of the database to recorded runs."),
    ("label", label.label, label.EXAMPLE, "Label which answers were correct."),
    ("fit", fit.fit, fit.EXAMPLE, "Fit a monitor on labelled runs."),
    ("evaluate", evaluate.evaluate, evaluate.EXAMPLE, "Replay every system on held-out runs."),
    ("report", report.report, report.EXAMPLE, "Write evaluations as one page with figures."),
    ("drift", drift.drift, drift.EXAMPLE, "Test whether runs still look like the calibration."),
    ("forget", forget.forget, forget.EXAMPLE, "Erase a question or a run."),
    ("migrate", migrate.migrate, migrate.EXAMPLE, "Convert files of older versions."),
    ("show", show.show, show.EXAMPLE, "Show one run step by step, with confidences."),
    ("doctor", doctor.doctor, doctor.EXAMPLE, "Check this installation."),
    ("bench", bench.bench, bench.EXAMPLE, "Measure the promised ratios here."),
):
    app.command(name, epilog=example, short_help=short)(verb)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"sentinel {version('sentinel-sql')}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            envvar="SENTINEL_SETTINGS",
            help="Defaults of the options.  [sentinel.toml, where there is one]",
        ),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Knows when a data agent should not be believed."""
    if {"-h", "--help"} & set(sys.argv):
        return  # help needs no settings and must work without valid ones
    read = read_settings(settings)
    context.obj = read
    context.default_map = read.defaults(context.command)


def run() -> None:
    """Run the command; every failure is one line on stderr and a documented exit code."""
    debug = bool(os.environ.get("SENTINEL_DEBUG"))
    _prepare_output()
    warnings.showwarning = _show_warning
    try:
        app()
    except SystemExit as end:
        # typer and rich turn an interruption or a closed pipe into a plain exit
        if end.code == 130:
            sys.exit(_fail(_INTERRUPTED, 130))
        if isinstance(end.__context__, BrokenPipeError):
            sys.exit(_discard_output())
        raise
    except SentinelError as error:
        if debug:
            raise
        sys.exit(_fail(str(error), error.exit_code))
    except BrokenPipeError:
        sys.exit(_discard_output())
    except KeyboardInterrupt:
        sys.exit(_fail(_INTERRUPTED, 130))
    except OSError as error:
        if debug:
            raise
        place = f" ({error.filename})" if error.filename else ""
        sys.exit(_fail(f"{error.strerror or type(error).__name__}{place}", 1))
    except Exception as error:
        if debug:
            raise
        # The error's own text may quote data, so only its kind and place are shown.
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        place = (
            f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}"
            if frame is not None
            else "unknown place"
        )
        sys.exit(
            _fail(
                f"unexpected {type(error).__name__} at {place}: this is a fault of sentinel; "
                "set SENTINEL_DEBUG=1 to see the whole trace",
                1,
            )
        )


def _prepare_output() -> None:
    """Make stdout and stderr usable however the command was started."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif name == "stdout" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # the terminal may have no λ
    if not os.environ.get("COLUMNS", "80").strip("0"):
        del os.environ["COLUMNS"]  # a width of 0 means unknown; rich would print nothing


def _discard_output() -> int:
    """Send further output to nowhere, after its reader left (`sentinel … | head`)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001 (the form of warnings.showwarning)
    line: str | None = None,
) -> None:
    """Print a warning about a stored file in one line, and others as Python does."""
    if issubclass(category, UncheckedWarning):
        sys.stderr.write(f"sentinel: {without_secrets(shown(str(message)))}\n")
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def _fail(message: str, code: int) -> int:
    one_line = without_secrets(shown(" ".join(message.split())))
    sys.stderr.write(f"sentinel: {one_line}\n")
    return code
