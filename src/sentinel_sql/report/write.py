"""Writing a report of evaluations: page, figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

from sentinel_sql.arguments import checked
from sentinel_sql.errors import InputError
from sentinel_sql.evaluation_store import tables as disk
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.evaluation_store.sources import SOURCES
from sentinel_sql.evaluation_store.views import VIEWS, read_views
from sentinel_sql.report.agent_comparison import FOLDER, agents_figure, write_comparison
from sentinel_sql.report.drawing import Drawing
from sentinel_sql.report.evaluated_agents import ReportedAgent, read_agents
from sentinel_sql.report.figures import FIGURES
from sentinel_sql.report.page.data import Runs
from sentinel_sql.report.page.page import report_page
from sentinel_sql.storage.whole_file import write_whole

PAGE: Final = "report.html"
MOST_RUNS: Final = 200
RUNS_SIZE: Final = 2_000_000
"""Most bytes of single runs on a page, so that it stays below 5 MB (ours)."""

OnProgress = Callable[[int, int], None]
AnyEvaluation: TypeAlias = Evaluation | str | PathLike[str]


@dataclass(frozen=True, kw_only=True)
class Written:
    """A written report.

    Attributes:
        page: the HTML file.
        agents: the names of the agents.
        runs: the number of single runs on the page.
        evaluated: the number of runs behind the figures.
        figures: the number of figures.
        bytes: the size of the page.
    """

    page: Path
    agents: tuple[str, ...]
    runs: int
    evaluated: int
    figures: int
    bytes: int


@checked
def write_report(
    evaluations: AnyEvaluation | Sequence[AnyEvaluation],
    out: str | PathLike[str],
    *,
    runs: bool = True,
    on_progress: OnProgress = lambda _done, _total: None,
) -> Written:
    """Write a report of one or more evaluations: page, PNG and SVG figures, CSV and Parquet.

    Args:
        evaluations: one evaluation, or one for each agent: the result of `evaluate`, or the
            folder that it was saved to.
        out: the folder to write; files of an older report are replaced.
        runs: show single runs with their texts; without them, the page holds no row of data.
        on_progress: called with (figures drawn, all figures).

    Raises:
        InputError: an evaluation is missing or damaged, or `out` can't be written.
        MissingExtraError: matplotlib or Jinja2 isn't installed.
    """
    with _folders(evaluations) as folders:
        return _write(read_agents(folders), Path(out), runs=runs, on_progress=on_progress)


@contextmanager
def _folders(evaluations: AnyEvaluation | Sequence[AnyEvaluation]) -> Iterator[list[Path]]:
    """Yield the folder of each evaluation; one without a folder is saved to a temporary one."""
    if isinstance(evaluations, Evaluation | str | PathLike):
        evaluations = [evaluations]
    with TemporaryDirectory(prefix="sentinel-report-") as place:
        folders = []
        for number, each in enumerate(evaluations, 1):
            if isinstance(each, Evaluation):
                folders.append(Path(place) / f"evaluation-{number}")
                each.save(folders[-1])
            else:
                folders.append(Path(each))
        yield folders


def _write(
    agents: Sequence[ReportedAgent], out: Path, *, runs: bool, on_progress: OnProgress
) -> Written:
    _check_place(agents, out)
    if runs:
        _check_views(agents)
    try:
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
        (out / "figures").mkdir(exist_ok=True)
        figures = _draw_figures(agents, out / "figures", on_progress)
        for agent in agents:
            _copy(agent, out / agent.slug)
        comparison, incomparable = write_comparison(agents, out)
        overview = agents_figure(comparison)
        if overview is not None:
            save(overview, out / "figures" / FOLDER)
        shown = _runs(agents) if runs else Runs(views=(), words=NO_RUNS)
        page = report_page(
            agents,
            figures,
            shown,
            across=comparison,
            incomparable=incomparable,
            across_figures=[overview] if overview else [],
        )
        write_whole(out / PAGE, page)
    except OSError as error:
        raise InputError(
            f"the report can't be written to {out} ({error.strerror}): name another folder"
        ) from error
    return Written(
        page=out / PAGE,
        agents=tuple(agent.name for agent in agents),
        runs=len(shown.views),
        evaluated=sum(agent.runs for agent in agents),
        figures=len(figures) + (overview is not None),
        bytes=len(page.encode()),
    )


NO_RUNS: Final = (
    "This report was made without single runs, so it holds no row of data. To show them, run "
    "sentinel report … without --no-runs"
)


def _draw_figures(
    agents: Sequence[ReportedAgent], folder: Path, on_progress: OnProgress
) -> Mapping[tuple[int, str], Drawing]:
    drawings: dict[tuple[int, str], Drawing] = {}
    total = len(agents) * len(FIGURES)
    for index, agent in enumerate(agents):
        for number, (name, figure) in enumerate(FIGURES.items()):
            result = figure(agent.rows, f"f{index}-{name}")
            if result is not None:
                drawings[index, name] = result
                save(result, folder / f"{agent.slug}-{name}")
            on_progress(index * len(FIGURES) + number + 1, total)
    return drawings


def save(figure: Drawing, path: Path) -> None:
    """Write a figure as `path`.svg and `path`.png."""
    write_whole(path.with_name(f"{path.name}.svg"), figure.svg)
    write_whole(path.with_name(f"{path.name}.png"), figure.png)


def _check_place(agents: Sequence[ReportedAgent], out: Path) -> None:
    place = out.resolve()
    for agent in agents:
        folder = agent.folder.resolve()
        if folder == place or folder in place.parents:
            raise InputError(
                f"the report can't be written to {out}, which is in the evaluation "
                f"{agent.folder}: name another folder"
            )


def _check_views(agents: Sequence[ReportedAgent]) -> None:
    """Refuse an older evaluation without single runs, because it may be incomplete.

    An evaluation of an older version that was killed could lack them.
    """
    for agent in agents:
        if "sha256" not in agent.document and not agent.evaluation.has_views:
            raise InputError(
                f"{agent.folder} holds no single runs ({VIEWS} is missing): make it again with "
                "`sentinel evaluate … --out FOLDER`, or leave them out with --no-runs"
            )


def _copy(agent: ReportedAgent, target: Path) -> None:
    """Copy an agent's tables, and no other file of their folder."""
    place = target / disk.FOLDER
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in _older(target):
        for ending in disk.ENDINGS:
            (place / f"{name}{ending}").unlink(missing_ok=True)
    names = [*(f"{name}.csv" for name in (disk.CONTENTS, disk.DICTIONARY)), SOURCES]
    names += [
        disk.CHECKSUMS,
        *(f"{name}{ending}" for name in agent.tables for ending in disk.ENDINGS),
    ]
    for name in names:
        source = agent.folder / disk.FOLDER / name
        if source.exists():
            write_whole(place / name, source.read_bytes())
        else:
            (place / name).unlink(missing_ok=True)


def _older(target: Path) -> Sequence[str]:
    """Return the names of the tables of an older report; none if its index is missing."""
    try:
        return [entry.table for entry in disk.read_index(target)[0]]
    except InputError:
        return ()


def _runs(agents: Sequence[ReportedAgent]) -> Runs:
    """Read the single runs to show, an equal number for each agent."""
    views: list[tuple[int, Mapping[str, Any]]] = []
    for index, agent in enumerate(agents):
        if not agent.evaluation.has_views:
            continue
        views += (
            (index, view)
            for view in read_views(
                agent.folder,
                most=MOST_RUNS // len(agents),
                size=RUNS_SIZE // len(agents),
            )
        )
    if not views:
        return Runs(
            views=(),
            words="The evaluation holds no single runs. To show them, run sentinel evaluate … "
            "--out FOLDER without --no-runs",
        )
    total = sum(agent.runs for agent in agents)
    return Runs(
        views=views,
        words=f"{len(views):,} of {total:,} runs, chosen as examples of every kind of decision "
        "and mistake, the most confident mistakes first. They are not a random sample.",
    )
