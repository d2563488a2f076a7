"""The batch server's command on a tiny GGUF file: it starts, answers, ends, and refuses."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFWriter, quantize
from tests.batch_server.tiny_model import SIZES, tiny_weights
from tokenizers import pre_tokenizers
from tools.batch_server.chat_text import ChatText, TemplateRefusedError
from tools.batch_server.gguf_file import GgufFile, UnservableError

from sentinel_sql.agent.openai import OpenAIModel

ROOT = Path(__file__).parents[2]
MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}"
    "{% if message.role == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{{ '<|im_start|>assistant\n' }}"
)


def byte_letters() -> list[str]:
    """Return the letters of the bytes 0 to 255, from the tokenizer's own table."""
    split = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    letters = {}
    for code in range(0x800):
        spelled = split.pre_tokenize_str(chr(code))[0][0]
        letters |= dict(zip(chr(code).encode(), spelled, strict=True))
    rest = iter(sorted(set(split.alphabet()) - set(letters.values())))
    return [letters.get(byte) or next(rest) for byte in range(256)]


def write_gguf(path: Path, architecture: str = "qwen2") -> Path:
    tokens = [*byte_letters()[: 256 - len(MARKS) - 1], "ab", *MARKS]
    writer = GGUFWriter(path, architecture)
    writer.add_block_count(SIZES.layers)
    writer.add_context_length(SIZES.context)
    writer.add_embedding_length(SIZES.width)
    writer.add_head_count(SIZES.heads)
    writer.add_head_count_kv(SIZES.shared_heads)
    writer.add_rope_freq_base(SIZES.rotary_base)
    writer.add_layer_norm_rms_eps(SIZES.epsilon)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in MARKS else 1 for token in tokens])
    writer.add_token_merges(["a b"])
    writer.add_chat_template(TEMPLATE)
    for name, weight in tiny_weights().items():
        if weight.ndim == 2:
            kind = GGMLQuantizationType.Q8_0
            writer.add_tensor(name, quantize(weight.numpy(), kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, weight.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


def test_sizes_and_weights_are_those_of_the_file(gguf: Path) -> None:
    file = GgufFile(gguf)
    read = file.sizes
    assert read.epsilon == pytest.approx(SIZES.epsilon)
    assert [read.layers, read.width, read.heads, read.shared_heads, read.head_width] == [
        *(SIZES.layers, SIZES.width, SIZES.heads, SIZES.shared_heads, SIZES.head_width)
    ]
    for name, weight in tiny_weights().items():
        torch.testing.assert_close(file.tensor(name), weight, rtol=0, atol=0.02)


def test_a_chat_becomes_the_tokens_of_its_template(gguf: Path) -> None:
    text = ChatText(GgufFile(gguf))
    tokens = text.tokens([{"role": "user", "content": "cab 12"}])
    spelled = [text.bytes_of(token) for token in tokens.tolist()]
    words = b"user\ncab 12\nassistant\n"
    assert b"".join(spelled) == words
    assert b"ab" in spelled
    assert [token >= 253 for token in tokens.tolist()].count(True) == 3
    assert text.ends == {253, 255}
    with pytest.raises(TemplateRefusedError, match="no tools here"):
        text.tokens([{"role": "tool", "content": ""}])


def test_a_file_that_cant_be_served_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("no model")
    other = write_gguf(tmp_path / "other.gguf", "llama")
    for path, words in (
        (tmp_path / "text.gguf", "can't be read as a GGUF file"),
        (tmp_path / "absent.gguf", "can't be read as a GGUF file"),
        (other, "architecture llama; serve a qwen2 model"),
    ):
        with pytest.raises(UnservableError, match=words) as caught:
            GgufFile(path)
        assert "\n" not in str(caught.value)


def test_the_command_serves_and_ends_cleanly_at_sigterm(gguf: Path) -> None:
    command = [sys.executable, "-m", "tools.batch_server", "--gguf", gguf, "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            assert line.startswith("serving http://127.0.0.1:")
            with OpenAIModel(base_url=line.split()[1], model="tiny", max_tokens=16) as model:
                first, second = (model.complete([{"role": "user", "content": "a"}]) for _ in "ab")
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(20)
    assert code == 0
    assert first.text == second.text
    assert np.isfinite(first.logprobs or [np.nan]).all()
