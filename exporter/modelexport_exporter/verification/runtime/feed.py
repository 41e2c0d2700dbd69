"""Feeds arrays to an onnxruntime session and reads its outputs, bfloat16 and sequences included."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime
from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure

Array = NDArray[Any]
Named = list[tuple[str, Array]]
_ONNX_BFLOAT16 = 16
_DOUBLE = "tensor(double)"
_TENSOR = "tensor("


def run_session(session: Any, arrays: Mapping[str, Array]) -> Named:  # noqa: ANN401
    """Return the outputs by name, in order; the tensors of a sequence `ys` are `ys.0`, `ys.1`.

    Arrays for which the file has no input are ignored. Raises ExportFailure.
    """
    feed = {
        entry.name: _as_double(arrays[entry.name], entry.type) for entry in session.get_inputs()
    }
    outputs = session.get_outputs()
    if any(not entry.type.startswith(_TENSOR) for entry in outputs):
        return _split_sequences([entry.name for entry in outputs], session.run(None, feed))
    fed = {name: _to_value(array) for name, array in feed.items()}
    values = session.run_with_ort_values(None, fed)
    places = {value.data_ptr() for value in fed.values()}
    return [
        (entry.name, _to_array(value, copy=value.data_ptr() in places))
        for entry, value in zip(outputs, values, strict=True)
    ]


def _as_double(array: Array, declared: str) -> Array:
    """Return a 0-dim array in the file's dtype: a scripted graph takes floats as doubles."""
    return array.astype(np.float64) if declared == _DOUBLE and not array.ndim else array


def _split_sequences(names: list[str], values: list[Any]) -> Named:
    found: Named = []
    for name, value in zip(names, values, strict=True):
        if isinstance(value, list):
            found += [(f"{name}.{place}", part) for place, part in enumerate(value)]
        elif isinstance(value, np.ndarray):
            found.append((name, value))
        else:
            raise ExportFailure(
                Reason.RUNTIME_FAILED,
                f"output {name} of the exported file is a {type(value).__name__}, not a tensor",
                "Return tensors from the model's forward method.",
            )
    return found


def _to_value(array: Array) -> Any:  # noqa: ANN401
    if array.dtype == ml_dtypes.bfloat16:
        bits = array.view(np.uint16)
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, _ONNX_BFLOAT16)
    # np.ascontiguousarray would give an array without dims one.
    return onnxruntime.OrtValue.ortvalue_from_numpy(np.asarray(array, order="C"))


def _to_array(value: Any, *, copy: bool) -> Array:  # noqa: ANN401
    """Return an output; `copy`: it is the memory of an input, which the array would not keep."""
    if value.element_type() != _ONNX_BFLOAT16:
        return np.array(value.numpy(), copy=copy or None)
    # numpy has no bfloat16, and onnxruntime therefore no numpy(): copy the bits.
    bits = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return np.frombuffer(bits, dtype=ml_dtypes.bfloat16).reshape(value.shape())
