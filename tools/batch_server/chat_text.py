"""Turns chats into tokens and tokens into text, by the tokenizer and template of a GGUF file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers

from .chat_cache import Tokens
from .gguf_file import GgufFile, UnservableError

SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How `qwen2` splits a text before it joins bytes (Qwen2's own tokenizer)."""

ENDS = frozenset({"<|im_end|>", "<|endoftext|>"})
"""Tokens that end a reply."""

WHOLE = frozenset({3, 4})
"""Kinds of tokens in GGUF files that stand whole in a text: control tokens and added ones."""


class TemplateRefusedError(Exception):
    """The template of the model refuses a chat."""


class ChatText:
    """The tokenizer and the chat template of a model.

    Raises:
        UnservableError: the file's tokenizer is of another kind.
    """

    def __init__(self, file: GgufFile) -> None:
        kind = file.value("tokenizer.ggml.model"), file.value("tokenizer.ggml.pre")
        if kind != ("gpt2", "qwen2"):
            raise UnservableError(f"the tokenizer {kind} isn't Qwen2's; serve a Qwen2 model")
        texts: list[str] = file.value("tokenizer.ggml.tokens")
        kinds: list[int] = file.value("tokenizer.ggml.token_type")
        merges = [tuple(pair.split(" ", 1)) for pair in file.value("tokenizer.ggml.merges")]
        whole = {text for text, kind in zip(texts, kinds, strict=True) if kind in WHOLE}
        self._tokenizer = Tokenizer(
            models.BPE(vocab={text: at for at, text in enumerate(texts)}, merges=merges)
        )
        self._tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(SPLIT), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        self._tokenizer.add_special_tokens(
            [AddedToken(text, normalized=False) for text in texts if text in whole]
        )
        self._bytes = [b"" if text in whole else _bytes(text) for text in texts]
        self.ends = frozenset(at for at, text in enumerate(texts) if text in ENDS)
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = _refuse
        self._template = environment.from_string(file.value("tokenizer.chat_template"))

    def tokens(self, messages: Sequence[Mapping[str, Any]]) -> Tokens:
        """Return the tokens of a chat, up to where the reply begins.

        Raises:
            TemplateRefusedError: the template refuses the messages.
        """
        try:
            text = self._template.render(messages=messages, add_generation_prompt=True)
        except TemplateError as error:
            raise TemplateRefusedError(str(error)) from None
        return np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, np.int32)

    def bytes_of(self, token: int) -> bytes:
        """Return the bytes of a token; none for one that only marks the chat's structure."""
        return self._bytes[token] if token < len(self._bytes) else b""


def _refuse(message: str) -> None:
    raise TemplateError(message)


def _letters() -> dict[str, int]:
    """Return the letter of each byte in byte-level vocabularies, as GPT-2 chose them."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    letters = {chr(byte): byte for byte in shown}
    return letters | {chr(256 + number): byte for number, byte in enumerate(hidden)}


_LETTERS = _letters()


def _bytes(text: str) -> bytes:
    known = all(letter in _LETTERS for letter in text)
    return bytes(_LETTERS[letter] for letter in text) if known else text.encode()
