"""Drawing of figures by matplotlib, without a screen: as PNG, as SVG, and as SVG for a page.

A figure on a page follows the page's light or dark colours. So figures use only the colours of
`COLOURS`, which the page's SVG replaces by variables of the style sheet.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

from sentinel_sql.installation import missing_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Final[Mapping[str, str]] = {
    "paper": "#fefefe",
    "ink": "#1f2933",
    "muted": "#52606d",
    "line": "#cdd4dc",
    "guarded": "#1d5fbf",
    "alone": "#67737f",
    "never": "#8f5200",
    "good": "#17663d",
    "bad": "#b3261e",
}
"""By the page's variables. All differ in lightness or have different marks, not only in hue."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A finished figure.

    Attributes:
        title: what it shows.
        caption: how to read it.
        alt: its content in words and numbers, for people who can't see it.
        svg, png: the contents of the files, with a white background.
        inline: the SVG for a page, in the page's colours.
    """

    title: str
    caption: str
    alt: str
    svg: bytes
    png: bytes
    inline: str


@contextmanager
def _style() -> Iterator[None]:
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise missing_extra("the report's figures", "report") from error
    ink, muted = COLOURS["ink"], COLOURS["muted"]
    with mpl.rc_context(
        {
            "font.size": 10.5,
            "text.color": ink,
            "axes.labelcolor": ink,
            "axes.edgecolor": muted,
            "axes.facecolor": "none",
            "axes.grid": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "grid.color": COLOURS["line"],
            "grid.linewidth": 0.7,
            "xtick.color": muted,
            "ytick.color": muted,
            "legend.frameon": False,
            "legend.fontsize": 9.5,
            "lines.linewidth": 2.0,
            "svg.fonttype": "none",
            "svg.hashsalt": "sentinel",
        }
    ):
        yield


def draw(
    title: str,
    caption: str,
    alt: str,
    paint: Callable[[Any], None],
    *,
    name: str,
    panels: tuple[int, int] = (1, 1),
    size: tuple[float, float] = (7.0, 4.0),
    shared: bool = False,
) -> Drawing:
    """Draw a figure.

    Args:
        title: what it shows.
        caption: how to read it.
        alt: its content in words and numbers.
        paint: draws on one `Axes`, or on an array of them if there are several panels.
        name: a name that is unique on the page.
        panels: rows and columns of panels.
        size: width and height in inches.
        shared: the panels share their x axis.

    Raises:
        MissingExtraError: matplotlib isn't installed.
    """
    with _style():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        paint(figure.subplots(*panels, sharex=shared))
        svg = _save(figure, "svg")
        png = _save(figure, "png")
    return Drawing(
        title=title,
        caption=caption,
        alt=alt,
        svg=svg,
        png=png,
        inline=_make_inline(svg, name, title, alt),
    )


def direct_label(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Write a line's name at its end, so that readers need no legend."""
    axes.annotate(
        text,
        (x, y),
        xytext=(6, 0),
        textcoords="offset points",
        color=COLOURS[colour],
        va="center",
        fontsize=9.5,
        annotation_clip=False,
    )


def _save(figure: Figure, kind: str) -> bytes:
    sink = io.BytesIO()
    # Without date and version, equal tables give equal files.
    nothing = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    figure.savefig(sink, format=kind, dpi=144, metadata=nothing)
    return sink.getvalue()


_FONT = re.compile(r"font: ([\d.]+px|(?:\d+ )?[\d.]+px) [^;\"]+")
_PRECISE = re.compile(r"(\d+\.\d{2})\d+")


def _make_inline(svg: bytes, name: str, title: str, alt: str) -> str:
    text = svg.decode()
    text = text[text.index("<svg") :]
    head, body = text.split(">", 1)
    box = re.search(r'viewBox="[^"]+"', head)
    assert box is not None  # noqa: S101  matplotlib always writes it
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.DOTALL)
    # The page has its own background.
    body = body.replace("fill: #ffffff", "fill: none")
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r"url\(#", f"url(#{name}-", body)
    body = re.sub(r'xlink:href="#', f'href="#{name}-', body)
    body = _FONT.sub(r"font: \1 system-ui, sans-serif", body)
    body = re.sub(r" d=\"[^\"]+\"", lambda path: _PRECISE.sub(r"\1", path[0]), body)
    for colour, value in COLOURS.items():
        body = body.replace(value, f"var(--{colour})")
    body = re.sub(r"\n\s*", "\n", body)
    return (
        f'<svg {box[0]} role="img" aria-labelledby="{name}-title {name}-alt" '
        f'xmlns="http://www.w3.org/2000/svg"><title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-alt">{escape(alt)}</desc>{body}'
    )
