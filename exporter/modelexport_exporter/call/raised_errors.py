"""What to do about an error that forward raised, by its kind."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable

import torch

from modelexport_exporter.core import place
from modelexport_exporter.core.foreign_messages import NO_GPU
from modelexport_exporter.core.user_frame import text_of

_DEFECTS = (AttributeError, NameError, NotImplementedError, RecursionError)
"""They are raised whatever the inputs are."""
_OF_STRINGS = re.compile(
    r"'Tensor' object has no attribute '(lower|upper|split|strip|encode|startswith|endswith|join)'"
)
_READ_BY_KEY = re.compile(r"""[\w)\]]\[\s*["']""")


def way_out(error: BaseException, of_inputs: str) -> str:
    """Return a hint; `of_inputs`: the one for an error that other inputs may avoid."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return place.add_library(error.name)
    return next((hint for holds, hint in _HINTS if holds(error)), of_inputs)


def _is_of_file(error: BaseException) -> bool:
    return isinstance(error, OSError) and bool(error.filename)


def _is_of_environment(error: BaseException) -> bool:
    """Return whether `os.environ[...]` raised it."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    of_os = bool(frames) and frames[-1].f_globals.get("__name__") == os.__name__
    return of_os and isinstance(error, KeyError)


def _is_of_key(error: BaseException) -> bool:
    """Return whether a tensor was read as a dict: `batch["ids"]`."""
    frames = traceback.extract_tb(error.__traceback__)
    line = (frames[-1].line or "") if frames else ""
    return isinstance(error, TypeError | IndexError) and bool(_READ_BY_KEY.search(line))


def _is_of_strings(error: BaseException) -> bool:
    return isinstance(error, AttributeError) and bool(_OF_STRINGS.search(text_of(error)))


def _is_of_lengths(error: BaseException) -> bool:
    return "enforce_sorted" in text_of(error)


def is_certain(error: BaseException) -> bool:
    """Return whether the advice of an error is right whatever calls are accepted."""
    return _is_of_strings(error) or _is_of_lengths(error)


def _is_of_gpu(error: BaseException) -> bool:
    return any(words in text_of(error) for words in NO_GPU)


_HINTS: tuple[tuple[Callable[[BaseException], bool], str], ...] = (
    (
        _is_of_file,
        "Read this file in the factory or in __init__, from a path next to __file__: the export "
        "runs in another directory, and model.code includes the files next to the code.",
    ),
    (
        _is_of_environment,
        "The export has no such environment variable. Take the value from model.kwargs of the "
        "factory.",
    ),
    (
        _is_of_strings,
        "Forward expects text, which a tensor does not hold: make ids of it before the model, and "
        "declare them as int64.",
    ),
    (
        _is_of_lengths,
        "Pass enforce_sorted=False to pack_padded_sequence: the order of the rows is then free.",
    ),
    (
        lambda error: isinstance(error, torch.linalg.LinAlgError),  # type: ignore[attr-defined]
        "The drawn matrices have no such inverse or factorization: describe real inputs by "
        "verification.sampler or verification.goldenInputs, or compute them in forward so that "
        "they have one (a @ a.mT + eps * I).",
    ),
    (
        lambda error: isinstance(error, _DEFECTS),
        "Correct this line of the model: it fails whatever the inputs are.",
    ),
    (
        _is_of_key,
        "Forward reads a declared input by a key. Name the inputs PARAMETER.KEY, as in batch.ids: "
        "then forward gets a dict of them.",
    ),
    (
        lambda error: "does not require grad" in text_of(error),
        "Forward trains: it calls backward. A file computes outputs only: move this step out of "
        "forward, and export what it leads to.",
    ),
    (
        _is_of_gpu,
        "Take the device from the inputs (device=x.device), without .cuda(): the export runs on "
        "the CPU.",
    ),
)
