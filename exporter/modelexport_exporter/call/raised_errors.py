"""What to do about an error that forward raised, by its kind."""

from __future__ import annotations

import os
import traceback

from modelexport_exporter.core import place
from modelexport_exporter.core.foreign_messages import NO_GPU
from modelexport_exporter.core.user_frame import text_of

_DEFECTS = (AttributeError, NameError, NotImplementedError, RecursionError)
"""They are raised whatever the inputs are."""


def way_out(error: BaseException, of_inputs: str) -> str:
    """Return a hint; `of_inputs`: the one for an error that other inputs may avoid."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return place.add_library(error.name)
    if isinstance(error, OSError) and error.filename:
        return (
            "Read this file in the factory or in __init__, from a path next to __file__: the "
            "export runs in another directory, and model.code brings what is beside the code."
        )
    if isinstance(error, KeyError) and _is_of_environment(error):
        return (
            "The export has no such environment variable. Take the value from model.kwargs of the "
            "factory."
        )
    if isinstance(error, _DEFECTS):
        return "Correct this line of the model: it fails whatever the inputs are."
    if any(words in text_of(error) for words in NO_GPU):
        return (
            "Take the device from the inputs (device=x.device), without .cuda(): the export runs "
            "on the CPU."
        )
    return of_inputs


def _is_of_environment(error: KeyError) -> bool:
    """Return whether `os.environ[...]` raised it."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].f_globals.get("__name__") == os.__name__
