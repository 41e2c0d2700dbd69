"""A module's forward, replaced while a block runs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from modelexport_exporter.torch_internals import pytree


@contextmanager
def wrapped_forward(
    module: torch.nn.Module, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Iterator[None]:
    """Let the module call what `wrap` makes of its forward, under the same signature."""
    plain, own = module.forward, vars(module).get("forward")
    wrapped = functools.wraps(plain)(wrap(plain))
    # That of the method: a function with a signature of its own also names its module.
    wrapped.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]
    module.forward = wrapped
    try:
        yield
    finally:
        if own is None:
            del module.forward
        else:
            module.forward = own


def returning_tensors(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that returns tensors for numbers of Python, such as `len(parts)`.

    Symbolic numbers stay: torch.onnx makes outputs of them.
    """

    def forward(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the user's function
        return pytree.tree_map(_as_tensor, plain(*args, **kwargs))

    return forward


def _as_tensor(leaf: object) -> object:
    return torch.tensor(leaf) if type(leaf) in {bool, int, float} else leaf
