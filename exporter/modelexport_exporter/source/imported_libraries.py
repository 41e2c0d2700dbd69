"""Which installed libraries the user's code imports, read from its source: nothing is run.

The process that both workers are forked from imports them once. Read are the imports at the top of
the factory's module, those inside of the functions and classes that the factory uses, and the same
in other modules of the code. A module that prepares its imports (`os.environ`, `sys.path`) is left
to the workers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.installed import package_directories
from modelexport_exporter.isolation.shared_libraries import LibraryImport

PREPARING = frozenset({"environ", "putenv", "setenv", "modules", "path", "meta_path", "path_hooks"})
"""Attributes of os and sys by which code changes what an import does."""
MOST_BYTES = 1_000_000
_OWN = "modelexport_"
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def libraries_of(spec: ModelExportSpec, code_dir: Path | None) -> tuple[LibraryImport, ...]:
    """Return the installed libraries that a spec's factory imports."""
    if code_dir is None or spec.model is None or spec.model.factory is None:
        return ()
    return imported_libraries(spec.model.factory, code_dir)


def imported_libraries(factory: str, code_dir: Path) -> tuple[LibraryImport, ...]:
    """Return what `package.module:callable` imports of installed packages, each once."""
    module, _, attribute = factory.partition(":")
    places = package_directories()
    found: dict[LibraryImport, None] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(module, attribute.partition(".")[0])]
    while waiting:
        name, used = waiting.pop()
        if (name, used) in seen:
            continue
        seen.add((name, used))
        for entry in _imports(name, used, code_dir):
            if _path_of(entry.module, code_dir) is not None:
                waiting += [(entry.module, own) for own in entry.names or ("",)]
                # `from . import tools`
                modules = (f"{entry.module}.{own}" for own in entry.names)
                waiting += [(own, "") for own in modules if _path_of(own, code_dir) is not None]
            elif _is_installed(entry.module, places):
                found[entry] = None
    return tuple(found)


def _path_of(module: str, code_dir: Path) -> Path | None:
    """Return the file of a module of the code."""
    path = code_dir.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def _is_installed(module: str, places: Sequence[str]) -> bool:
    top = module.partition(".")[0]
    return (
        top != "torch"
        and not top.startswith(_OWN)
        and PathFinder.find_spec(top, list(places)) is not None
    )


def _imports(module: str, used: str, code_dir: Path) -> Iterator[LibraryImport]:
    """Yield the imports that a module of the code makes when one of its names is used."""
    file = _path_of(module, code_dir)
    if file is None or file.stat().st_size > MOST_BYTES:
        return
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the worker reports it
        return
    if _prepares(tree):
        return
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in tree.body:
        yield from _of_statement(node, package)
    for scope in _reached(tree, used):
        for inner in ast.walk(scope):
            yield from _of_statement(inner, package)


def _prepares(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in {"os", "sys"}
        and node.attr in PREPARING
        for node in ast.walk(tree)
    )


def _of_statement(node: ast.AST, package: str) -> Iterator[LibraryImport]:
    if isinstance(node, ast.Import):
        yield from (LibraryImport(alias.name, ()) for alias in node.names)
    if isinstance(node, ast.ImportFrom) and node.module != "__future__":
        parents = package.split(".")[: len(package.split(".")) - node.level + 1]
        parts = [*(parents if node.level else ()), *([node.module] if node.module else ())]
        names = tuple(alias.name for alias in node.names if alias.name != "*")
        if name := ".".join(filter(None, parts)):
            yield LibraryImport(name, names)


def _reached(tree: ast.Module, used: str) -> Iterator[Scope]:
    """Yield the functions and classes of a module that a name leads to."""
    scopes = {node.name: node for node in tree.body if isinstance(node, Scope)}
    waiting, met = [used], {used}
    while waiting:
        scope = scopes.get(waiting.pop())
        if scope is None:
            continue
        yield scope
        names = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name)} - met
        met |= names
        waiting += sorted(names)
