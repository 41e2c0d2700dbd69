"""Golden samples: inputs, and perhaps outputs, that a user recorded (.npz or .safetensors).

Arrays are named as the file's inputs and outputs are; a prefix separates several samples,
`0/image`, `1/image`. Nothing is unpickled. Guarantees that an array which does not fit the declared
inputs is named, with what was expected, before anything is computed with it.
"""

from __future__ import annotations

import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize

from modelexport_api.reasons import Reason
from modelexport_api.sizes import DimExpression
from modelexport_api.spec import Input, ModelExportSpec
from modelexport_exporter.core.archives import check_archive
from modelexport_exporter.core.dims import range_of, sizes_of
from modelexport_exporter.core.errors import ExportFailure

Array = NDArray[Any]
_LISTED = 8
_DTYPES: dict[str, Any] = {
    "BOOL": np.bool_,
    "BF16": ml_dtypes.bfloat16,
    **{f"F{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    **{f"I{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"U{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
}
"""By their names in safetensors; little-endian, as this machine is."""
_MOST_INFLATED_BYTES = 2 << 30
"""Of all samples of an .npz file. More than its arrays has to fit into memory."""


@dataclass(frozen=True)
class Golden:
    """One recorded sample."""

    name: str
    """The prefix of its arrays; empty where the file holds a single sample."""
    dims: dict[str, int]
    """The sizes that its inputs have."""
    inputs: dict[str, Array]
    outputs: dict[str, Array]
    """By the name of the output; empty where none were recorded."""


def read_golden(path: Path, spec: ModelExportSpec) -> tuple[Golden, ...]:
    """Return the samples of a file, in the order of their names. Raises ExportFailure.

    `spec` declares the tensors that the graph takes.
    """
    samples: defaultdict[str, dict[str, Array]] = defaultdict(dict)
    for key, array in _read(path).items():
        prefix, _, name = key.rpartition("/")
        samples[prefix][name] = array
    if not samples:
        raise _invalid(f"{path.name} holds no arrays", "Store an array for each input.")
    return tuple(_sample(name, samples[name], spec) for name in sorted(samples, key=_order))


def _order(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (-1, name)


def _read(path: Path) -> Mapping[str, Array]:
    if path.suffix == ".npz":
        return dict(_read_npz(path))
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    raise _invalid(
        f"{path.name} is neither .npz nor .safetensors",
        "Write it with numpy.savez or safetensors.torch.save_file.",
    )


def _read_npz(path: Path) -> Iterator[tuple[str, Array]]:
    try:
        check_archive(path, _MOST_INFLATED_BYTES)
        with np.load(path, allow_pickle=False) as archive:
            for name in archive.files:
                yield name, archive[name]
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        raise _invalid(
            f"{path.name} cannot be read as .npz: {error}", "Write it with numpy.savez."
        ) from error


def _read_safetensors(path: Path) -> dict[str, Array]:
    try:
        return {name: _array(stored) for name, stored in deserialize(path.read_bytes())}  # type: ignore[no-untyped-call]
    except (SafetensorError, OSError, KeyError) as error:
        what = f"an array of type {error}" if isinstance(error, KeyError) else str(error)
        raise _invalid(
            f"{path.name} cannot be read as .safetensors: {what}",
            "Write it with safetensors.torch.save_file.",
        ) from error


def _array(stored: Mapping[str, Any]) -> Array:
    """Return a stored tensor. Raises KeyError for a dtype that no input has."""
    return np.frombuffer(stored["data"], _DTYPES[stored["dtype"]]).reshape(stored["shape"])


def _sample(name: str, arrays: dict[str, Array], spec: ModelExportSpec) -> Golden:
    declared = [entry.name for entry in spec.inputs]
    label = f"golden sample {name}" if name else "the golden sample"
    missing = [entry for entry in declared if entry not in arrays]
    if missing:
        raise _invalid(
            f"{label} has no array for {_list(missing)}; it has {_list(sorted(arrays))}",
            f"Store an array for each input: {_list(declared)}.",
        )
    dims = sizes_of(spec.inputs, arrays)
    inputs = {
        entry.name: _fitting(entry, arrays[entry.name], spec, dims, label) for entry in spec.inputs
    }
    outputs = {key: array for key, array in arrays.items() if key not in inputs}
    unknown = [key for key in outputs if spec.outputs and key not in spec.outputs]
    if unknown:
        raise _invalid(
            f"{label} has arrays that are neither inputs nor outputs: {_list(unknown)}",
            f"Name them as the inputs ({_list(declared)}) or outputs ({_list(spec.outputs)}).",
        )
    return Golden(name, dims, inputs, outputs)


def _fitting(
    entry: Input, array: Array, spec: ModelExportSpec, dims: Mapping[str, int], label: str
) -> Array:
    """Return the array if it is what the input is declared to be. `dims`: the array's sizes."""
    shape = ", ".join(str(size) for size in entry.shape)
    found = f"{label}: {entry.name} is {array.dtype.name} {list(array.shape)}"
    if array.dtype.name != entry.dtype.value or array.ndim != len(entry.shape):
        raise _invalid(f"{found}, declared is {entry.dtype.value} [{shape}]", "Store it so.")
    for axis, (size, got) in enumerate(zip(entry.shape, array.shape, strict=True)):
        if isinstance(size, int):
            fits, wanted = got == size, str(size)
        else:
            fits, wanted = _fits(DimExpression.parse(size), got, spec, dims)
        if not fits:
            raise _invalid(
                f"{found}; dim {axis} is declared as {wanted}", "Correct the array or dims."
            )
    return array


def _fits(
    expression: DimExpression, got: int, spec: ModelExportSpec, dims: Mapping[str, int]
) -> tuple[bool, str]:
    """Return whether a size is in range and fits the others, and what is declared."""
    least, most = range_of(expression, spec.dims)
    wanted = f"{expression}, {least}..{most}"
    if not {*expression.dims} <= {*dims}:
        return False, wanted
    if expression.at(dims) != got:
        return False, f"{wanted} ({expression.at(dims)} elsewhere)"
    limits = ((dims[name], spec.dims[name]) for name in expression.dims)
    return all(dim.min <= size <= dim.max for size, dim in limits), wanted


def _list(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return (", ".join(names[:_LISTED]) or "nothing") + more


def _invalid(message: str, hint: str) -> ExportFailure:
    return ExportFailure(Reason.SAMPLES_INVALID, message, hint)
