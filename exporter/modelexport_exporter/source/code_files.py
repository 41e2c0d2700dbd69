"""Which files of a directory are the model's code. Pure.

A directory of code also holds what has nothing to do with the code: the checkpoint, what exports
published there, virtual environments, caches, and what its .gitignore files name. None of it
counts, so an export whose outputs are next to its manifest is up to date when it is run again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from pathspec import GitIgnoreSpec

from modelexport_api.spec import ModelExportSpec
from modelexport_api.types import is_glob
from modelexport_exporter.core.locked_directory import PREFIX as RUN_DIRECTORY
from modelexport_exporter.core.locked_directory import STARTING_PREFIX as STARTING
from modelexport_exporter.publish.layout import PAGE_NAME, REPORT_NAME, is_ours
from modelexport_exporter.publish.manifest import MANIFEST_NAME

IGNORE_FILE = ".gitignore"
_NEVER_CODE = (
    ".git",
    "__pycache__/",
    ".venv/",
    ".ipynb_checkpoints/",
    f"{RUN_DIRECTORY}*/",
    f"{STARTING}*/",
)
_ENVIRONMENT = "pyvenv.cfg"
"""The file at the root of every virtual environment."""
_OUTPUT_DIRECTORIES = frozenset({".modelexport", ".staging", "batches", "repro"})
_SOURCE_SUFFIX = ".py"
_SPECIAL = frozenset("*?[]!#\\ ")
_PLACEHOLDER = "{"


def code_files(
    names: Sequence[str],
    ignore_files: Mapping[str, str],
    sources: Iterable[str] = (),
    destination: str | None = None,
) -> list[str]:
    """Return those of the names below a directory that are code.

    `ignore_files`: the texts of .gitignore files, by name. `sources`: patterns of the checkpoint's
    files; `destination`: of the directory that is published to; "" is the directory itself. What
    .gitignore names and Python can import stays: it may be generated code that the model needs.
    """
    never = GitIgnoreSpec.from_lines(
        [*_NEVER_CODE, *_environments(names), *([f"/{destination}/"] if destination else ())]
    )
    ignored = _Ignored(ignore_files)
    checkpoint = GitIgnoreSpec.from_lines(f"/{pattern}" for pattern in sources)
    outputs = _output_directories(names) | ({""} if destination == "" else set())
    return [
        name
        for name in names
        if not never.match_file(name)
        and not _is_output(name, outputs)
        and (
            name.endswith(_SOURCE_SUFFIX)
            or not (checkpoint.match_file(name) or ignored.matches(name))
        )
    ]


def source_patterns(spec: ModelExportSpec, root: str) -> list[str]:
    """Return patterns of the spec's checkpoints that are below a directory of code."""
    uris = [spec.source.uri] if spec.source.uri else spec.source.uris or ()
    found = [_below(uri, root, glob=is_glob(uri)) for uri in uris]
    return [pattern for pattern in found if pattern]


def destination_pattern(spec: ModelExportSpec, root: str) -> str | None:
    """Return the pattern of the spec's destination below a directory of code; None elsewhere."""
    uri = spec.destination.uri
    if _PLACEHOLDER in uri:  # a directory for each checkpoint of a batch
        uri = uri[: uri.index(_PLACEHOLDER)].rpartition("/")[0] + "/"
    return _below(uri, root, glob=False)


def _below(uri: str, root: str, *, glob: bool) -> str | None:
    """Return a pattern of a URI's path relative to the URI of a directory."""
    if uri.startswith("file:"):
        # In a file:// URI, a character that is special in a glob is encoded where it is not.
        named = re.sub(r"%(2a|3f|5b)", r"[%\1]", uri, flags=re.IGNORECASE) if glob else uri
        uri, root = unquote(named), unquote(root)
    if not f"{uri.rstrip('/')}/".startswith(root):
        return None
    path = uri[len(root) :].rstrip("/")
    return path if glob else _literal(path)


def _literal(path: str) -> str:
    """Return the pattern that matches exactly this path."""
    return "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in path)


def _environments(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        directory, _, last = name.rpartition("/")
        if last == _ENVIRONMENT and directory:
            yield f"/{_literal(directory)}/"


def _output_directories(names: Iterable[str]) -> set[str]:
    """Return the directories to which exports of any manifest published."""
    found: dict[str, set[str]] = {}
    for name in names:
        directory, _, last = name.rpartition("/")
        if last in {PAGE_NAME, REPORT_NAME}:
            found.setdefault(directory, set()).add(last)
    return {directory for directory, reports in found.items() if len(reports) > 1}


def _is_output(name: str, directories: Iterable[str]) -> bool:
    prefixes = (f"{directory}/" if directory else "" for directory in directories)
    inside = (name.removeprefix(prefix) for prefix in prefixes if name.startswith(prefix))
    return any(
        is_ours(rest) or rest == MANIFEST_NAME or rest.partition("/")[0] in _OUTPUT_DIRECTORIES
        for rest in inside
    )


class _Ignored:
    """The .gitignore files of a tree: each rules its directory, the innermost one first."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._specs = {
            name.removesuffix(IGNORE_FILE): GitIgnoreSpec.from_lines(text.splitlines())
            for name, text in sorted(files.items(), key=lambda item: -item[0].count("/"))
        }

    def matches(self, name: str) -> bool:
        for directory, spec in self._specs.items():
            if name.startswith(directory):
                include = spec.check_file(name.removeprefix(directory)).include
                if include is not None:
                    return include
        return False
