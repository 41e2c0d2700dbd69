"""What torch.save wrote, read without running code from the checkpoint.

Guarantees `weights_only=True` unless the spec trusts the checkpoint (`allowPickle`), puts inert
objects where the checkpoint names classes of others, names a global that is refused, and maps the
file into memory where its layout allows (zip; files from before torch 1.6 are read whole).
"""

from __future__ import annotations

import pickle  # for its exception only
import warnings
from pathlib import Path
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.archive_records import check_storages
from modelexport_exporter.checkpoint.inert_objects import could_be_meant_to_run, stand_in
from modelexport_exporter.checkpoint.layout import Layout
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.foreign_messages import (
    MAIN_MODULE,
    REFUSED_GLOBAL,
    UNKNOWN_OPCODE,
    WRONG_CONTAINER,
)
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory

_MOST_CLASSES = 200
_UNSAFE_HINT = (
    "Save the weights alone, torch.save(model.state_dict(), path) or safetensors, and export that "
    "file. Only if you trust the checkpoint as you trust your own code: source.allowPickle: true."
)
_CORRUPT_HINT = "Upload the checkpoint again, and compare its size with the original."


def read_pickled(path: Path, layout: Layout, *, allow_pickle: bool) -> Any:  # noqa: ANN401
    """Return the object that torch.save wrote, its tensors on the CPU."""
    if layout is Layout.ZIP:
        check_storages(path)
    if allow_pickle:
        try:
            return _load(path, layout, weights_only=False)
        except pickle.UnpicklingError as error:
            raise _damaged(path, error) from error
    classes: dict[str, type] = {}
    for _ in range(_MOST_CLASSES):
        known: list[Any] = [(inert, name) for name, inert in classes.items()]
        try:
            with torch.serialization.safe_globals(known):
                return _load(path, layout, weights_only=True)
        except pickle.UnpicklingError as error:
            if not _learn(classes, error):
                raise _refusal(path, error) from error
    raise _unsafe(path, f"it names more than {_MOST_CLASSES} classes")


def _load(path: Path, layout: Layout, *, weights_only: bool) -> Any:  # noqa: ANN401
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(
                path, map_location="cpu", mmap=layout is Layout.ZIP, weights_only=weights_only
            )
    except pickle.UnpicklingError:
        raise
    except (ImportError, AttributeError) as error:
        if weights_only:
            raise _damaged(path, error) from error
        raise _code_missing(path, error) from error
    except Exception as error:  # damaged bytes can raise any error
        reraise_out_of_memory(error)
        raise _damaged(path, error) from error


def _learn(classes: dict[str, type], error: pickle.UnpicklingError) -> bool:
    """Add the class that was refused, if an inert object may replace it."""
    refused = REFUSED_GLOBAL.search(str(error))
    if refused is not None:
        name = refused.group(1)
        if "." not in name:  # torch leaves the module out
            name = f"builtins.{name}"
        if name in classes or could_be_meant_to_run(name):
            return False
        classes[name] = stand_in(name)
        return True
    wrong = WRONG_CONTAINER.search(str(error))
    if wrong is None:
        return False
    name = wrong.group(2).removeprefix(f"{stand_in.__module__}.")
    if name not in classes:
        return False
    classes[name] = stand_in(name, dict if wrong.group(1) == "SETITEM" else list)
    return True


def _refusal(path: Path, error: pickle.UnpicklingError) -> ExportFailure:
    refused = REFUSED_GLOBAL.search(str(error))
    if refused is not None:
        return _unsafe(path, f"it asks for {refused.group(1)}, which was refused")
    if UNKNOWN_OPCODE in str(error):
        return ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} cannot be unpickled: it is damaged, or was saved with a pickle_protocol "
            "other than 2, which torch reads only as code",
            "Save it again with torch.save and its default pickle_protocol, or as safetensors.",
        )
    return ExportFailure(
        Reason.CHECKPOINT_CORRUPT,
        f"{path.name} cannot be unpickled: it is damaged, or not a checkpoint of torch.save",
        _CORRUPT_HINT,
    )


def unsafe_object(path: Path, name: str) -> ExportFailure:
    """Return the failure for an object that is needed, and would have to run code."""
    return _unsafe(path, f"it asks for {name}, a pickled object and not weights")


def _unsafe(path: Path, what: str) -> ExportFailure:
    return ExportFailure(
        Reason.UNSAFE_CHECKPOINT,
        f"{path.name} is a pickle that would run code when it is loaded: {what}",
        _UNSAFE_HINT,
    )


def _damaged(path: Path, error: Exception) -> ExportFailure:
    lines = str(error).splitlines() or [type(error).__name__]
    return ExportFailure(
        Reason.CHECKPOINT_CORRUPT,
        f"{path.name} is cut off or damaged: {lines[0][:300]}",
        _CORRUPT_HINT,
    )


def _code_missing(path: Path, error: Exception) -> ExportFailure:
    """Explain a pickle whose classes are not here; `__main__` is the script that saved it."""
    text = " ".join(str(error).split())[:300]
    script = MAIN_MODULE in text
    return ExportFailure(
        Reason.FACTORY_NOT_FOUND,
        f"{path.name} holds Python objects whose code is not here: {text}",
        (
            "The class was defined in the script that saved the checkpoint, where nothing can "
            "import it: save torch.save(model.state_dict(), path) and name the class in "
            "model.factory."
            if script
            else "Bring the module with model.code, in the package where it was when the "
            "checkpoint was saved, or save torch.save(model.state_dict(), path) instead."
        ),
    )
