"""Forms of other frameworks' messages: a module for each, and one conversion for all of them."""

from __future__ import annotations

from collections.abc import Mapping

from sentinel_sql.trajectory.formats import (
    anthropic_blocks,
    langchain_messages,
    openai_messages,
    openai_responses,
    react_text,
)
from sentinel_sql.trajectory.formats.conversion import Form

FORMS: Mapping[str, Form] = {
    "openai-messages": Form(events=openai_messages.events, marks=openai_messages.marks),
    "openai-responses": Form(events=openai_responses.events, marks=openai_responses.marks),
    "anthropic": Form(events=anthropic_blocks.events, marks=anthropic_blocks.marks),
    "langchain": Form(events=langchain_messages.events, marks=langchain_messages.marks),
    "react": Form(events=react_text.events, marks=react_text.marks),
}
"""The name of each form, as `--format` takes it, and how it is read."""

AUTO = "auto"
"""Takes the one form that a record's items can only be of."""
