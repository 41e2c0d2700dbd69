"""The user's factory: imported, called, and held responsible for what it does.

Guarantees that whatever happens in user code ends in FactoryNotFound or FactoryFailed with the
line of that code, never in a traceback.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Model
from modelexport_exporter.failure import ExportFailure
from modelexport_exporter.isolation.out_of_memory import reraise_out_of_memory
from modelexport_exporter.user_code.user_frame import user_frame

Factory = Callable[[], torch.nn.Module]


def find_factory(model: Model, code_dir: Path | None) -> Factory:
    """Import the factory, the code's root first on sys.path, and bind its arguments."""
    if code_dir is not None and str(code_dir) not in sys.path:
        sys.path.insert(0, str(code_dir))
        importlib.invalidate_caches()
    module_name, _, attribute = model.factory.partition(":")
    function = _import(module_name, code_dir)
    for part in attribute.split("."):
        function = _attribute(function, part, model.factory)
    if not callable(function):
        raise ExportFailure(
            Reason.FACTORY_NOT_FOUND,
            f"model.factory {model.factory} is a {type(function).__name__}, not a callable",
            "Name a function or a class that returns the torch.nn.Module.",
        )
    bound = function
    return lambda: _call(bound, model, code_dir)


def _import(name: str, code_dir: Path | None) -> Any:  # noqa: ANN401
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise _not_importable(name, error, code_dir) from error
    except (Exception, SystemExit) as error:
        reraise_out_of_memory(error)
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"importing {name} raised {_describe(error, code_dir)}",
            "Correct the module; it must be importable without arguments or a GPU.",
        ) from error


def _not_importable(name: str, error: ModuleNotFoundError, code_dir: Path | None) -> ExportFailure:
    missing = error.name or ""
    if missing != name and not name.startswith(f"{missing}."):
        return ExportFailure(
            Reason.FACTORY_NOT_FOUND,
            f"importing {name} failed: it needs the module {missing}, which is not installed "
            f"({user_frame(error, code_dir)})",
            f"Add {missing} to model.code, or to the exporter's image (podTemplate).",
        )
    top = sorted(path.stem for path in code_dir.iterdir()) if code_dir is not None else []
    near = difflib.get_close_matches(name.partition(".")[0], top, n=3)
    where = "model.code and the image" if code_dir is not None else "the image"
    found = f"; the root of model.code holds {', '.join(top[:8]) or 'nothing'}" if code_dir else ""
    return ExportFailure(
        Reason.FACTORY_NOT_FOUND,
        f"there is no module {missing or name} in {where}{found}",
        _did_you_mean(near)
        + "model.factory is package.module:callable, as seen from the root of model.code.",
    )


def _attribute(owner: Any, name: str, factory: str) -> Any:  # noqa: ANN401
    if hasattr(owner, name):
        return getattr(owner, name)
    public = [item for item in dir(owner) if not item.startswith("_")]
    near = difflib.get_close_matches(name, public, n=3)
    own = [
        item
        for item in public
        if getattr(getattr(owner, item), "__module__", "") == getattr(owner, "__name__", None)
    ]
    return_hint = _did_you_mean(near) or (f"It defines {', '.join(own[:8])}. " if own else "")
    raise ExportFailure(
        Reason.FACTORY_NOT_FOUND,
        f"model.factory is {factory}, but {getattr(owner, '__name__', owner)} has no {name}",
        return_hint + "Name the function or class that returns the torch.nn.Module.",
    )


def _did_you_mean(near: list[str]) -> str:
    return f"Did you mean {' or '.join(near)}? " if near else ""


def _call(function: Callable[..., Any], model: Model, code_dir: Path | None) -> torch.nn.Module:
    try:
        module = function(**model.kwargs)
    except (Exception, SystemExit) as error:
        reraise_out_of_memory(error)
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"{model.factory} raised {_describe(error, code_dir)}",
            f"Correct the factory, or model.kwargs (given: {', '.join(model.kwargs) or 'none'}).",
        ) from error
    if not isinstance(module, torch.nn.Module):
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"{model.factory} returned a {type(module).__name__}, not a torch.nn.Module",
            "Return the module itself, with no weights loaded.",
        )
    return module


def _describe(error: BaseException, code_dir: Path | None) -> str:
    text = " ".join(str(error).split())[:500]
    frame = user_frame(error, code_dir)
    return f"{type(error).__name__}: {text}" + (f" ({frame})" if frame else "")
