"""What torch.onnx sets around its own call of torch.export."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from torch.export._patches import (
    register_gru_while_loop_decomposition,
    register_lstm_while_loop_decomposition,
)
from torch.onnx._internal.exporter import _flags

from modelexport_exporter.torch_internals.symbolic_sizes import treat_0_and_1_as_any_size


@contextmanager
def set_onnx_export_flags(*, dynamic: bool) -> Iterator[None]:
    """Set what torch.onnx sets around its own capture.

    `torch.onnx.is_in_onnx_export()` is true, sizes 0 and 1 are no special cases, and recurrent
    layers become loops instead of being unrolled at the length of the example.
    """
    with ExitStack() as stack:
        stack.enter_context(patch.object(_flags, "_is_onnx_exporting", new=True))
        stack.enter_context(treat_0_and_1_as_any_size())
        if dynamic:
            stack.enter_context(recurrent_layers_as_loops())
        yield


@contextmanager
def recurrent_layers_as_loops() -> Iterator[None]:
    """Let torch find the shapes of an LSTM and a GRU without unrolling it, in any capture."""
    with register_lstm_while_loop_decomposition(), register_gru_while_loop_decomposition():
        yield
