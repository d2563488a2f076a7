"""Asking a model how sure it is of the answer that it just gave: P(True), or a number in words.

Both go on from the chat of the run, so that all but the last lines is what the model has read
before. P(True) is of Kadavath et al. (arXiv:2207.05221), the verbalized confidence of Tian et
al. (arXiv:2305.14975); the wordings are ours.
"""

from __future__ import annotations

import math
import re
from typing import Literal

from sentinel_sql.agent.chat import Chat, said
from sentinel_sql.agent.model import Message, Reply
from sentinel_sql.trajectory.record import Step

IS_IT_TRUE = "Is this result the right answer to the question? Answer with one word: True or False."
HOW_SURE = (
    "How likely is it that this result is the right answer to the question? Answer with one "
    "number from 0 (surely wrong) to 100 (surely right)."
)

WORD_TOKENS = 1
"""Longest reply to `IS_IT_TRUE`: its first token is all that counts."""

NUMBER_TOKENS = 8
"""Longest reply to `HOW_SURE`, ours: a number and what small models write before it."""

ALTERNATIVES = 20
"""Alternatives asked for the one token of P(True): as many as endpoints grant."""

_NUMBER = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)")


def asked_after_answer(chat: Chat, answer: Step, ask: str) -> list[Message]:
    """Return the chat that shows the model its answer's result and asks of it.

    Args:
        chat: of the run, up to the step that answered.
        answer: that step.
        ask: `IS_IT_TRUE` or `HOW_SURE`.
    """
    return [
        *chat.messages,
        {"role": "assistant", "content": said(answer)},
        {"role": "user", "content": f"RESULT: {answer.observation.text}\n{ask}"},
    ]


def p_true(reply: Reply) -> tuple[float | None, Literal["logprobs", "word"]]:
    """Return P(True), in [0, 1], and by what it was read.

    By log-probabilities: the share of `True` in what the listed first tokens give to `True` and
    `False`, in any case and spacing. Ours: of a word that isn't listed, the probability of the
    least likely token that is, which bounds it from above. Where the endpoint tells no
    log-probabilities, or neither word is listed, by the word that it wrote: 1 or 0, or None where
    it wrote neither.
    """
    listed = [(text.strip().lower(), math.exp(logprob)) for text, logprob in reply.first]
    true, false = (sum(p for text, p in listed if text == word) for word in ("true", "false"))
    if true or false:
        least = min(p for _, p in listed)
        true, false = true or least, false or least
        return true / (true + false), "logprobs"
    word = re.match(r"\W*(true|false)\b", reply.text, re.IGNORECASE)
    return (float(word[1].lower() == "true") if word else None), "word"


def percentage(text: str) -> float | None:
    """Return the first number of a reply as a share in [0, 1]; None without one of 0 to 100."""
    found = _NUMBER.search(text)
    number = float(found[1]) if found else math.nan
    return number / 100 if 0 <= number <= 100 else None
