"""Keeps what was read of chats, so that a following turn costs only its new tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .chat_cache import ChatCache, Prefix, Tokens, common_length
from .gguf_file import Sizes

LEAST_PREFIX = 256
"""Shortest start that is worth sharing, in tokens (our choice)."""

PREFIX_STEP = 32
"""Prefixes end at multiples of it, so that questions with like first words share one."""

PREFIXES = 8
"""Most prefixes that are kept."""


class CacheStore:
    """The caches of chats that wait for their next turn, and the shared prefixes.

    Args:
        sizes: sizes of the model.
        most_bytes: memory of the waiting chats; the longest unused go first.
        read: called with (cache, tokens); reads tokens of a prefix.
    """

    def __init__(
        self, sizes: Sizes, *, most_bytes: int, read: Callable[[ChatCache, Tokens], None]
    ) -> None:
        self._sizes = sizes
        self._most_bytes = most_bytes
        self._read = read
        self._waiting: list[ChatCache] = []
        self._prefixes: list[Prefix] = []

    def cache_for(
        self, tokens: Tokens, *, running: Sequence[ChatCache] = (), queued: Sequence[Tokens] = ()
    ) -> ChatCache:
        """Return a cache that has read as much of a chat as is known, never all of it.

        Args:
            tokens: the chat up to where the reply begins.
            running: caches in use; their start may be copied.
            queued: chats that will be read soon, with which a prefix may be shared.
        """
        most = len(tokens) - 1  # the last token is read again, for what follows it
        prefix = self._prefix_for(tokens[:most], running, queued)
        known = len(prefix) if prefix else 0
        best, length = None, known
        for cache in (*running, *self._waiting):
            common = common_length(cache.tokens, tokens[:most])
            if common > length and common >= len(cache.prefix or ()):
                best, length = cache, common
        if best in self._waiting and 2 * (length - known) >= best.length - known:
            self._waiting.remove(best)
            best.cut(length)
            return best
        if best is not None and best.prefix is prefix:
            return best.copied(length)
        return ChatCache(self._sizes, prefix)

    def keep(self, cache: ChatCache) -> None:
        """Keep a chat for its next turn, and forget those used longest ago if room is short."""
        self._waiting.append(cache)
        while self._waiting and sum(one.bytes for one in self._waiting) > self._most_bytes:
            del self._waiting[0]

    def _prefix_for(
        self, tokens: Tokens, running: Sequence[ChatCache], queued: Sequence[Tokens]
    ) -> Prefix | None:
        """Return the longest shared start; make a longer one where two other chats have it."""
        prefix = self._known_prefix(tokens)
        known = len(prefix) if prefix else 0
        caches = {
            cache: common_length(cache.tokens, tokens) for cache in (*running, *self._waiting)
        }
        others = sorted([*caches.values(), *(common_length(other, tokens) for other in queued)])
        length = _rounded(others[-2]) if len(others) > 1 else 0
        if length < known + LEAST_PREFIX:
            return prefix
        readers = [cache for cache, common in caches.items() if common >= length]
        if readers:
            return self._add(readers[0].as_prefix(length))
        cache = ChatCache(self._sizes, prefix)
        self._read(cache, tokens[known:length])
        return self._add(cache.as_prefix(length))

    def _known_prefix(self, tokens: Tokens) -> Prefix | None:
        common = {prefix: common_length(prefix.tokens, tokens) for prefix in self._prefixes}
        best = max(common, key=lambda one: (common[one], -len(one)), default=None)
        if best is None or common[best] < LEAST_PREFIX:
            return None
        if common[best] < len(best):
            best = best.shortened(_rounded(common[best]))
        return self._add(best)

    def _add(self, prefix: Prefix) -> Prefix:
        """Put a prefix last, and forget the one used longest ago if there are too many."""
        others = [one for one in self._prefixes if one is not prefix]
        self._prefixes = [*others[-(PREFIXES - 1) :], prefix]
        return prefix


def _rounded(length: int) -> int:
    return length // PREFIX_STEP * PREFIX_STEP
