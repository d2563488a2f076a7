from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.record import AgentInfo

AGENT = AgentInfo(
    name="react", model="qwen | 7b", prompt_sha256="ab" * 32, max_steps=8, temperature=0.0
)
CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({"name": "other"}, "name (react there, other here)"),
    "model": ({"model": "llama"}, "model (qwen | 7b there, llama here)"),
    "prompt": ({"prompt_sha256": "cd" * 32}, "prompt (abababababab there, cdcdcdcdcdcd here)"),
    "cap": ({"max_steps": None}, "step cap (8 there, - here)"),
    "temperature": ({"temperature": 0.7}, "temperature (0.0 there, 0.7 here)"),
    "commit": ({"commit_on_error": True}, "commit-on-error (off there, on here)"),
}


@given(st.sets(st.sampled_from(sorted(CHANGES)), min_size=1))
def test_exactly_the_parts_that_differ_are_named(changed: set[str]) -> None:
    changes = {key: it for name in changed for key, it in CHANGES[name][0].items()}
    told = difference(AGENT.fingerprint, AGENT.model_copy(update=changes).fingerprint)
    for name, (_, words) in CHANGES.items():
        assert (words in told) == (name in changed)
    assert ("--notes, --examples" in told) == ("prompt" in changed)


@given(st.text(), st.lists(st.sampled_from(["a", " | ", "commit-on-error"])).map("".join))
def test_difference_of_any_two_texts_raises_no_error(one: str, other: str) -> None:
    assert difference(one, other)
    assert difference(other, one)


@pytest.mark.parametrize("odd", ["another", "", "react | qwen", " | commit-on-error"])
def test_text_that_is_no_fingerprint_is_reported(odd: str) -> None:
    for told in (
        difference(AGENT.fingerprint, odd),
        difference(odd, AGENT.fingerprint),
    ):
        assert f"[{odd}] is no agent's fingerprint" in told
        assert "sentinel fit" in told
