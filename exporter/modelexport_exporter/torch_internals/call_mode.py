"""See the functions of torch that a module calls, above autograd, as they are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class CallMode(TorchFunctionMode):
    """While active, `on_call` is called instead of each function and method of torch."""

    def __torch_function__(
        self,
        func: Any,  # noqa: ANN401
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        return self.on_call(func, args, kwargs or {})

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return what the function returns. Calls that this method makes are not seen."""
        raise NotImplementedError


def call_name(func: Any) -> str:  # noqa: ANN401
    """Return `gt` for torch.gt, Tensor.gt and aten.gt.Scalar, `__gt__` for the operator `>`."""
    packet = getattr(func, "overloadpacket", None)
    return str(getattr(packet or func, "__name__", ""))


def with_names(operator: str, result: Any) -> Any:  # noqa: ANN401
    """Return an operator's results under the names that torch gives them: `.values`, `.indices`."""
    named = getattr(torch.return_types, operator, None)
    return named(result) if named is not None and type(result) is tuple else result
