"""The user's callables: imported by the name that the manifest gives, `package.module:callable`.

Guarantees that every error in user code on the way ends in FactoryNotFound or FactoryFailed
with the line of that code, and with a near name where there is one.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from modelexport_api.reasons import Reason
from modelexport_exporter.core import place
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.core.user_frame import count_as_users, innermost, text_of, user_frame
from modelexport_exporter.user_code.missing_names import (
    Named,
    folder_that_holds,
    no_attribute,
    no_module,
)
from modelexport_exporter.user_code.uncompiled import run_as_written


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
    """Let the user's code be imported, before anything installed that has the same name.

    It runs as it is written, without torch.compile.
    """
    run_as_written()
    if code_dir is not None and str(code_dir) not in sys.path:
        sys.path.insert(0, str(code_dir))
        importlib.invalidate_caches()


def _import(name: str, named: Named, code_dir: Path | None) -> Any:  # noqa: ANN401
    try:
        return importlib.import_module(name)
    except BaseException as error:  # KeyboardInterrupt too: a worker gets no Ctrl-C
        reraise_out_of_memory(error)
        if (missing := _missing_module(error)) is not None:
            raise _not_importable(name, named, missing, code_dir) from error
        raise _import_failed(name, error, code_dir) from error


def _missing_module(error: BaseException) -> ModuleNotFoundError | None:
    """Return the exception that names a module which is not installed.

    transformers imports when a name is asked for, and raises another ModuleNotFoundError, without
    a name, from whatever failed.
    """
    if not isinstance(error, ModuleNotFoundError):
        return None
    cause = error if error.name else innermost(error)
    return cause if isinstance(cause, ModuleNotFoundError) and cause.name else None


def _import_failed(name: str, error: BaseException, code_dir: Path | None) -> ExportFailure:
    cause = innermost(error) if isinstance(error, ModuleNotFoundError) else error
    return ExportFailure(
        Reason.FACTORY_FAILED,
        f"importing {name} raised {describe_error(cause, code_dir, error)}",
        "Correct the module; it must be importable without arguments or a GPU.",
    )


def _not_importable(
    name: str, named: Named, error: ModuleNotFoundError, code_dir: Path | None
) -> ExportFailure:
    missing = error.name or ""
    if missing != name and not name.startswith(f"{missing}."):
        return ExportFailure(
            Reason.FACTORY_NOT_FOUND,
            f"importing {name} failed: it needs the module {missing}, which is not installed "
            f"({user_frame(error, code_dir)})",
            place.add_library(missing),
        )
    top = None if code_dir is None else sorted(path.stem for path in code_dir.iterdir())
    below = _folder_that_holds(name.partition(".")[0], code_dir)
    return no_module(named, missing or name, top, below)


def _folder_that_holds(module: str, code_dir: Path | None) -> str:
    """Return the folder at the code's root that should have been the root."""
    if code_dir is None:
        return ""
    paths = (path.relative_to(code_dir).as_posix() for path in code_dir.glob("*/*"))
    return folder_that_holds(module, paths)


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
    module = getattr(owner, "__name__", None)
    own = [
        item
        for item in public
        if getattr(inspect.getattr_static(owner, item, None), "__module__", "") == module
    ]
    return no_attribute(named, str(module or owner), name, public, own)


def describe_error(
    error: BaseException, code_dir: Path | None, raised: BaseException | None = None
) -> str:
    """Return the exception on one line, with the user's own line.

    `raised`: what reached the user's code, if `error` is its cause.
    """
    text = text_of(error)[:500]
    frame = user_frame(raised or error, code_dir)
    return f"{type(error).__name__}: {text}" + (f" ({frame})" if frame else "")
