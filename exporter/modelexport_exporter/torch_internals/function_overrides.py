"""Python functions of torch, run so that a TorchFunctionMode sees the calls inside them.

F.cosine_similarity and others that are Python check first whether an override exists, and hand the
whole call to it. While the checks answer no, the function runs, and the mode sees what it calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import torch
from torch.jit import _builtins

_OVERRIDE_CHECKS = (
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
)
_PYTHON_FUNCTIONS = (torch.nn.functional, torch.functional, torch._tensor)  # noqa: SLF001


@contextmanager
def show_inner_calls() -> Iterator[None]:
    """Let a TorchFunctionMode see what torch's Python functions call, while the block runs."""
    with ExitStack() as stack:
        stack.enter_context(_compile_as(_never, "aten::has_torch_function"))
        for module in _PYTHON_FUNCTIONS:
            for check in _OVERRIDE_CHECKS:
                if hasattr(module, check):
                    stack.enter_context(patch.object(module, check, _never))
        yield


def _never(*_: object) -> bool:
    return False


@contextmanager
def _compile_as(function: object, builtin: str) -> Iterator[None]:
    """Let torch.jit.script take a Python function for a builtin of TorchScript.

    A function may be compiled while a model is traced (torch.jit.script_if_tracing).
    """
    table = _builtins._get_builtin_table()  # type: ignore[no-untyped-call]  # noqa: SLF001
    table[id(function)] = builtin
    try:
        yield
    finally:
        del table[id(function)]
