"""Threads that forward starts: torch records the operations of the thread that captures alone."""

from __future__ import annotations

import ast
import concurrent.futures
import multiprocessing.pool
import threading
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode

_KINDS = (concurrent.futures.Executor, multiprocessing.pool.Pool, threading.Thread)
_METHODS = frozenset(
    {"map", "submit", "start", "apply", "apply_async", "map_async", "starmap", "starmap_async"}
    | {"imap", "imap_unordered"}
)
_NAMES = frozenset(
    {"ThreadPoolExecutor", "ProcessPoolExecutor", "ThreadPool", "Pool", "Thread", "Process"}
)


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield calls that run functions in other threads or processes."""
    pools = dict(_pools(code))
    for call in code.walk(ast.Call):
        match call.func:
            case ast.Attribute(owner, method) if method in _METHODS:
                kind = pools.get(ast.unparse(owner)) or _kind(code, owner)
                if kind:
                    yield _pitfall(code, call, f"{kind}.{method}")


def _pools(code: ForwardCode) -> Iterator[tuple[str, str]]:
    """Yield the names that pools and threads have, with their classes."""
    items = [item for block in code.walk(ast.With) for item in block.items]
    named = [(item.optional_vars, item.context_expr) for item in items if item.optional_vars]
    named += [(target, node.value) for node in code.walk(ast.Assign) for target in node.targets]
    for target, value in named:
        kind = _kind(code, value)
        if kind:
            yield ast.unparse(target), kind


def _kind(code: ForwardCode, node: ast.AST) -> str:
    """Return `ThreadPoolExecutor` for a call of it, and for an attribute that is one."""
    match node:
        case ast.Call(function):
            name = code.dotted(function).rpartition(".")[2]
            return name if name in _NAMES else ""
        case ast.Attribute(ast.Name(owner), name) if owner == code.names.own:
            value = code.names.held(name)
            return type(value).__name__ if isinstance(value, _KINDS) else ""
        case _:
            return ""


def _pitfall(code: ForwardCode, node: ast.AST, method: str) -> Pitfall:
    return Pitfall(
        PitfallKind.THREAD,
        f"forward computes in threads of its own ({method}), whose operations torch does not see",
        code.place(node),
        "Call the branches one after the other: [branch(x) for branch in self.branches].",
    )
