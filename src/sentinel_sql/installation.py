"""How this very installation is added to: the command that brings an extra."""

from __future__ import annotations

import json
import shlex
from typing import Final, Protocol

from sentinel_sql.errors import MissingExtraError

PROJECT: Final = "sentinel-sql"


class Distribution(Protocol):
    """What is read of an installed project: the files beside its code, by name."""

    def read_text(self, filename: str, /) -> str | None:
        """Return a file's text, or None where there is none."""
        ...


def install_command(extra: str | None = None, *, distribution: Distribution | None = None) -> str:
    """Return the command that installs the project, or an extra of it, from where it came.

    A checkout, a wheel file, a Git address and a package index each need another one; pip and uv
    record which it was (PEP 610, direct_url.json) and who installed (INSTALLER).

    Args:
        extra: such as `report`; None for the project alone.
        distribution: read instead of the one that is installed.

    Returns:
        One line for a POSIX shell.
    """
    from importlib import metadata

    if distribution is None:
        try:
            distribution = metadata.distribution(PROJECT)
        except metadata.PackageNotFoundError:
            return _command("pip", _named(extra))
    tool = "uv pip" if (distribution.read_text("INSTALLER") or "").strip() == "uv" else "pip"
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        url = origin.get("url")
        editable = bool(origin.get("dir_info", {}).get("editable"))
        commit = origin.get("vcs_info", {}).get("commit_id")
        if not isinstance(url, str) or not url:
            return _command(tool, _named(extra))
        address, below = _shown_parts(url)
    except (ValueError, AttributeError):
        return _command(tool, _named(extra))
    below = str(origin.get("subdirectory") or below)
    if url.startswith("file://") and "vcs_info" not in origin and not (below and not editable):
        path = f"{_path_of(url)}/{below}".rstrip("/")
        return _command(tool, path + ("" if extra is None else f"[{extra}]"), editable=editable)
    if "vcs_info" in origin:
        kind = origin["vcs_info"].get("vcs", "git")
        address = f"{kind}+{address}" + (f"@{commit}" if commit else "")
    return _command(
        tool, f"{_named(extra)} @ {address}" + (f"#subdirectory={below}" if below else "")
    )


def missing_extra(what: str, extra: str) -> MissingExtraError:
    """Make the error that says which extra is missing and how it comes.

    Args:
        what: what needs it, in the plural, such as "encoder heads".
        extra: its name in the project's metadata.
    """
    return MissingExtraError(f"{what} need the extra {extra}: {install_command(extra)}")


def _named(extra: str | None) -> str:
    return PROJECT if extra is None else f"{PROJECT}[{extra}]"


def _command(tool: str, what: str, *, editable: bool = False) -> str:
    return f"{tool} install {'--editable ' if editable else ''}{shlex.quote(what)}"


def _path_of(url: str) -> str:
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(url).path)


def _shown_parts(url: str) -> tuple[str, str]:
    """Return an address without password, token and query, and the subdirectory that it names.

    The user of an SSH address is no secret, and the address is of no use without it.

    Raises:
        ValueError: the address can't be read.
    """
    from urllib.parse import parse_qs, urlsplit, urlunsplit

    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    netloc = f"{name}@{host}" if name and parts.scheme.endswith("ssh") else host
    below = parse_qs(parts.fragment).get("subdirectory", [""])[0]
    return urlunsplit(parts._replace(netloc=netloc, query="", fragment="")), below
