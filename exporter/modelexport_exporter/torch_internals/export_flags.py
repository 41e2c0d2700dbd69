"""The private parts of torch that capture and conversion need, in one place, pinned by tests.

`test_torch_private.py` fails when a new torch moves any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch.export._patches import (
    register_gru_while_loop_decomposition,
    register_lstm_while_loop_decomposition,
)
from torch.fx.experimental import _config as symbolic_shapes_config
from torch.onnx._internal.exporter import _flags


@contextmanager
def capturing_for_onnx(*, dynamic: bool) -> Iterator[None]:
    """Set what torch.onnx sets around its own capture.

    `torch.onnx.is_in_onnx_export()` is true, sizes 0 and 1 are no special cases, and recurrent
    layers become loops instead of being unrolled at the length of the example.
    """
    before = _flags._is_onnx_exporting  # noqa: SLF001
    _flags._is_onnx_exporting = True  # noqa: SLF001
    try:
        with ExitStack() as stack:
            stack.enter_context(symbolic_shapes_config.patch(backed_size_oblivious=True))  # type: ignore[attr-defined]
            if dynamic:
                stack.enter_context(register_lstm_while_loop_decomposition())
                stack.enter_context(register_gru_while_loop_decomposition())
            yield
    finally:
        _flags._is_onnx_exporting = before  # noqa: SLF001


def size_expression(size: object) -> str:
    """Return a symbolic size as torch writes it, `s77` or `2*s77`; a number for a constant."""
    return str(size.node.expr) if isinstance(size, torch.SymInt) else str(size)
