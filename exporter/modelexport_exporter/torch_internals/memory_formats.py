"""The memory format of a convolution's result is no condition on the sizes of a model.

torch decides by the example which kernel would run, and so how its result lies in memory: a feature
map of one row or column lies otherwise than one of several. ONNX has one format; the condition
would only narrow dims (`requested 32..96, got 33..96`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

import torch
from torch import _C
from torch._subclasses.fake_tensor import FakeTensor


@contextmanager
def memory_formats_narrow_no_size() -> Iterator[None]:
    """Let torch choose memory formats without a condition on sizes, while the block runs."""
    kernel = _without_conditions(_C._select_conv_backend)  # noqa: SLF001
    memory_format = _without_conditions(_C._conv_determine_backend_memory_format)  # noqa: SLF001
    with (
        patch.object(_C, "_select_conv_backend", kernel),
        patch.object(_C, "_conv_determine_backend_memory_format", memory_format),
    ):
        yield


def _without_conditions(decide: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(decide)
    def decided(x: torch.Tensor, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        environment = x.fake_mode.shape_env if isinstance(x, FakeTensor) else None
        if environment is None:
            return decide(x, *args, **options)
        with environment.suppress_guards():
            return decide(x, *args, **options)

    return decided
