"""Reads the settings of a project: `sentinel.toml` and environment variables.

They are the defaults of the options: a flag wins over the environment, and that over the file. A
path in the file is relative to the file's folder.
`SETTINGS` lists every setting; `OPTIONS` says which option of which verb it fills.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol

FILE: Final = "sentinel.toml"

Kind = Literal["text", "number", "whole", "switch", "path", "paths", "numbers"]

PARTS: Final[Mapping[str, Mapping[str, Kind]]] = MappingProxyType(
    {
        "": {
            "questions": "paths",
            "database": "path",
            "clock": "text",
            "mode": "text",
            "store": "path",
            "labels": "path",
            "pools": "path",
            "monitor": "path",
            "evaluation": "path",
            "report": "path",
            "stakes": "numbers",
            "seed": "whole",
        },
        "endpoint": {
            "base-url": "text",
            "model": "text",
            "workers": "whole",
            "timeout": "number",
            "retries": "whole",
            "max-tokens": "whole",
        },
        "prompt": {
            "name": "text",
            "notes": "path",
            "examples": "path",
            "tables": "text",
            "schema": "text",
            "index": "path",
            "index-columns": "text",
            "max-steps": "whole",
            "commit-on-error": "switch",
            "probes": "switch",
        },
        "judge": {
            "base-url": "text",
            "model": "text",
            "workers": "whole",
            "timeout": "number",
            "retries": "whole",
        },
        "limits": {
            "seconds": "number",
            "result-rows": "whole",
            "result-mb": "whole",
            "memory-mb": "whole",
        },
    }
)
"""The tables of `sentinel.toml` (the unnamed one first) → their keys → the kind of value."""

SETTINGS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        (f"{part}.{key}" if part else key): kind
        for part, keys in PARTS.items()
        for key, kind in keys.items()
    }
)
"""Every setting by its full name, such as `endpoint.base-url`."""

OPTIONS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "*": {name.replace("-", "_"): name for name in PARTS[""] if name not in {"seed", "mode"}}
        | {key.replace("-", "_"): f"endpoint.{key}" for key in PARTS["endpoint"]}
        | {key.replace("-", "_"): f"prompt.{key}" for key in PARTS["prompt"] if key != "name"}
        | {key.replace("-", "_"): f"limits.{key}" for key in PARTS["limits"]}
        | {"prompt": "prompt.name"},
        "label": {"out": "labels", "mode": "mode", "rows": ""}
        | {key.replace("-", "_"): f"judge.{key}" for key in PARTS["judge"]},
        "questions check": {"mode": "mode"},
        "questions pools": {"out": "pools", "seed": "seed"},
        "fit": {"out": "monitor", "seed": "seed"},
        "evaluate": {"out": "evaluation", "workers": ""},
        "report": {"folders": "evaluation", "out": "report"},
        "rivals collect": {"mode": "mode"},
    }
)
"""Option → its setting: for all verbs ("*"), then differences by verb; "" means no setting."""

UNTOUCHED: Final = frozenset({"demo", "hospital", "bench", "import"})
"""Verbs without settings: they aren't about this folder's project, or make what settings name."""


class Parameter(Protocol):
    """The attributes used of an argument or option of a verb."""

    name: str | None
    multiple: bool
    nargs: int


class Verb(Protocol):
    """The attributes used of a verb: a command, or a group of commands."""

    name: str | None
    params: list[Any]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings in force.

    Attributes:
        file: the file that was read, or None.
        values: full name → value; paths are absolute or relative to the working folder.
        sources: full name → `file`, or the environment variable that overrides it.
    """

    file: Path | None
    values: Mapping[str, Any]
    sources: Mapping[str, str]

    def defaults(self, group: Any, path: str = "") -> dict[str, Any]:
        """Return the defaults of every verb below a group, as Click's `default_map`."""
        made: dict[str, Any] = {}
        for name, verb in group.commands.items():
            full = f"{path} {name}".strip()
            if full in UNTOUCHED:
                continue
            if hasattr(verb, "commands"):
                made[name] = self.defaults(verb, full)
            else:
                made[name] = self._verb_defaults(full, verb)
        return made

    def _verb_defaults(self, name: str, verb: Verb) -> dict[str, Any]:
        table = {**OPTIONS["*"], **OPTIONS.get(name, {})}
        found = {}
        for parameter in verb.params:
            setting = table.get(parameter.name or "")
            if setting and setting in self.values:
                found[parameter.name] = _fit_to_option(self.values[setting], parameter)
        return found


def _fit_to_option(value: Any, parameter: Parameter) -> Any:
    """Return a list for an option that may be repeated, else a single value."""
    several = parameter.multiple or parameter.nargs == -1
    if isinstance(value, list):
        return value if several else value[0]
    return [value] if several else value


def read_settings(file: Path | None, environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings of a project.

    Args:
        file: the user's choice; None looks for `sentinel.toml` in the working folder.
        environment: holds `SENTINEL_DATABASE`, `SENTINEL_BASE_URL` and so on; see
            `variable_of`.

    Raises:
        InputError: the file can't be read, or a setting is unknown or of the wrong kind.
    """
    found = Path(FILE) if file is None else file
    values: dict[str, Any] = {}
    if file is not None or found.is_file():
        values = _read_file(found)
    else:
        found = None  # type: ignore[assignment]
    sources = dict.fromkeys(values, "file")
    for name, kind in SETTINGS.items():
        variable = variable_of(name)
        if text := environment.get(variable):
            values[name] = _read_variable(text, kind, variable)
            sources[name] = variable
    return Settings(file=found, values=values, sources=sources)


def is_on_command_line(context: Any, option: str) -> bool:
    """Return whether the user gave an option on the command line, not by a setting."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def variable_of(setting: str) -> str:
    """Return the environment variable of a setting.

    It is `SENTINEL_` and the name of the option: `endpoint.base-url` is `SENTINEL_BASE_URL`,
    `judge.base-url` is `SENTINEL_JUDGE_BASE_URL`, `prompt.name` is `SENTINEL_PROMPT`.
    """
    part, _, key = setting.rpartition(".")
    name = {"prompt.name": "prompt"}.get(setting, f"judge-{key}" if part == "judge" else key)
    return "SENTINEL_" + name.replace("-", "_").upper()


def _read_file(file: Path) -> dict[str, Any]:
    import tomllib

    from sentinel_sql.errors import InputError

    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file} can't be read ({error.strerror}): name another file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} isn't UTF-8: save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file} isn't TOML: {error}") from error
    values: dict[str, Any] = {}
    for key, value in document.items():
        if key in PARTS and isinstance(value, dict):
            for inner, what in value.items():
                _put(values, f"{key}.{inner}", what, file)
        else:
            _put(values, key, value, file)
    return values


def _put(values: dict[str, Any], name: str, value: Any, file: Path) -> None:
    from difflib import get_close_matches

    from sentinel_sql.errors import InputError

    if name not in SETTINGS:
        near = get_close_matches(name, [*SETTINGS, *(f"[{part}]" for part in PARTS if part)], n=1)
        hint = f"did you mean {near[0]}?" if near else f"the settings are {', '.join(SETTINGS)}"
        raise InputError(f"{file}: there is no setting {name!r}: {hint}")
    kind = SETTINGS[name]
    if not _is_kind(value, kind):
        raise InputError(f"{file}: {name} must be {_WORDS[kind]}")
    values[name] = _resolve_path(value, kind, file.parent)


def _is_kind(value: Any, kind: Kind) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "text" | "path":
            return isinstance(value, str) and bool(value)
        case "number":
            return number
        case "whole":
            return number and isinstance(value, int)
        case "switch":
            return isinstance(value, bool)
        case "paths":
            return _is_kind(value, "path") or _is_list(value, "path")
        case "numbers":
            return number or _is_list(value, "number")


def _is_list(value: Any, kind: Kind) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_kind(part, kind) for part in value)


_WORDS: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        "text": "a text in quotes",
        "number": "a number",
        "whole": "a whole number",
        "switch": "true or false",
        "path": "a path in quotes",
        "paths": 'a path in quotes, or a list of them such as ["a.csv", "b.csv"]',
        "numbers": "a number, or a list of numbers such as [1, 4, 9]",
    }
)


def _resolve_path(value: Any, kind: Kind, folder: Path) -> Any:
    """Make a path relative to the working folder; an address stays unchanged."""
    if kind == "paths":
        several = value if isinstance(value, list) else [value]
        return [_resolve_path(part, "path", folder) for part in several]
    if kind == "path":
        return value if "://" in value else str(folder / value)
    return value


def _read_variable(text: str, kind: Kind, variable: str) -> Any:
    """Read the value of an environment variable.

    Raises:
        InputError: the value is of another kind.
    """
    from sentinel_sql.errors import InputError

    try:
        match kind:
            case "number":
                return float(text)
            case "whole":
                return int(text)
            case "numbers":
                return [float(part) for part in text.split(",")]
            case "switch":
                return {"1": True, "true": True, "0": False, "false": False}[text.lower()]
            case "paths":
                return text.split(os.pathsep)
            case _:
                return text
    except (ValueError, KeyError):
        words = _WORDS[kind].split(", or")[0]
        raise InputError(f"{variable} must be {words}, and isn't: mend or unset it") from None
