"""Asks a model how sure it is of its last answer: P(True), or a stated number.

Both continue the chat of the run, so that the model has read all but the last lines before. P(True)
is by Kadavath et al. (arXiv:2207.05221), the verbalized confidence by Tian et al.
(arXiv:2305.14975); the wordings are ours.
"""

from __future__ import annotations

import math
import re
from typing import Literal

from sentinel_sql.agent.chat import Chat, reply_of
from sentinel_sql.agent.model import Message, Reply
from sentinel_sql.trajectory.record import Step

IS_IT_TRUE = "Is this result the right answer to the question? Answer with one word: True or False."
HOW_SURE = (
    "How likely is it that this result is the right answer to the question? Answer with one "
    "number from 0 (surely wrong) to 100 (surely right)."
)

WORD_TOKENS = 1
"""Longest reply to `IS_IT_TRUE`: only its first token counts."""

NUMBER_TOKENS = 8
"""Longest reply to `HOW_SURE` (our choice): a number, and text that small models write first."""

ALTERNATIVES = 20
"""Alternatives to request for the token of P(True), the most that endpoints grant."""

_NUMBER = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)")


def chat_with_question(chat: Chat, answer: Step, ask: str) -> list[Message]:
    """Return the chat that shows the model its answer's result and asks about it.

    Args:
        chat: chat of the run before the answer.
        answer: the step with the answer.
        ask: `IS_IT_TRUE` or `HOW_SURE`.
    """
    return [
        *chat.messages,
        {"role": "assistant", "content": reply_of(answer)},
        {"role": "user", "content": f"RESULT: {answer.observation.text}\n{ask}"},
    ]


def p_true(reply: Reply) -> tuple[float | None, Literal["logprobs", "word"]]:
    """Return P(True), in [0, 1], and how it was read.

    `logprobs`: the probability of `True` among the listed first tokens, divided by that of `True`
    and `False` together, in any case and spacing. If one word isn't listed, its probability is that
    of the least likely listed token, an upper bound (our choice). `word`: without
    log-probabilities, or if neither word is listed, it is 1 or 0 by the word in the reply, or None
    if the reply has neither.
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
    """Return the first number of a reply, from 0 to 100, as a share in [0, 1], or None."""
    found = _NUMBER.search(text)
    number = float(found[1]) if found else math.nan
    return number / 100 if 0 <= number <= 100 else None
