"""Starts the server: `python -m tools.batch_server --gguf FILE`."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

import torch

from .batch import Batch
from .chat_text import ChatText
from .endpoint import LOOPBACK, Endpoint, listen
from .gguf_file import GgufFile, UnservableError
from .linear_layers import LINEARS, best_precision
from .model import Model


def main() -> int:
    """Serve until SIGTERM or Ctrl-C, and return the exit code."""
    settings = _parser().parse_args()
    torch.set_num_threads(settings.threads)
    try:
        listener = listen(settings.port)
        port = listener.getsockname()[1]
        file = GgufFile(settings.gguf)
        text = ChatText(file)
        precision = settings.precision or best_precision()
        model = Model(file.sizes, file.tensor, LINEARS[precision])
    except OSError as error:
        print(f"port {settings.port}: {error.strerror}; choose another --port", file=sys.stderr)
        return 2
    except UnservableError as error:
        print(error, file=sys.stderr)
        return 2
    batch = Batch(
        *(model, text),
        most_chats=settings.chats,
        context=settings.context,
        cache_bytes=int(settings.cache_gb * 2**30),
    )
    endpoint = Endpoint(listener, batch=batch, text=text, name=settings.gguf.stem)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: batch.end())
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    print(f"serving http://{LOOPBACK}:{port}/v1 in {precision}", flush=True)
    batch.run()
    endpoint.shutdown()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.batch_server", description=__doc__)
    parser.add_argument("--gguf", type=Path, required=True, help="model file, Qwen2 or Qwen2.5")
    parser.add_argument("--port", type=int, default=8091, help="on 127.0.0.1 [8091]")
    parser.add_argument("--threads", type=int, default=1, help="threads of the processor [1]")
    parser.add_argument("--chats", type=int, default=64, help="chats at once [64]")
    parser.add_argument("--context", type=int, default=8192, help="most tokens of a chat [8192]")
    parser.add_argument(
        "--cache-gb", type=float, default=4.0, help="memory for chats between two turns [4]"
    )
    parser.add_argument(
        "--precision", choices=LINEARS, help="of linear layers [bf16 if the processor has it]"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
