"""Where in the user's own code an exception was raised: one line instead of a traceback."""

from __future__ import annotations

import linecache
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from modelexport_exporter.core.installed import package_directories, standard_directories

_LIBRARIES = (*standard_directories(), *package_directories())
_OWN = str(Path(__file__).parents[1])
_FRAMEWORKS = frozenset(
    {"torch", "torchvision", "torchaudio", "transformers", "timm", "diffusers", "functorch"}
    | {"torch_geometric", "torch_scatter", "sentence_transformers", "onnx", "onnxruntime"}
)
"""Packages that a factory may be taken from, and whose code is nobody's own."""
_OF_MODELS = _FRAMEWORKS - {"torch", "functorch", "onnx", "onnxruntime"}
"""Those with whole models: their lines are named where no line of the user's decides."""
_packages: set[str] = set()
"""Folders and files of installed packages that the manifest names: the user's own code."""


@dataclass(frozen=True)
class UserLine:
    """A line of the user's code; as text `net.py:12 in forward: return x.item()`."""

    source: str
    """`net.py:12`"""
    function: str = ""
    code: str = ""

    def __str__(self) -> str:
        function = f" in {self.function}" if self.function else ""
        return f"{self.source}{function}{f': {self.code}' if self.code else ''}"


def user_line(error: BaseException, code_dir: Path | None) -> UserLine | None:
    """Return the innermost line of the user's code in the traceback."""
    return _last_line(
        [frame for frame in _frames(error) if is_users(frame.filename, code_dir)], code_dir
    )


def model_line(error: BaseException, code_dir: Path | None) -> UserLine | None:
    """Return the user's line; where there is none, the line of the library's model."""
    of_models = [frame for frame in _frames(error) if _is_of_models(frame.filename)]
    return user_line(error, code_dir) or _last_line(of_models, code_dir)


def _last_line(frames: Sequence[traceback.FrameSummary], code_dir: Path | None) -> UserLine | None:
    if not frames:
        return None
    last = frames[-1]
    return UserLine(f"{shorten(last.filename, code_dir)}:{last.lineno}", last.name, last.line or "")


def running_line(code_dir: Path | None) -> UserLine | None:
    """Return the innermost line of the user's own code that is running."""
    return _running(lambda filename: is_users(filename, code_dir), code_dir)


def running_model_line(code_dir: Path | None) -> UserLine | None:
    """Return the user's line that is running; where there is none, the library's model's."""
    return running_line(code_dir) or _running(_is_of_models, code_dir)


def _running(asked: Callable[[str], bool], code_dir: Path | None) -> UserLine | None:
    frame = sys._getframe()  # noqa: SLF001 - the call stack has no other door
    found = frame.f_back
    while found is not None and not asked(found.f_code.co_filename):
        found = found.f_back
    if found is None:
        return None
    name = found.f_code.co_filename
    source = linecache.getline(name, found.f_lineno).strip()
    place = f"{shorten(name, code_dir)}:{found.f_lineno}"
    return UserLine(place, found.f_code.co_name, source)


def user_frame(error: BaseException, code_dir: Path | None) -> str:
    """Return `user_line` as text, empty where no frame is the user's."""
    return str(user_line(error, code_dir) or "")


def message_of(error: BaseException) -> str:
    """Return the exception's message, also of an exception that cannot say it."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - __str__ may be the user's
        return "(an exception without a readable message)"


def text_of(error: BaseException) -> str:
    """Return the exception's message on one line."""
    return " ".join(message_of(error).split())


def last_line_of(error: BaseException) -> str:
    """Return the message's last line: a script that fails has its stacks before it."""
    lines = message_of(error).strip().splitlines() or [type(error).__name__]
    return " ".join(lines[-1].split())


def shorten(filename: str, code_dir: Path | None) -> str:
    """Return the path as the user knows it: below the code's root, or the bare name."""
    path = Path(filename)
    if code_dir is not None and path.is_relative_to(code_dir):
        return str(path.relative_to(code_dir))
    return path.name


def innermost(error: BaseException) -> BaseException:
    """Return the exception that began the chain."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None:
            break
        error = cause
    return error


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    return list(traceback.extract_tb(error.__traceback__))


def count_as_users(module_name: str) -> None:
    """Let an imported module's package count as the user's code, though it is installed."""
    package = top_package(module_name)
    if not package:
        return
    module = sys.modules.get(package)
    file = getattr(module, "__file__", None)
    folders = [str(Path(folder) / "x")[:-1] for folder in getattr(module, "__path__", ())]
    _packages.update(folders or ([file] if isinstance(file, str) else []))


def top_package(module_name: str) -> str:
    """Return the package of a module or of `module:callable`; empty for a framework's."""
    package = module_name.partition(":")[0].partition(".")[0]
    return "" if package in _FRAMEWORKS or package in sys.stdlib_module_names else package


def is_below(filename: str, code_dir: Path | None) -> bool:
    """Return whether a file of a module is below the code's root.

    By their text: thousands of modules are asked after, and a `Path` takes 20 times as long.
    """
    return code_dir is not None and filename.startswith(f"{code_dir}{os.sep}")


def is_own(filename: str) -> bool:
    """Return whether a file is this project's."""
    return filename.startswith(_OWN)


def is_users(filename: str, code_dir: Path | None) -> bool:
    """Return whether a file is the user's own code, and not a library's or ours."""
    if is_below(filename, code_dir):
        return True
    if is_own(filename):
        return False
    return filename.startswith(tuple(_packages)) or not filename.startswith(("<", *_LIBRARIES))


def _is_of_models(filename: str) -> bool:
    """Return whether a file is of an installed library of models, such as transformers."""
    parents = [folder for folder in package_directories() if filename.startswith(folder)]
    return any(filename[len(folder) :].partition(os.sep)[0] in _OF_MODELS for folder in parents)
