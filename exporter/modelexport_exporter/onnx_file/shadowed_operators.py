"""Functions in a file under the names of operators that onnxruntime has.

onnxruntime runs its own kernel and leaves the function unread; other runtimes and onnx's reference
run the function. What was verified is then not what they compute.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache


def shadowed_operators(functions: Iterable[str]) -> list[str]:
    """Return those of the functions, `domain::Name`, whose names are operators of onnxruntime."""
    found = sorted(functions)
    return [name for name in found if name.removeprefix("ai.onnx::") in _operators()]


@cache
def _operators() -> frozenset[str]:
    """Return all, those of the standard without a domain, as `::Name` too."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    schemas = [(schema.domain, schema.name) for schema in state.get_all_operator_schema()]
    standard = {name for domain, name in schemas if domain in {"", "ai.onnx"}}
    others = {f"{domain}::{name}" for domain, name in schemas if domain not in {"", "ai.onnx"}}
    return frozenset({*standard, *(f"::{name}" for name in standard), *others})
