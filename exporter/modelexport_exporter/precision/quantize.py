"""DynamicInt8 and StaticInt8: onnxruntime's quantizer, on the graph before it is written.

Products with weights get 8-bit weights, with one scale per output channel. Dynamic: MatMul and
Gemm, with activations quantized at run time (DynamicQuantizeLinear, MatMulInteger). Static:
convolutions too, and the operators between them, with activations quantized over their ranges on
the calibration inputs (QuantizeLinear, DequantizeLinear). Only standard ONNX operators are written.

Weights get 7 of the 8 bits (`reduce_range`): the kernels for x86 CPUs without VNNI saturate sums
of two products of 8 bits, and the file would compute other numbers there than elsewhere.

Guarantees that something was quantized, and that nodes keep their module path. Convolutions stay
in float32 in dynamic mode: as ConvInteger they take at least twice as long. Weights beyond
protobuf's limit are refused, because the quantizer keeps the whole model in one message.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx
import onnx_ir as ir
from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_api.spec import Precision
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.onnx_file.write import write_model
from modelexport_exporter.sampling.golden import Golden

DYNAMIC_OPS = ("MatMul",)
"""Gemm too, which the quantizer converts to MatMul and Add."""
STATIC_OPS = ("Conv", "ConvTranspose", "Gemm", "MatMul", "Relu", "Clip", "MaxPool")
"""Products, and operators that keep quantized values. Residual adds stay in float32: they are fast,
and would lose most of the accuracy in 8 bits."""
LARGEST_BYTES = 2**31 - 2**24
"""Protobuf's limit for a message, minus the size of a graph without weights."""
_PRODUCTS = ("MatMul", "Gemm", "Conv", "ConvTranspose")
_KEPT = "pkg.torch.onnx"


@contextmanager
def quantized(
    model: ir.Model, precision: Precision, samples: Sequence[Golden], scratch: Path
) -> Iterator[ir.Model]:
    """Yield the quantized model, its weights in scratch files. Raises ExportFailure."""
    check_size(model)
    before = Counter(node.op_type for node in model.graph)
    scopes = {node.name: dict(node.metadata_props) for node in model.graph if node.name}
    with TemporaryDirectory(dir=scratch, prefix=".precision-") as name:
        directory = Path(name)
        source = _write(model, directory)
        target = directory / "quantized.onnx"
        try:
            _quantize(source, target, precision, samples)
        except Exception as error:
            text = " ".join(str(error).split())[:400]
            raise ExportFailure(
                Reason.CONVERSION_FAILED,
                f"onnxruntime cannot quantize the model ({precision.value}): "
                f"{type(error).__name__}: {text}",
                "Set export.precision to Native, Float16 or the other of DynamicInt8 and "
                "StaticInt8.",
            ) from error
        result = ir.load(target)
        _check_changed(result, before, precision)
        _restore_scopes(result, scopes)
        yield result


def check_size(model: ir.Model) -> None:
    """Refuse weights that the quantizer cannot hold."""
    tensors = [value.const_value for value in model.graph.initializers.values()]
    size = sum(tensor.nbytes for tensor in tensors if tensor is not None)
    if size > LARGEST_BYTES:
        raise ExportFailure(
            Reason.INVALID_MANIFEST,
            f"the model has {size / 1e9:.1f} GB of weights; onnxruntime's quantizer takes less "
            "than 2 GB",
            "Set export.precision to Float16, or to Native.",
        )


class Reader:
    """Hands the calibration inputs to the quantizer, as its CalibrationDataReader does."""

    def __init__(self, samples: Sequence[Golden], names: Sequence[str]) -> None:
        self._names = frozenset(names)
        self._left = iter(samples)

    def get_next(self) -> dict[str, NDArray[Any]] | None:
        """Return the next sample's arrays by input, None at the end."""
        sample = next(self._left, None)
        if sample is None:
            return None
        return {name: value for name, value in sample.inputs.items() if name in self._names}


def _write(model: ir.Model, directory: Path) -> Path:
    """Write the model without the shapes inside it, which quantizing makes untrue."""
    write_model(model, directory)
    path = directory / "model.onnx"
    proto = onnx.load(path, load_external_data=False)
    del proto.graph.value_info[:]
    path.write_bytes(proto.SerializeToString(deterministic=True))
    return path


def _quantize(source: Path, target: Path, precision: Precision, samples: Sequence[Golden]) -> None:
    # Only here: onnxruntime starts a thread when it is imported.
    from onnxruntime import quantization

    logging.getLogger().setLevel(logging.ERROR)
    options: dict[str, Any] = {"MatMulConstBOnly": True}
    if precision is Precision.DYNAMIC_INT8:
        quantization.quantize_dynamic(
            source,
            target,
            op_types_to_quantize=list(DYNAMIC_OPS),
            per_channel=True,
            weight_type=quantization.QuantType.QInt8,
            reduce_range=True,
            extra_options=options,
        )
        return
    graph = onnx.load(source, load_external_data=False).graph
    quantization.quantize_static(
        source,
        target,
        Reader(samples, [entry.name for entry in graph.input]),
        quant_format=quantization.QuantFormat.QDQ,
        op_types_to_quantize=list(STATIC_OPS),
        per_channel=True,
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8,
        reduce_range=True,
        calibrate_method=quantization.CalibrationMethod.MinMax,
        extra_options=options,
    )


def _check_changed(model: ir.Model, before: Counter[str], precision: Precision) -> None:
    """Refuse a file in which nothing was quantized."""
    ops = Counter(node.op_type for node in model.graph)
    if not ops["MatMulInteger"] and not ops["DequantizeLinear"]:
        found = ", ".join(f"{name} x{before[name]}" for name in _PRODUCTS if before[name])
        takes = _PRODUCTS[:2] if precision is Precision.DYNAMIC_INT8 else _PRODUCTS
        raise ExportFailure(
            Reason.CONVERSION_FAILED,
            f"{precision.value} quantizes products with weights ({', '.join(takes)}); the graph "
            f"has {found or 'none'}",
            "Convolutions need StaticInt8; LSTM and GRU stay in float32. Set export.precision to "
            "another value.",
        )


def _restore_scopes(model: ir.Model, scopes: dict[str, dict[str, str]]) -> None:
    """Set the module path of nodes that replace another one."""
    for node in model.graph:
        if any(key.startswith(_KEPT) for key in node.metadata_props) or not node.name:
            continue
        known = _origin(node.name, scopes)
        if known:
            node.metadata_props.update(scopes[known])


def _origin(name: str, scopes: dict[str, dict[str, str]]) -> str:
    """Return the name of the node that a name derives from: `fc` for `fc_quant`."""
    parts = name.split("_")
    for length in range(len(parts), 0, -1):
        candidate = "_".join(parts[:length])
        if candidate in scopes:
            return candidate
    return ""
