"""The optional libraries behind encoders, imported when first needed and named when missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from sentinel_sql.installation import missing_extra

FITTING = ("encoder and embedding heads", "encoders")
SERVING = ("monitors served by onnxruntime", "onnx")


def torch() -> ModuleType:
    """Return torch."""
    return imported("torch", FITTING)


def transformers() -> ModuleType:
    """Return transformers, told to say nothing but errors."""
    library = imported("transformers", FITTING)
    logging = import_module("transformers.utils.logging")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return library


def tokenizers() -> ModuleType:
    """Return tokenizers."""
    return imported("tokenizers", SERVING)


def onnxruntime() -> ModuleType:
    """Return onnxruntime."""
    return imported("onnxruntime", SERVING)


def imported(name: str, need: tuple[str, str]) -> ModuleType:
    """Import a library, or say what needs it and by which command its extra comes."""
    try:
        return import_module(name)
    except ImportError as error:
        raise missing_extra(*need) from error
