"""A real encoder of a few layers, made from its configuration, with a tokenizer of its own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

Family = Literal["modernbert", "distilbert"]


def make_encoder(
    folder: Path,
    texts: Iterable[str],
    *,
    family: Family = "modernbert",
    layers: int = 2,
    width: int = 48,
    longest: int = 4096,
) -> Path:
    """Write an untrained encoder as a folder that the Auto classes read."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    from sentinel_sql.monitor.encoders.extras import transformers

    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=1000,
            special_tokens=["[PAD]", "[CLS]", "[SEP]"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    library = transformers()
    words = tokenizer.get_vocab_size()
    if family == "modernbert":
        config = library.ModernBertConfig(
            vocab_size=words,
            hidden_size=width,
            intermediate_size=2 * width,
            num_hidden_layers=layers,
            num_attention_heads=2,
            max_position_embeddings=longest,
            classifier_pooling="mean",
            pad_token_id=0,
            cls_token_id=1,
            sep_token_id=2,
            bos_token_id=1,
            eos_token_id=2,
        )
    else:
        config = library.DistilBertConfig(
            vocab_size=words,
            dim=width,
            hidden_dim=2 * width,
            n_layers=layers,
            n_heads=2,
            max_position_embeddings=min(longest, 512),
            pad_token_id=0,
        )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        library.AutoModel.from_config(config).save_pretrained(str(folder))
    return folder
