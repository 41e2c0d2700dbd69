"""Looking at the ATen ops that a module calls, as they are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class AtenMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While active, `on_op` is called in the place of each ATen op."""

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
        return self.on_op(func, args, kwargs or {})

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return what the op returns. Calls of ATen ops in here are not looked at."""
        raise NotImplementedError


def op_name(func: Any) -> str:  # noqa: ANN401
    """Return `transpose` for aten.transpose.int."""
    name: str = func.overloadpacket.__name__
    return name


def aliased(func: Any) -> set[int | str]:  # noqa: ANN401
    """Return the arguments that an op writes into or returns a view of, by place and by name."""
    found: set[int | str] = set()
    for place, argument in enumerate(func._schema.arguments):  # noqa: SLF001 - public in C++
        if argument.alias_info is not None:
            found |= {place, argument.name}
    return found
