"""The arithmetic that leads to each output: its coarsest dtype, and whether it is bounded.

One run under a dispatch mode: an op that computes gives its result its own dtype, or a coarser one
of its arguments; an op that only moves, selects or widens numbers passes on what its arguments
have. A float64 time that a float32 network also returns stays float64, and a float16 table
that is looked up and widened was never computed in float16. Probabilities of a sigmoid are computed
to so many digits after the point, however small they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.utils.weak import WeakTensorKeyDictionary

from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name
from modelexport_exporter.torch_internals.pytree import tree_leaves
from modelexport_exporter.torch_internals.tensors_and_buffers import viewed_tensor
from modelexport_exporter.verification.numerics.arithmetic import (
    COARSENESS,
    EXACT,
    RESAMPLED,
    Arithmetic,
)

MOVING = frozenset(
    {
        # moved
        *(
            "_reshape_alias",
            "_unsafe_view",
            "alias",
            "as_strided",
            "cat",
            "chunk",
            "clone",
            "concat",
        ),
        *("constant_pad_nd", "contiguous", "copy", "copy_", "detach", "diagonal", "expand"),
        *(
            "expand_as",
            "flip",
            "lift_fresh",
            "lift_fresh_copy",
            "movedim",
            "narrow",
            "pad",
            "permute",
        ),
        *("pixel_shuffle", "pixel_unshuffle", "ravel", "repeat", "repeat_interleave", "reshape"),
        *("reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d"),
        *("replication_pad2d", "replication_pad3d", "roll", "slice", "split", "split_with_sizes"),
        *("squeeze", "stack", "t", "transpose", "tril", "triu", "unbind", "unfold", "unsqueeze"),
        *("unsqueeze_", "view"),
        # picked
        *("diagonal_scatter", "embedding", "fill", "fill_", "gather", "index", "index_copy"),
        *("index_fill", "index_put", "index_put_", "index_select", "masked_fill", "masked_fill_"),
        *("masked_scatter", "masked_select", "scatter", "scatter_", "select", "select_scatter"),
        *("slice_scatter", "where", "zero_"),
        # compared, negated, widened
        *("_to_copy", "abs", "amax", "amin", "clamp", "clamp_max", "clamp_min", "fmax", "fmin"),
        *("max", "max_pool1d", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "maximum"),
        *("min", "minimum", "neg", "relu", "relu_", "sort", "to", "topk"),
    }
)
"""Results are arguments, moved, negated or compared; a narrowing cast counts as its result."""
RESAMPLING = ("upsample", "grid_sampler", "_upsample")
BOUNDED = frozenset({"sigmoid", "sigmoid_"})
"""Functions that runtimes compute with an absolute error, relative to their range of 1."""


class _Watch(AtenMode):
    def __init__(self) -> None:
        super().__init__()
        self._known: Any = WeakTensorKeyDictionary()

    def of(self, tensor: torch.Tensor) -> Arithmetic:
        found: Arithmetic = self._known.get(tensor, Arithmetic(EXACT))
        return found

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        given = list(_floats((args, kwargs)))
        before = [self.of(tensor) for tensor in given]
        result = func(*args, **kwargs)
        name = op_name(func)
        moved = name in MOVING and any(one.bounded for one in before)
        bounded = name in BOUNDED or moved
        for tensor in _floats(result):
            dtypes = [_own(name, tensor, given), *(one.dtype for one in before)]
            self._note(tensor, Arithmetic(max(dtypes, key=COARSENESS.__getitem__), bounded))
        return result

    def _note(self, tensor: torch.Tensor, found: Arithmetic) -> None:
        self._known[tensor] = found
        base = viewed_tensor(tensor)  # an op that writes into a view changes both
        if base is not None and COARSENESS[found.dtype] > COARSENESS[self.of(base).dtype]:
            self._known[base] = found


def _own(name: str, result: torch.Tensor, given: list[torch.Tensor]) -> str:
    """Return what the op itself adds."""
    dtype = str(result.dtype).removeprefix("torch.")
    if dtype not in COARSENESS:
        return EXACT
    if name.startswith(RESAMPLING):
        return RESAMPLED if dtype == "float64" else dtype
    narrows = any(COARSENESS[_name(one)] < COARSENESS[dtype] for one in given)
    if not given or (name in MOVING and not narrows):
        return EXACT
    return dtype


def _name(tensor: torch.Tensor) -> str:
    name = str(tensor.dtype).removeprefix("torch.")
    return name if name in COARSENESS else EXACT


def _floats(tree: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401
    for leaf in tree_leaves(tree):
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point():
            yield leaf


def arithmetic_of(call: Callable[[], list[torch.Tensor]]) -> list[Arithmetic]:
    """Return for each tensor that the call returns what leads to it."""
    with torch.no_grad(), _Watch() as mode:
        return [mode.of(leaf) for leaf in call()]
