"""Writes a module of this process to files that the pipeline reads: weights, and a factory.

The module is pickled without its weights, by value where its class is of a notebook or a script
(cloudpickle). What was typed into a notebook has no file, so its lines go along: torch.jit.script
and the messages read them.
"""

from __future__ import annotations

import json
import linecache
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelexport_cli.export_error import ExportError
from modelexport_cli.export_options import Setting

if TYPE_CHECKING:
    import torch

Arguments = tuple[tuple[Any, ...], dict[str, Any]]

MODULE_FILE = "module.pkl"
EXAMPLE_FILE = "example.pkl"
LINES_FILE = "lines.json"
_MODULE = "modelexport_live"
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
    """A module as files."""

    checkpoint: Path
    code: Path
    factory: str | None
    """None where the checkpoint holds the code."""
    settings: tuple[Setting, ...]


def arguments_of(args: Any, kwargs: Mapping[str, Any] | None) -> Arguments | None:  # noqa: ANN401
    """Return forward's `(args, kwargs)`; one value stands for itself. None if there are none."""
    if not isinstance(args, tuple | list):
        args = (args,)
    return (tuple(args), dict(kwargs or {})) if args or kwargs else None


def write_live(directory: Path, model: torch.nn.Module, arguments: Arguments | None) -> Live:
    """Write a module, to be exported in eval mode, and an example of its arguments.

    Raises ExportError if they cannot be pickled.
    """
    import torch

    code, checkpoint = directory / "code", directory / "checkpoint.pt"
    code.mkdir()
    factory = None
    if isinstance(model, torch.jit.ScriptModule):
        torch.jit.save(model, str(checkpoint))
    else:
        factory = f"{_MODULE}:build"
        state = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
        torch.save(state, checkpoint)
        names = {id(tensor): name for name, tensor in model.state_dict(keep_vars=True).items()}
        _pickle(code / MODULE_FILE, model, names)
    settings: list[Setting] = []
    if arguments is not None:
        _pickle(code / EXAMPLE_FILE, arguments, {})
        settings.append((["model", "exampleInputs"], f"{_MODULE}:example"))
    (code / LINES_FILE).write_text(json.dumps(_lines()), encoding="utf-8")
    (code / f"{_MODULE}.py").write_text(_FACTORY, encoding="utf-8")
    return Live(checkpoint, code, factory, tuple(settings))


def _pickle(path: Path, value: object, names: Mapping[int, str]) -> None:
    """Pickle a value; tensors become what a weight of that name is described by."""
    import cloudpickle
    import torch

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, found: object) -> tuple[Any, ...] | None:
            if not isinstance(found, torch.Tensor) or id(found) not in names:
                return None
            is_parameter = isinstance(found, torch.nn.Parameter)
            return names[id(found)], tuple(found.shape), found.dtype, is_parameter

    try:
        with path.open("wb") as file:
            Pickler(file).dump(value)
    except Exception as error:
        what = type(value).__name__ if names else "args"
        raise ExportError(
            "FactoryFailed",
            f"{what} cannot be pickled: {type(error).__name__}: {error}",
            "Remove what is bound to this process (open files, locks, handles of devices), or "
            "save the weights and use a factory: modelexport export checkpoint.pt --factory "
            "module:callable",
        ) from error


def _lines() -> dict[str, list[str]]:
    """Return the lines of code that no file holds: what was typed into a notebook."""
    found = {name: linecache.getlines(name) for name in [*linecache.cache]}
    return {name: lines for name, lines in found.items() if lines and not Path(name).exists()}
