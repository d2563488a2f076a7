"""Counts the bytes that arrive at a socket which libpq reads, as libpq itself has no bound."""

from __future__ import annotations

import fcntl
import socket
import struct
import termios
from typing import Final

_TCP_INFO: Final = getattr(socket, "TCP_INFO", None)
_UNTIL_RECEIVED: Final = struct.Struct("=128xQ")
"""Linux's `tcp_info` up to `tcpi_bytes_received`."""
_INTEGER: Final = struct.Struct("i")


class ReceivedBytes:
    """Counts from now on what arrives at a socket.

    Linux counts the bytes of a TCP connection. On other sockets the bytes that wait before each
    read are added up. These are fewer: what arrives during a read is not counted.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._before = _bytes_over_tcp(descriptor)
        self._waited = 0

    def count(self) -> int:
        """Return the bytes so far; called before each read."""
        if self._before is not None:
            return (_bytes_over_tcp(self._descriptor) or 0) - self._before
        waiting = fcntl.ioctl(self._descriptor, termios.FIONREAD, _INTEGER.pack(0))
        self._waited += int(_INTEGER.unpack(waiting)[0])
        return self._waited


def _bytes_over_tcp(descriptor: int) -> int | None:
    """Return the bytes that a TCP connection ever got; None for another socket or system."""
    if _TCP_INFO is None:
        return None
    view = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=descriptor)
    try:
        info = view.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _UNTIL_RECEIVED.size)
        return int(_UNTIL_RECEIVED.unpack(info)[0])
    except (OSError, struct.error):
        return None
    finally:
        view.detach()
