"""`modelexport completion`: a script by which a shell completes the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import shtab

_DIRECTORIES = frozenset({"DIR"})
_FILES = frozenset({"MANIFEST", "MODEL", "CHECKPOINT", "OBJECT", "FILE", "URI", "PATH"})
"""What an argument is called that names a file, or may name one."""


def print_completion(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the script for a shell; return the exit code."""
    for action in _actions(parser):
        completed = _completed(action)
        if completed is not None:
            action.complete = completed  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell=shell))
    return 0


def _completed(action: argparse.Action) -> dict[str, Any] | None:
    """Return what shtab completes an argument by; None for what is no file."""
    name = action.metavar if isinstance(action.metavar, str) else ""
    if name in _DIRECTORIES:
        return dict(shtab.DIRECTORY)
    return dict(shtab.FILE) if name in _FILES or action.type is Path else None


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield every argument of a parser and of its commands."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way, and shtab uses it
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for command in dict.fromkeys(action.choices.values()):
                yield from _actions(command)
