"""`self.head = self.head.to(x.dtype)` in forward, where the module has this dtype already.

While a model is captured its weights are fake tensors, which `Module.to` cannot put in their own
place: it raises "Couldn't swap Linear.weight", though there is nothing to convert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from itertools import chain
from unittest.mock import patch

import torch
from torch.nn import Module

_Function = Callable[[torch.Tensor], torch.Tensor]


@contextmanager
def conversions_without_effect() -> Iterator[None]:
    """Let `Module.to` and its like return a module that they do not change, in the block."""
    own = Module._apply  # noqa: SLF001

    @wraps(own)
    def apply(module: Module, fn: _Function, recurse: bool = True) -> Module:
        tensors = chain(module.parameters(recurse), module.buffers(recurse))
        with torch.no_grad():
            unchanged = all(fn(tensor) is tensor for tensor in tensors)
        return module if unchanged else own(module, fn, recurse)  # type: ignore[no-untyped-call]

    with patch.object(Module, "_apply", apply):
        yield
