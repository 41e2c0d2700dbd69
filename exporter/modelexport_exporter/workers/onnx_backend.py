"""The ONNX backend API over the session that verification uses: successor of the Caffe2 backend.

    import modelexport_exporter.workers.onnx_backend as backend
    rep = backend.prepare(onnx.load("model.onnx"), device="CPU")   # or a path
    outputs = rep.run({"x": array})                                 # or [array], or array

Runs where it says or raises: onnxruntime's silent fall back to the CPU is a failure here. What
cannot be loaded or run raises `ExportFailure`, whose message says why.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.backend import base

from modelexport_api.reasons import Reason
from modelexport_api.spec import Provider
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.providers import NAMES
from modelexport_exporter.verification.runtime.cuda_libraries import missing_libraries
from modelexport_exporter.verification.runtime.session import Session

Array = NDArray[Any]
Model = onnx.ModelProto | str | Path
_DEVICES = {"CPU": Provider.CPU, "CUDA": Provider.CUDA}
_LARGEST_PROTO = 1 << 30


class Representation(base.BackendRep):
    """A model that is loaded and can be run."""

    def __init__(self, session: Session, model: onnx.ModelProto, files: object = None) -> None:
        """`files`: what must not be deleted while the session lives."""
        self._session = session
        self._files = files
        self.model = model
        self.output_names = session.output_names
        initialized = {tensor.name for tensor in model.graph.initializer}
        declared = [value.name for value in model.graph.input if value.name not in initialized]
        self.input_names = tuple(declared)

    @property
    def predict_net(self) -> onnx.GraphProto:
        """Return the network, as a graph of ONNX."""
        return self.model.graph

    @property
    def workspace(self) -> dict[str, Array]:
        """Return the weights by name."""
        return {
            tensor.name: numpy_helper.to_array(tensor) for tensor in self.model.graph.initializer
        }

    def run(self, inputs: Any, **_kwargs: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as in onnx
        """Return the outputs in order, also by name (`outputs["y"]`).

        `inputs`: arrays by name, arrays in order, or the only array.
        """
        arrays = self._named(inputs)
        values = self._session.run(arrays, _shapes(arrays))
        found = dict(zip(self._session.output_names, values, strict=True))
        outputs = [_output(name, found) for name in self.output_names]
        return base.namedtupledict("Outputs", list(self.output_names))(*outputs)

    def _named(self, inputs: Any) -> dict[str, Array]:  # noqa: ANN401
        if isinstance(inputs, Mapping):
            given = dict(inputs)
        else:
            several = inputs if isinstance(inputs, list | tuple) else [inputs]
            if len(several) > len(self.input_names):
                raise _mismatch(f"{len(several)} inputs", self.input_names)
            given = dict(zip(self.input_names, several, strict=False))
        missing = [name for name in self.input_names if name not in given]
        unknown = given.keys() - set(self.input_names)
        if missing or unknown:
            names = ", ".join(map(str, given)) or "nothing"
            raise _mismatch(f"inputs named {names}", self.input_names)
        return {name: np.asarray(value) for name, value in given.items()}


class OnnxBackend(base.Backend):
    """Runs models and single nodes by onnxruntime."""

    @classmethod
    def is_compatible(cls, model: Model, device: str = "CPU", **_kwargs: Any) -> bool:  # noqa: ANN401
        """Tell whether the model can be loaded on the device."""
        try:
            cls.prepare(model, device)
        except ExportFailure:
            return False
        return True

    @classmethod
    def prepare(cls, model: Model, device: str = "CPU", **_kwargs: Any) -> Representation:  # noqa: ANN401
        """Load a model: a file with its external data beside it, or one in memory."""
        provider = _provider(device)
        if isinstance(model, onnx.ModelProto):
            directory = tempfile.TemporaryDirectory(prefix="modelexport-backend-")
            path = Path(directory.name) / "model.onnx"
            large = model.ByteSize() > _LARGEST_PROTO
            copy = onnx.ModelProto()
            copy.CopyFrom(model)
            onnx.save(copy, str(path), save_as_external_data=large, location="model.data")
            return Representation(Session(path, provider), model, directory)
        path = Path(model)
        if not path.is_file():
            raise ExportFailure(Reason.SOURCE_NOT_FOUND, f"{path} not found")
        return Representation(Session(path, provider), onnx.load(str(path)))

    @classmethod
    def run_model(
        cls,
        model: Model,
        inputs: Any,  # noqa: ANN401
        device: str = "CPU",
        **kwargs: Any,  # noqa: ANN401
    ) -> tuple[Any, ...]:
        """Load a model and run it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,  # noqa: ANN401
        device: str = "CPU",
        outputs_info: Sequence[Any] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> tuple[Any, ...]:
        """Run one node."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        opset = kwargs.get("opset_version", onnxruntime_opset())
        return cls.run_model(_model_of(node, inputs, opset), inputs, device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Tell whether models can run on `CPU`, `CUDA` or `CUDA:0` here."""
        provider = _DEVICES.get(device.partition(":")[0])
        if provider is None or NAMES[provider] not in onnxruntime.get_available_providers():
            return False
        return provider is Provider.CPU or (not missing_libraries() and _has_driver())


def onnxruntime_opset() -> int:
    """Return the newest opset that the installed onnxruntime has kernels for."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    standard = [entry for entry in state.get_all_operator_schema() if not entry.domain]
    return min(max(int(entry.since_version) for entry in standard), 25)


def _provider(device: str) -> Provider:
    kind, _, number = device.partition(":")
    provider = _DEVICES.get(kind)
    if provider is None or number not in {"", "0"}:
        raise ExportFailure(
            Reason.PROVIDER_UNAVAILABLE,
            f"there is no device {device}; expected CPU, CUDA or CUDA:0",
            "Choose another GPU with CUDA_VISIBLE_DEVICES.",
        )
    return provider


def _has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def _model_of(node: onnx.NodeProto, inputs: Any, opset: int) -> onnx.ModelProto:  # noqa: ANN401
    names = [name for name in node.input if name]
    arrays = inputs if isinstance(inputs, Mapping) else dict(zip(names, inputs, strict=True))
    values = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype), np.shape(array)
        )
        for name, array in arrays.items()
    ]
    outputs = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = onnx.helper.make_graph([node], "node", values, outputs)
    opsets = [onnx.helper.make_opsetid(node.domain, 1 if node.domain else opset)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)


def _output(name: str, found: Mapping[str, Array]) -> Any:  # noqa: ANN401
    """Return a tensor, or the list of a sequence's tensors."""
    if name in found:
        return found[name]
    return [value for key, value in found.items() if key.startswith(f"{name}.")]


def _shapes(arrays: Mapping[str, Array]) -> str:
    return ", ".join(f"{name} {array.dtype} {array.shape}" for name, array in arrays.items())


def _mismatch(given: str, names: Sequence[str]) -> ExportFailure:
    return ExportFailure(
        Reason.INPUTS_MISMATCH,
        f"the model was given {given}, it takes {', '.join(names) or 'none'}",
        "Pass the arrays in the model's order, or by these names.",
    )


is_compatible = OnnxBackend.is_compatible
prepare = OnnxBackend.prepare
run_model = OnnxBackend.run_model
run_node = OnnxBackend.run_node
supports_device = OnnxBackend.supports_device
