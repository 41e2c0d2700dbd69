"""The user's callables: imported by the name that the manifest gives, `package.module:callable`.

Guarantees that every error in user code on the way ends in FactoryNotFound or FactoryFailed
with the line of that code, and with a near name where there is one.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.core.user_frame import count_as_users, text_of, user_frame


@dataclass(frozen=True)
class Named:
    """A callable as the manifest names it."""

    field: str
    """`model.factory`"""
    path: str
    returns: str
    """What it returns, for a hint: `the torch.nn.Module`."""


def find_callable(named: Named, code_dir: Path | None) -> Callable[..., Any]:
    """Import the callable, the code's root first on sys.path."""
    put_on_path(code_dir)
    module_name, _, attribute = named.path.partition(":")
    function = _import(module_name, named, code_dir)
    count_as_users(module_name)
    for part in attribute.split("."):
        function = _attribute(function, part, named, code_dir)
    if not callable(function):
        raise ExportFailure(
            Reason.FACTORY_NOT_FOUND,
            f"{named.field} {named.path} is a {type(function).__name__}, not a callable",
            f"Name a function or a class that returns {named.returns}.",
        )
    found: Callable[..., Any] = function
    return found


def put_on_path(code_dir: Path | None) -> None:
    """Let the user's code be imported, before anything of the image that has the same name."""
    if code_dir is not None and str(code_dir) not in sys.path:
        sys.path.insert(0, str(code_dir))
        importlib.invalidate_caches()


def _import(name: str, named: Named, code_dir: Path | None) -> Any:  # noqa: ANN401
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise _not_importable(name, named, error, code_dir) from error
    except BaseException as error:  # KeyboardInterrupt too: a worker gets no Ctrl-C
        reraise_out_of_memory(error)
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"importing {name} raised {describe_error(error, code_dir)}",
            "Correct the module; it must be importable without arguments or a GPU.",
        ) from error


def _not_importable(
    name: str, named: Named, error: ModuleNotFoundError, code_dir: Path | None
) -> ExportFailure:
    missing = error.name or ""
    if missing != name and not name.startswith(f"{missing}."):
        return ExportFailure(
            Reason.FACTORY_NOT_FOUND,
            f"importing {name} failed: it needs the module {missing}, which is not installed "
            f"({user_frame(error, code_dir)})",
            f"Add {missing} to model.code, or to the exporter's image (podTemplate).",
        )
    top = sorted(path.stem for path in code_dir.iterdir()) if code_dir is not None else []
    first = name.partition(".")[0]
    near = difflib.get_close_matches(first, top, n=3)
    below = _folder_that_holds(first, code_dir)
    where = "model.code and the image" if code_dir is not None else "the image"
    found = f"; the root of model.code holds {', '.join(top[:8]) or 'nothing'}" if code_dir else ""
    return ExportFailure(
        Reason.FACTORY_NOT_FOUND,
        f"there is no module {missing or name} in {where}{found}",
        (
            f"It is in the folder {below}: zip the content of {below}, not the folder. "
            if below
            else ""
        )
        + _did_you_mean(near)
        + f"{named.field} is package.module:callable, as seen from the root of model.code.",
    )


def _folder_that_holds(module: str, code_dir: Path | None) -> str:
    """Return the folder at the code's root that should have been the root."""
    if code_dir is None:
        return ""
    found = [*code_dir.glob(f"*/{module}.py"), *code_dir.glob(f"*/{module}/")]
    return min((path.parent.name for path in found), default="")


def _attribute(owner: Any, name: str, named: Named, code_dir: Path | None) -> Any:  # noqa: ANN401
    try:
        return getattr(owner, name)
    except AttributeError:
        raise _no_attribute(owner, name, named) from None
    except BaseException as error:  # __getattr__ and properties are user code as well
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"looking {name} of {named.path} up raised {describe_error(error, code_dir)}",
            f"Name a function or a class that returns {named.returns}.",
        ) from error


def _no_attribute(owner: Any, name: str, named: Named) -> ExportFailure:  # noqa: ANN401
    public = [item for item in dir(owner) if not item.startswith("_")]
    near = difflib.get_close_matches(name, public, n=3)
    own = [
        item
        for item in public
        if getattr(inspect.getattr_static(owner, item, None), "__module__", "")
        == getattr(owner, "__name__", None)
    ]
    return_hint = _did_you_mean(near) or (f"It defines {', '.join(own[:8])}. " if own else "")
    return ExportFailure(
        Reason.FACTORY_NOT_FOUND,
        f"{named.field} is {named.path}, but {getattr(owner, '__name__', owner)} has no {name}",
        return_hint + f"Name the function or class that returns {named.returns}.",
    )


def _did_you_mean(near: list[str]) -> str:
    return f"Did you mean {' or '.join(near)}? " if near else ""


def describe_error(error: BaseException, code_dir: Path | None) -> str:
    """Return the exception on one line, with the user's own line."""
    text = text_of(error)[:500]
    frame = user_frame(error, code_dir)
    return f"{type(error).__name__}: {text}" + (f" ({frame})" if frame else "")
