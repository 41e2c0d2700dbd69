"""Export one call by torch.onnx, with or without the library, and compare the file with eager."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import Any

import onnx_ir as ir
import onnxruntime
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.utils import _pytree as pytree

from decomposed import assert_same
from modelexport_exporter.convert.double_constants import keep_constants_double
from modelexport_exporter.decompositions import (
    capturing_calls,
    decomposing,
    prepared,
    rewriting_calls,
)
from modelexport_exporter.torch_internals.translation import OLDEST_OPSET

Function = Callable[..., Any]


@dataclass(frozen=True)
class Call:
    """Arguments of a function; its tensors are inputs of the exported model."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    opset: int = OLDEST_OPSET
    """Older ones are written by the TorchScript route."""
    open_dims: tuple[int, ...] = ()
    """Dims of every tensor that are dynamic."""
    rounding: float | None = None
    """What may differ, relative to the largest magnitude; None: by dtype."""


class _Model(nn.Module):
    """Calls the function; complex tensors are pairs of real numbers outside."""

    def __init__(self, function: Function, call: Call) -> None:
        super().__init__()
        self._function = function
        self._leaves, self._spec = pytree.tree_flatten((call.args, call.kwargs))

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        tensors = (leaf for leaf in self._leaves if isinstance(leaf, Tensor))
        return tuple(_as_real(tensor) for tensor in tensors)

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        rest = iter(tensors)
        leaves = [
            _restore(next(rest), leaf) if isinstance(leaf, Tensor) else leaf
            for leaf in self._leaves
        ]
        args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        result = self._function(*args, **kwargs)
        parts = [result] if isinstance(result, Tensor) else list(result)
        return tuple(_as_real(part) for part in parts)


def _as_real(x: Tensor) -> Tensor:
    return torch.view_as_real(x.resolve_conj()) if x.is_complex() else x


def _restore(x: Tensor, like: Tensor) -> Tensor:
    return torch.view_as_complex(x) if like.is_complex() else x


def find_problem(function: Function, call: Call, *, library: bool) -> str:
    """Return what goes wrong with the file; empty if it computes what eager computes."""
    model = _Model(function, call).eval()
    feeds = [model.inputs]
    if call.open_dims:
        feeds.append(tuple(_longer(x, call.open_dims) for x in model.inputs))
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            file = (
                _by_script(model, call, library)
                if _is_old(call)
                else _by_export(model, call, library)
            )
    except Exception as error:  # noqa: BLE001 - a refusal
        return f"not exported: {type(error).__name__}: {error}"
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(file, options, ["CPUExecutionProvider"])
        problems = (_difference(session, model, feed, call.rounding) for feed in feeds)
        return next(filter(None, problems), "")
    except Exception as error:  # noqa: BLE001 - an invalid file, or one without kernels
        return f"not run: {type(error).__name__}: {error}"


def _is_old(call: Call) -> bool:
    return call.opset < OLDEST_OPSET


def _longer(x: Tensor, dims: Sequence[int]) -> Tensor:
    for dim in dims:
        x = torch.cat([x, x.narrow(dim, 0, 1)], dim)
    return x


def _by_export(model: _Model, call: Call, library: bool) -> bytes:
    dims = {dim: Dim(f"d{dim}", min=2, max=64) for dim in call.open_dims}
    shapes = {"tensors": tuple(dict(dims) for _ in model.inputs)} if dims else None
    with ExitStack() as stack:
        if library:
            stack.enter_context(capturing_calls(()))
        program = torch.export.export(
            model,
            model.inputs,
            dynamic_shapes=shapes,
            prefer_deferred_runtime_asserts_over_guards=library,
        )
    with decomposing(()) if library else nullcontext():
        exported = torch.onnx.export(
            prepared(program, ()) if library else program,
            dynamo=True,
            opset_version=call.opset,
            verbose=False,
            optimize=not library,
        )
    assert exported is not None
    model_ir = keep_constants_double(exported.model, program) if library else exported.model
    written: bytes = ir.serde.serialize_model(model_ir).SerializeToString()
    return written


def _by_script(model: _Model, call: Call, library: bool) -> bytes:
    names = [f"x{position}" for position in range(len(model.inputs))]
    axes = {name: {dim: f"d{dim}" for dim in call.open_dims} for name in names}
    file = io.BytesIO()
    with ExitStack() as stack:
        if library:
            stack.enter_context(rewriting_calls((), call.opset))
        torch.onnx.export(
            model,
            model.inputs,
            file,  # type: ignore[arg-type]
            dynamo=False,
            opset_version=call.opset,
            input_names=names,
            dynamic_axes=axes if call.open_dims else None,
        )
    return file.getvalue()


def _difference(
    session: onnxruntime.InferenceSession,
    model: _Model,
    feed: tuple[Tensor, ...],
    rounding: float | None,
) -> str:
    expected = model(*(x.clone() for x in feed))
    names = [value.name for value in session.get_inputs()]
    found = session.run(None, {name: x.numpy() for name, x in zip(names, feed, strict=False)})
    if len(found) != len(expected):
        return f"{len(found)} outputs instead of {len(expected)}"
    for want, got in zip(expected, found, strict=True):
        try:
            assert_same(want, torch.from_numpy(got), rounding)
        except AssertionError:
            return f"computes {got}, eager {want}"
    return ""
