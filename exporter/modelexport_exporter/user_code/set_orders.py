"""Sets of the user's code in the opposite order, as another process may have them.

The order of a set of strings or objects follows from hashes, which Python draws anew for each
process. All our processes are forks of one, so they agree by chance: a model that goes through such
a set would be verified, and compute something else in the user's next process.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from modelexport_api.spec import Model
from modelexport_exporter.core.user_frame import is_users, shorten, top_package
from modelexport_exporter.user_code.set_iterations import IN_ORDER, POP, ordering

_MOST_LINES = 20
_NUMBERS = (int, float, complex)
"""Types whose hash is the same in every process."""


@dataclass
class _State:
    reversed: bool = False
    lines: dict[tuple[str, int], None] = field(default_factory=dict)
    """Files and lines at which a set was gone through whose order may be another one."""


_STATE = _State()


def watch(model: Model | None, code_dir: Path | None) -> None:
    """From now on, prepare the user's modules, when they are imported, for `opposite`.

    The package of the factory is the user's even if it is installed.
    """
    # Not into the modules: code may run a function of theirs with other globals.
    vars(builtins).update({IN_ORDER: _in_order, POP: _pop})
    factory = model.factory if model is not None else None
    others = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    sys.meta_path[:] = [_Finder(top_package(factory or ""), code_dir), *others]


@contextlib.contextmanager
def opposite() -> Iterator[None]:
    """Go through sets in the opposite order, in modules that the block imports again."""
    before = _taken_out()
    _STATE.reversed = True
    try:
        yield
    finally:
        _STATE.reversed = False
        _taken_out()
        sys.modules.update(before)


def _taken_out() -> dict[str, ModuleType]:
    """Return the watched modules, which are imported no longer."""
    watched = {
        name: module
        for name, module in sys.modules.items()
        if isinstance(getattr(module, "__loader__", None), _Loader)
    }
    for name in watched:
        del sys.modules[name]
    return watched


def lines_seen(code_dir: Path | None) -> tuple[str, ...]:
    """Return the lines that went through a set whose order may be another one, `net.py:12`."""
    return tuple(f"{shorten(name, code_dir)}:{line}" for name, line in _STATE.lines)


class _Finder:
    """Finds the user's modules, before Python does."""

    def __init__(self, package: str, code_dir: Path | None) -> None:
        self._package, self._code_dir = package, code_dir

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module as Python finds it, with our loader; None if it is not the user's."""
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return None
        named = self._package and top_package(name) == self._package
        if not named and not is_users(spec.origin, self._code_dir):
            return None
        spec.loader = _Loader(name, spec.origin)
        return spec


class _Loader(SourceFileLoader):
    """Compiles the file anew: its bytecode goes through sets in their own order."""

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code of the module. Raises what Python raises for a file that is no code."""
        filename = self.get_filename(fullname)
        try:
            tree = ast.parse(self.get_data(filename), filename)
            return compile(ordering(tree), filename, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return super().get_code(fullname)


def _in_order(value: Any) -> Any:  # noqa: ANN401 - whatever the user's code goes through
    if type(value) not in {set, frozenset} or not _varies(value):
        return value
    _note(sys._getframe(1))  # noqa: SLF001 - the call stack has no other door
    return list(value)[::-1] if _STATE.reversed else value


def _pop(value: Any) -> Any:  # noqa: ANN401
    if type(value) is not set or not _varies(value):
        return value.pop()
    _note(sys._getframe(1))  # noqa: SLF001
    if not _STATE.reversed:
        return value.pop()
    last = list(value)[-1]
    value.remove(last)
    return last


def _varies(value: set[object] | frozenset[object]) -> bool:
    return len(value) > 1 and not all(_is_fixed(element) for element in value)


def _is_fixed(element: object) -> bool:
    if type(element) is tuple:
        return all(_is_fixed(own) for own in element)
    return isinstance(element, _NUMBERS)


def _note(frame: Any) -> None:  # noqa: ANN401
    if len(_STATE.lines) < _MOST_LINES:
        _STATE.lines[frame.f_code.co_filename, frame.f_lineno] = None
