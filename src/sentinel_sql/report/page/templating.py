"""Rendering of a page: template, style sheet and script become one self-contained file."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from sentinel_sql.installation import missing_extra


def render(template: str, **context: Any) -> str:
    """Return a page. Its content security policy allows its own script and no request.

    Raises:
        MissingExtraError: Jinja2 isn't installed.
    """
    script = _resource("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = _environment().get_template(template)
    return str(
        page.render(style=_resource("style.css"), script=script, script_hash=digest, **context)
    )


@cache
def _resource(name: str) -> str:
    return files("sentinel_sql.report.page").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise missing_extra("the report's pages", "report") from error
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_resource),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
