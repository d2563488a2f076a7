"""The optional libraries for encoders: imported when first needed, with an error if missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from sentinel_sql.installation import missing_extra

FITTING = ("encoder and embedding heads", "encoders")
SERVING = ("monitors served by onnxruntime", "onnx")


def torch() -> ModuleType:
    """Return torch."""
    return import_extra("torch", FITTING)


def transformers() -> ModuleType:
    """Return transformers, set to log errors only."""
    library = import_extra("transformers", FITTING)
    logging = import_module("transformers.utils.logging")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return library


def tokenizers() -> ModuleType:
    """Return tokenizers."""
    return import_extra("tokenizers", SERVING)


def onnxruntime() -> ModuleType:
    """Return onnxruntime."""
    return import_extra("onnxruntime", SERVING)


def import_extra(name: str, need: tuple[str, str]) -> ModuleType:
    """Import a library of an extra.

    Args:
        name: the module.
        need: what needs it, and the name of the extra.

    Raises:
        MissingExtraError: it isn't installed; says what needs it and how to install it.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise missing_extra(*need) from error
