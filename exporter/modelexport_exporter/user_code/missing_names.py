"""The failures for a name of the user's code that does not exist: pure.

They are the same before torch is imported, from the text of the code, and after it was imported.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from modelexport_api.reasons import Reason
from modelexport_exporter.core import place
from modelexport_exporter.core.errors import ExportFailure

_SHOWN = 8


@dataclass(frozen=True)
class Named:
    """A callable as the manifest names it."""

    field: str
    """`model.factory`"""
    path: str
    returns: str
    """What it returns, for a hint: `the torch.nn.Module`."""


def no_factory(checkpoint: str, detected: str) -> ExportFailure:
    """Return the failure for a checkpoint that needs a factory and has none."""
    return ExportFailure(
        Reason.FACTORY_NOT_FOUND,
        f"{checkpoint} is a {detected}: it holds weights but no graph, and the spec names no "
        "model.factory",
        "Set model.factory (--factory of modelexport export) to package.module:callable that "
        "returns the torch.nn.Module.",
    )


def no_module(
    named: Named, missing: str, top: Sequence[str] | None, folder: str = ""
) -> ExportFailure:
    """Return the failure for a module that is neither in the code nor installed.

    `top`: the names at the code's root, None without code; `folder`: one that holds the module.
    """
    near = difflib.get_close_matches(missing.partition(".")[0], top or (), n=3)
    where = place.where_modules_are(code=top is not None)
    found, advice = "", "Name the folder of the module in model.code. "
    if top is not None:
        found = f"; the root of model.code holds {', '.join(top[:_SHOWN]) or 'nothing'}"
        advice = ""
    if folder:
        advice = f"It is in the folder {folder}: end model.code.uri with {folder}/, or zip the "
        advice += f"content of {folder}, not the folder. "
    return ExportFailure(
        Reason.FACTORY_NOT_FOUND,
        f"{named.field} is {named.path}, but there is no module {missing} {where}{found}",
        f"{advice}{_did_you_mean(near)}{named.field} is package.module:callable, as seen from the "
        "root of model.code.",
    )


def folder_that_holds(module: str, paths: Iterable[str]) -> str:
    """Return the folder at the code's root that should have been the root."""
    wanted = {module, f"{module}.py"}
    parts = (PurePosixPath(path).parts for path in paths)
    return min((one[0] for one in parts if len(one) > 1 and one[1] in wanted), default="")


def no_attribute(
    named: Named, owner: str, name: str, public: Iterable[str], own: Sequence[str]
) -> ExportFailure:
    """Return the failure for a name that a module lacks; `own`: what the module defines itself."""
    near = difflib.get_close_matches(name, list(public), n=3)
    advice = _did_you_mean(near) or (f"It defines {', '.join(own[:_SHOWN])}. " if own else "")
    return ExportFailure(
        Reason.FACTORY_NOT_FOUND,
        f"{named.field} is {named.path}, but {owner} has no {name}",
        f"{advice}Name the function or class that returns {named.returns}.",
    )


def _did_you_mean(near: Sequence[str]) -> str:
    return f"Did you mean {' or '.join(near)}? " if near else ""
