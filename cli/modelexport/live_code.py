"""The caller's own modules: which of them another process can import, as they are in this one.

A class is pickled by the name of its module where a new process imports the same code: then what
the module does when it is imported (registers operators, compiles functions) happens there, too.
Where it would find none, or another code because the file was edited since, the code goes along.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_INSTALLED = frozenset({"site-packages", "dist-packages"})
_LIBRARY = str(Path(contextlib.__file__).parent)
_OWN = ("modelexport", "modelexport_api", "modelexport_cli", "modelexport_exporter")
_MAIN = "__main__"
_REGISTERING = threading.Lock()
"""The registry is the process's."""


def own_modules() -> dict[str, ModuleType]:
    """Return the imported modules that are in no installed package, by name."""
    return {
        name: module
        for name, module in [*sys.modules.items()]
        if name.partition(".")[0] not in (*_OWN, _MAIN) and _is_own(module)
    }


def _is_own(module: object) -> bool:
    file = getattr(module, "__file__", None)
    return (
        isinstance(module, ModuleType)
        and isinstance(file, str)
        and file.endswith(".py")
        and not file.startswith(_LIBRARY)
        and not _INSTALLED.intersection(Path(file).parts)
    )


def digests_of(modules: Mapping[str, ModuleType]) -> dict[str, str]:
    """Return the SHA-256 digest of each module's file: another code is another model."""
    found = {}
    for name, module in sorted(modules.items()):
        with contextlib.suppress(OSError):
            found[name] = hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()
    return found


def places_of(modules: Mapping[str, ModuleType]) -> tuple[str, ...]:
    """Return the directories in which modules are found: the working directory may have changed."""
    places = (place_of(name, str(module.__file__)) for name, module in modules.items())
    return tuple(dict.fromkeys(filter(None, places)))


def place_of(name: str, file: str) -> str | None:
    """Return the directory in which `import name` finds a file; None if it has another name."""
    path = Path(file)
    path = path.parent if path.name == "__init__.py" else path.with_suffix("")
    steps = name.split(".")
    if not path.is_absolute() or list(path.parts[-len(steps) :]) != steps:
        return None
    return str(path.parents[len(steps) - 1])


def moved_by_value(modules: Mapping[str, ModuleType]) -> tuple[ModuleType, ...]:
    """Return the modules that another process does not find, or finds with another code."""
    return tuple(
        module
        for name, module in modules.items()
        if place_of(name, str(module.__file__)) is None or _differs(module)
    )


def _differs(module: ModuleType) -> bool:
    """Return whether a function of a module is not in its file any more."""
    loader = getattr(module, "__loader__", None)
    if not isinstance(loader, SourceFileLoader):
        return False
    try:
        code = loader.get_code(module.__name__)
    except (OSError, ImportError, SyntaxError, ValueError):
        return True
    if code is None:
        return False
    known = set(_codes(code))
    return any(used not in known for used in _used_codes(module))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _used_codes(module: ModuleType) -> Iterator[CodeType]:
    """Yield the code of the functions of a module that were compiled from its file."""
    for function in _functions(vars(module).values(), module.__name__):
        if function.__code__.co_filename == module.__file__:
            yield function.__code__


def _functions(values: Iterable[Any], module: str) -> Iterator[FunctionType]:
    for value in values:
        if isinstance(value, type):
            if value.__module__ == module:
                yield from _functions(vars(value).values(), module)
        elif isinstance(value, staticmethod | classmethod):
            yield from _functions([value.__func__], module)
        elif isinstance(value, property):
            yield from _functions([value.fget, value.fset, value.fdel], module)
        elif isinstance(value, FunctionType):
            yield value
            yield from _functions([getattr(value, "__wrapped__", None)], module)


@contextlib.contextmanager
def by_value(modules: Iterable[ModuleType]) -> Iterator[None]:
    """Let cloudpickle pickle what these modules define, instead of its name."""
    import cloudpickle

    with _REGISTERING:
        before = cloudpickle.list_registry_pickle_by_value()
        added = [module for module in modules if module.__name__ not in before]
        for module in added:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in added:
                cloudpickle.unregister_pickle_by_value(module)
