"""Replace calls while a model runs: under torch.export, and under the tracer of TorchScript.

Both record what is called inside these blocks. The functions of the model are not touched: a
CallMode sees each call of torch before it is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from modelexport_exporter.decompositions.capture import CALLS
from modelexport_exporter.decompositions.capture.adaptive_softmax import adaptive_softmax
from modelexport_exporter.decompositions.capture.packed import packed_layers
from modelexport_exporter.decompositions.registry import enabled
from modelexport_exporter.decompositions.torchscript.calls import TracedCalls
from modelexport_exporter.decompositions.torchscript.elementary_symbolics import (
    elementary_symbolics,
)
from modelexport_exporter.torch_internals.call_mode import CallMode, with_names
from modelexport_exporter.torch_internals.function_overrides import show_inner_calls


@contextmanager
def capturing_calls(disabled: Collection[str]) -> Iterator[None]:
    """Let torch.export capture calls that it would refuse or fix to the example's sizes."""
    table = {
        function: replacement
        for function, (name, replacement) in CALLS.items()
        if enabled(name, disabled)
    }
    with _Replacing(table.get), packed_layers(), adaptive_softmax():
        yield


@contextmanager
def rewriting_calls(disabled: Collection[str], opset: int) -> Iterator[None]:
    """Let torch.jit.trace record operators that the TorchScript exporter translates."""
    with (
        elementary_symbolics(disabled, opset),
        show_inner_calls(),
        TracedCalls(disabled, opset),
    ):
        yield


class _Replacing(CallMode):
    """Calls what `find` returns in a function's place; NotImplemented leaves it to the function."""

    def __init__(self, find: Callable[[Any], Callable[..., Any] | None]) -> None:
        super().__init__()
        self._find = find

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Call the replacement, or the function."""
        replacement = self._find(func)
        if replacement is not None:
            result = replacement(*args, **kwargs)
            if result is not NotImplemented:
                return with_names(getattr(func, "__name__", ""), result)
        return func(*args, **kwargs)
