"""model.exampleInputs: arguments that the user's own code makes, and the names that inputs give.

The tensors in them, in the order of torch's pytrees, are the graph's inputs: each gets the name,
the dims and the range of the next entry of `inputs`, and its dtype, static shape and range of
values from the example. What is no tensor stays as it is, unless an entry of kind Int, Float or
Bool makes an input of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import DType, Input, InputKind, ModelExportSpec
from modelexport_exporter.call.call import Arguments, Call, Constant, Leaf
from modelexport_exporter.call.outputs import register_classes
from modelexport_exporter.call.tensors import SPEC_DTYPES
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.input_kinds import NUMBERS
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.sampling.masks import is_mask
from modelexport_exporter.torch_internals import pytree
from modelexport_exporter.user_code.missing_names import Named
from modelexport_exporter.user_code.named_callable import describe_error, find_callable

_PYTHON = {InputKind.INT: int, InputKind.FLOAT: float, InputKind.BOOL: bool}
_PAIR = 2


def call_by_example(path: str, spec: ModelExportSpec, code_dir: Path | None) -> Call:
    """Return the call that the user's function makes, with the names of the spec's inputs."""
    args, kwargs = example_arguments(path, code_dir)
    register_classes((args, kwargs))
    leaves, structure = pytree.tree_flatten((args, kwargs))
    entries = [part for entry in spec.inputs for part in _parts(entry)]
    slots = tuple(_slots(leaves, entries, path))
    return Call(slots, structure, spec.dims)


def example_arguments(path: str, code_dir: Path | None) -> Arguments:
    """Return forward's `(args, kwargs)` as the user's function makes them. Raises ExportFailure."""
    return _as_arguments(_example(path, code_dir), path)


def _example(path: str, code_dir: Path | None) -> Any:  # noqa: ANN401
    named = Named("model.exampleInputs", path, "(args, kwargs) for forward")
    function = find_callable(named, code_dir)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return function()
    except BaseException as error:
        reraise_out_of_memory(error)
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"{path} raised {describe_error(error, code_dir)}",
            "Correct model.exampleInputs: it is called without arguments.",
        ) from error


def _as_arguments(made: Any, path: str) -> Arguments:  # noqa: ANN401
    """Return `(args, kwargs)` for what was returned: both, a tuple of args, kwargs, one tensor."""
    if isinstance(made, tuple) and len(made) == _PAIR and _is_pair(*made):
        return tuple(made[0]), dict(made[1])
    if isinstance(made, dict) and all(isinstance(key, str) for key in made):
        return (), dict(made)
    if isinstance(made, tuple | list):
        return tuple(made), {}
    if made is None:
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"{path} returned None",
            "Return (args, kwargs) for forward, a tuple of its arguments, or one tensor.",
        )
    return (made,), {}


def _is_pair(args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    named = isinstance(kwargs, dict) and all(isinstance(key, str) for key in kwargs)
    return isinstance(args, tuple | list) and named


def _parts(entry: Input) -> Iterator[Input]:
    if entry.kind is not InputKind.SEQUENCE:
        yield entry
        return
    for place in range(entry.length or 0):
        yield entry.model_copy(update={"name": f"{entry.name}.{place}"})


def _slots(leaves: Sequence[Any], entries: Sequence[Input], path: str) -> Iterator[Leaf | Constant]:
    waiting = list(entries)
    for leaf in leaves:
        following = waiting[0] if waiting else None
        if isinstance(leaf, torch.Tensor):
            if following is None or following.kind in {*NUMBERS, InputKind.CONSTANT}:
                raise _mismatch(leaves, entries, path)
            yield Leaf(_of_tensor(waiting.pop(0), leaf, path))
        elif following is not None and _is_number(leaf, following):
            yield Leaf(_of_number(waiting.pop(0), leaf))
        elif following is not None and following.kind is InputKind.CONSTANT:
            declared = waiting.pop(0).value
            yield Constant(leaf if declared is None else declared)
        else:
            yield Constant(leaf)
    if waiting:
        raise _mismatch(leaves, entries, path)


def _is_number(leaf: Any, entry: Input) -> bool:  # noqa: ANN401
    wanted = _PYTHON.get(entry.kind)
    return wanted is not None and type(leaf) is wanted


def _of_number(entry: Input, value: float) -> Input:
    found: dict[str, Any] = {
        "dtype": {int: DType.INT64, bool: DType.BOOL}.get(type(value), DType.FLOAT32),
        "shape": [],
    }
    if entry.range is None and entry.kind is InputKind.INT:
        found["range"] = [float(min(value, 0)), float(max(value, 1))]
    return entry.model_copy(update=found)


def _of_tensor(entry: Input, tensor: torch.Tensor, path: str) -> Input:
    if tensor.dtype not in SPEC_DTYPES or tensor.dtype.is_complex:
        raise ExportFailure(
            Reason.INPUTS_MISMATCH,
            f"input {entry.name}: {path} returns {tensor.dtype}, which ONNX models do not take",
            "Pass a complex tensor as its real part and its imaginary part, and join them with "
            "torch.complex in forward.",
        )
    shape = entry.shape or list(tensor.shape)
    if len(shape) != tensor.dim():
        raise ExportFailure(
            Reason.INPUTS_MISMATCH,
            f"input {entry.name}: declared with {len(shape)} dims, {path} returns "
            f"{tuple(tensor.shape)}",
            "Name every dim of the tensor, or leave shape out.",
        )
    found = {"dtype": SPEC_DTYPES[tensor.dtype], "shape": shape, "range": _range(entry, tensor)}
    return entry.model_copy(update=found)


def _range(entry: Input, tensor: torch.Tensor) -> list[float] | None:
    """Return the values that the input takes: those of the example, where nothing is declared.

    Floats of both signs are drawn as if the example were normal.
    """
    if is_mask(entry):
        return [0.0, 1.0]
    if entry.range is not None or tensor.dtype is torch.bool or not tensor.numel():
        return entry.range
    plain = tensor.detach().to(torch.float64)
    low, high = float(plain.min()), float(plain.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    return None if tensor.is_floating_point() and low < 0 else [low, high]


def _mismatch(leaves: Sequence[Any], entries: Sequence[Input], path: str) -> ExportFailure:
    found = [
        f"{str(leaf.dtype).removeprefix('torch.')}{list(leaf.shape)}"
        if isinstance(leaf, torch.Tensor)
        else repr(leaf)[:40]
        for leaf in leaves
    ]
    return ExportFailure(
        Reason.INPUTS_MISMATCH,
        f"{path} returns {sum(isinstance(leaf, torch.Tensor) for leaf in leaves)} tensors "
        f"({', '.join(found)}), inputs name {len(entries)} "
        f"({', '.join(entry.name for entry in entries)})",
        "inputs must name the tensors of the example, in the order in which torch's pytrees "
        "flatten (args, kwargs), each once.",
    )
