"""Readers of other frameworks' logs, one module a format, listed in `FORMATS`."""

from __future__ import annotations

from collections.abc import Mapping

from sentinel_sql.trajectory.formats import openai_messages
from sentinel_sql.trajectory.formats.log import LogFormat

FORMATS: Mapping[str, LogFormat] = {
    "openai-messages": LogFormat(
        read_run=openai_messages.read_run, question_of=openai_messages.question_of
    ),
}
