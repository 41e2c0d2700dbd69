"""A place to stand between a model and torch's operators; the product's own is not used here."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Is called with every operator that runs inside it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - as torch declares it
        types: Any,  # noqa: ANN401
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> object:
        return self.on_op(func, args, kwargs or {})

    @abstractmethod
    def on_op(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:  # noqa: ANN401
        """Return what the operator answers here."""
