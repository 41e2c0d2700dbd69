"""Import a plugin; each way in which its code can fail is a failure with a reason.

Guarantees a CodeInvalid with the plugin's own line for every way in which an import can fail, never
a traceback.
"""

from __future__ import annotations

import difflib
import importlib
from pathlib import Path
from types import ModuleType

from modelexport_api.reasons import Reason
from modelexport_exporter.core import place
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.core.user_frame import shorten, text_of, user_frame


def import_plugin(name: str, code_dir: Path | None) -> ModuleType:
    """Return the plugin's module. Raises ExportFailure."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise _not_found(name, error, code_dir) from error
    except SyntaxError as error:
        where = f"{shorten(error.filename or name, code_dir)}:{error.lineno}"
        raise _invalid(
            f"export.plugins: {name} is not valid Python at {where}: {error.msg}"
            + (f": {error.text.strip()}" if error.text else ""),
            "Correct the line.",
        ) from error
    except SystemExit as error:
        raise _invalid(
            f"export.plugins: importing {name} exits the process (code {error.code})"
            + _place(error, code_dir),
            "A plugin is a module, not a script: keep what ends it below "
            'if __name__ == "__main__".',
        ) from error
    except BaseException as error:
        reraise_out_of_memory(error)
        raise _invalid(
            f"export.plugins: importing {name} raised {type(error).__name__}: "
            f"{text_of(error)[:500]}{_place(error, code_dir)}",
            "Correct the plugin; it must be importable without arguments or a GPU, by torch "
            "of this version.",
        ) from error


def _not_found(name: str, error: ModuleNotFoundError, code_dir: Path | None) -> ExportFailure:
    missing = error.name or name
    if missing != name and not name.startswith(f"{missing}."):
        return _invalid(
            f"export.plugins: {name} needs the module {missing}, which is not installed"
            + _place(error, code_dir),
            place.add_library(missing),
        )
    top = sorted(path.stem for path in code_dir.iterdir()) if code_dir is not None else []
    near = difflib.get_close_matches(name.partition(".")[0], top, n=3)
    where = place.where_modules_are(code=code_dir is not None)
    found = f"; the root of model.code holds {', '.join(top[:8]) or 'nothing'}" if code_dir else ""
    return _invalid(
        f"export.plugins: there is no module {missing} {where}{found}",
        (f"Did you mean {' or '.join(near)}? " if near else "")
        + "A plugin is package.module, as seen from the root of model.code.",
    )


def _place(error: BaseException, code_dir: Path | None) -> str:
    frame = user_frame(error, code_dir)
    return f" ({frame})" if frame else ""


def _invalid(message: str, hint: str) -> ExportFailure:
    return ExportFailure(Reason.CODE_INVALID, message, hint)
