"""See the ATen ops that a module calls, as they are called.

TorchDispatchMode is documented, but only in a private module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode

from modelexport_exporter.torch_internals.operators import schema_of


class AtenMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While active, `on_op` is called instead of each ATen op, also of those inside torch.cond."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - an OpOverload
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        if isinstance(func, HigherOrderOperator):
            return self._run_higher_order(func, args, kwargs or {})
        return self.on_op(func, args, kwargs or {})

    def _run_higher_order(
        self,
        func: Any,  # noqa: ANN401
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> Any:  # noqa: ANN401
        """Run what the functions of torch.cond and while_loop do in this mode, too."""
        if func is torch.ops.higher_order.cond:
            condition, on_true, on_false, operands = args
            with self:
                return (on_true if condition else on_false)(*operands)
        if func is torch.ops.higher_order.while_loop:
            holds, body, carried, others = args
            with self:
                while holds(*carried, *others):
                    carried = body(*carried, *others)
            return carried
        return func(*args, **kwargs)

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return what the op returns. ATen ops that this method calls are not seen."""
        raise NotImplementedError


def op_name(func: Any) -> str:  # noqa: ANN401
    """Return `transpose` for aten.transpose.int."""
    name: str = func.overloadpacket.__name__
    return name


def aliased_arguments(func: Any) -> set[int | str]:  # noqa: ANN401
    """Return the arguments that an op writes to or returns a view of, by position and by name."""
    found: set[int | str] = set()
    for position, argument in enumerate(schema_of(func).arguments):
        if argument.alias_info is not None:
            found |= {position, argument.name}
    return found
