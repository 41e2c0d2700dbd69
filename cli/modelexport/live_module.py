"""Writes a module of this process to files that the pipeline reads: weights, and a factory.

The module is pickled without its weights. What was typed into a notebook has no file, so its lines
go along: torch.jit.script and the messages read them.
"""

from __future__ import annotations

import inspect
import json
import linecache
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from modelexport.arguments import Arguments
from modelexport.live_code import by_value, digests_of, moved_by_value, own_modules, places_of
from modelexport.live_factory import CODES_FILE, EXAMPLE_FILE, LINES_FILE, MODULE_FILE
from modelexport.live_pickle import LivePickler, Weights, unpicklable_part
from modelexport_api.reasons import Reason
from modelexport_cli.export_error import ExportError
from modelexport_cli.export_options import LIVE_MODULE, Setting
from modelexport_exporter.user_code.wrappers import innermost

_FACTORY = '''\
"""Builds the module that was written from a process."""

from modelexport.live_factory import build_from, example_from


def build():
    return build_from(__file__)


def example():
    return example_from(__file__)
'''


@dataclass(frozen=True)
class Live:
    """A model as files."""

    checkpoint: Path
    code: Path
    factory: str | None
    """None where the checkpoint holds the code."""
    settings: tuple[Setting, ...]
    places: tuple[str, ...]
    """Directories in which the modules are that the model may use."""


def forward_of(model: object) -> inspect.Signature | None:
    """Return the signature of forward; None for a model that is no Python code."""
    if not isinstance(model, torch.nn.Module) or isinstance(model, torch.jit.ScriptModule):
        return None
    try:
        return inspect.signature(innermost(model).forward)
    except (TypeError, ValueError):
        return None


def class_name(model: object) -> str:
    """Return the name of a model's class, without wrappers."""
    if isinstance(model, torch.jit.ScriptModule):
        return str(model.original_name)
    if isinstance(model, torch.jit.ScriptFunction):
        return str(model.name)
    return type(innermost(model) if isinstance(model, torch.nn.Module) else model).__name__


def write_live(directory: Path, model: object, arguments: Arguments | None) -> Live:
    """Write a model, to be exported in eval mode, and an example of its arguments.

    Raises ExportError if they cannot be written.
    """
    code = directory / "code"
    code.mkdir()
    modules = own_modules()
    settings: list[Setting] = []
    with by_value(moved_by_value(modules)):
        checkpoint, sources = _write_model(directory, code, model)
        if arguments is not None:
            sources |= _pickle(code / EXAMPLE_FILE, arguments, {})
            settings.append((["model", "exampleInputs"], f"{LIVE_MODULE}:example"))
    (code / LINES_FILE).write_text(json.dumps(_lines(sources)), encoding="utf-8")
    (code / CODES_FILE).write_text(json.dumps(digests_of(modules)), encoding="utf-8")
    (code / f"{LIVE_MODULE}.py").write_text(_FACTORY, encoding="utf-8")
    factory = f"{LIVE_MODULE}:build" if (code / MODULE_FILE).exists() else None
    return Live(checkpoint, code, factory, tuple(settings), places_of(modules))


def _write_model(directory: Path, code: Path, model: object) -> tuple[Path, set[str]]:
    """Write a model; return its checkpoint, and the files of code that goes along."""
    checkpoint = directory / "checkpoint.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch deprecates scripted functions
        if isinstance(model, torch.jit.ScriptModule | torch.jit.ScriptFunction):
            torch.jit.save(model, str(checkpoint))
            return checkpoint, set()
        if isinstance(model, torch.export.ExportedProgram):
            checkpoint = checkpoint.with_suffix(".pt2")
            torch.export.save(model, checkpoint)
            return checkpoint, set()
    if not isinstance(model, torch.nn.Module):
        raise ExportError(
            Reason.FACTORY_FAILED.value,
            f"model is a {type(model).__name__}, not a torch.nn.Module",
            "Pass a torch.nn.Module whose forward calls it, or what torch.jit or torch.export "
            "made of it.",
        )
    model = innermost(model)
    state = model.state_dict(keep_vars=True)
    torch.save({name: _on_cpu(name, value) for name, value in state.items()}, checkpoint)
    weights = {
        id(value): (name, value) for name, value in state.items() if isinstance(value, torch.Tensor)
    }
    return checkpoint, _pickle(code / MODULE_FILE, model, weights)


def _on_cpu(name: str, value: Any) -> Any:  # noqa: ANN401 - get_extra_state returns anything
    if not isinstance(value, torch.Tensor):
        return value
    if torch.nn.parameter.is_lazy(value):
        raise ExportError(
            Reason.FACTORY_FAILED.value,
            f"{name} has no shape yet: its layer is lazy and was not called",
            "Call the model once with example arguments, then export it.",
        )
    if value.is_meta:
        raise ExportError(
            Reason.FACTORY_FAILED.value,
            f"{name} has no values: it is on the meta device",
            "Load the weights, then export the model.",
        )
    return value.detach().cpu()


def _pickle(path: Path, value: object, weights: Weights) -> set[str]:
    """Pickle a value; return the files of functions whose code goes along."""
    try:
        with path.open("wb") as file:
            pickler = LivePickler(file, weights)
            pickler.dump(value)
    except Exception as error:
        raise _unpicklable(value, error) from error
    return pickler.sources


def _unpicklable(value: object, error: Exception) -> ExportError:
    what = "args"
    if isinstance(value, torch.nn.Module):
        part = unpicklable_part(value)
        what = f"{type(value).__name__}" + (f": attribute {part}" if part else "")
    return ExportError(
        Reason.FACTORY_FAILED.value,
        f"{what} cannot be written to a file: {type(error).__name__}: {error}",
        "Remove what is bound to this process (open files, locks, devices), or save the weights "
        "and use a factory: modelexport export checkpoint.pt --factory module:callable",
    )


def _lines(sources: Iterable[str]) -> dict[str, list[str]]:
    """Return the lines of code that no file holds: what was typed into a notebook."""
    missing = sorted(name for name in sources if not Path(name).exists())
    found = {name: linecache.getlines(name) for name in missing}
    return {name: lines for name, lines in found.items() if lines}
