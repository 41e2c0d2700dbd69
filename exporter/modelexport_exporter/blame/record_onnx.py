"""Records the file node by node: every value of its top-level graph, in chunks that fit memory.

onnxruntime's graph optimizations are off. A loop or a branch is one node. The file is never
changed; variants of its graph are written next to it, where external data is found, and removed
once a session has loaded them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from modelexport_api.spec import Provider
from modelexport_exporter.blame.fingerprint import Array, fingerprint
from modelexport_exporter.blame.record_eager import SearchBudgetExceeded
from modelexport_exporter.blame.trace import Step, Trace
from modelexport_exporter.core.machine import busy_seconds
from modelexport_exporter.onnx_file.modules import module_of
from modelexport_exporter.plugins.runtime import SessionSetup
from modelexport_exporter.verification.runtime.session import Session

CHUNK_BYTES = 128 << 20
"""Size of the intermediate values that are in memory at a time."""
_VARIANT = "variant.onnx"
_SHAPE_OF = "shape_of__"
_WIDEST = 8
_Levels = onnxruntime.GraphOptimizationLevel
LEVELS: dict[str, Any] = {
    "basic": _Levels.ORT_ENABLE_BASIC,
    "extended": _Levels.ORT_ENABLE_EXTENDED,
    "layout": _Levels.ORT_ENABLE_ALL,
}
"""onnxruntime's optimizations, each level with those before it."""
OFF = _Levels.ORT_DISABLE_ALL


@dataclass(frozen=True)
class Runtime:
    """Opens sessions as verification does."""

    provider: Provider
    setup: SessionSetup

    def session(self, path: Path, level: Any, dump: Path | None = None) -> Session:  # noqa: ANN401
        """Load a file at this level of graph optimization; `dump`: where to write the result."""

        def configure(options: Any) -> None:  # noqa: ANN401
            self.setup.configure(options)
            options.graph_optimization_level = level
            if dump is not None:
                options.optimized_model_filepath = str(dump)

        setup = SessionSetup(configure, self.setup.host)
        # TensorRT would build an engine for each variant of the file.
        tensorrt = self.provider is Provider.TENSORRT
        provider = Provider.CUDA if tensorrt else self.provider
        return Session(path, provider, prepack=False, setup=setup)


class File:
    """An ONNX file whose intermediate values can be fetched, for one set of inputs."""

    def __init__(
        self, path: Path, runtime: Runtime, feed: Mapping[str, Array], deadline: float
    ) -> None:
        self.path = path
        self.model = onnx.load(path, load_external_data=False)
        self.runtime = runtime
        self.feed = dict(feed)
        self.deadline = deadline
        self.nodes = list(self.model.graph.node)
        self.output_names = [entry.name for entry in self.model.graph.output]
        self.numbers = _number_values(self.model.graph)
        self.names = {number: name for name, number in self.numbers.items()}

    def trace(self) -> Trace:
        """Return the run as a trace, with a fingerprint of every tensor."""
        trace = Trace(steps=[self._step(node) for node in self.nodes])
        trace.outputs = tuple(self.numbers[name] for name in self.output_names)
        for entry in self.model.graph.input:
            if entry.name in self.feed:
                trace.given[self.numbers[entry.name]] = fingerprint(self.feed[entry.name])
        for names in self._chunks():
            for name, array in self.fetch(names).items():
                if array.dtype.kind not in "OUS":
                    trace.prints[self.numbers[name]] = fingerprint(array)
        return trace

    def outputs(self, level: Any = OFF, dump: Path | None = None) -> list[Array]:  # noqa: ANN401
        """Return the outputs of the whole file."""
        session = self.runtime.session(self.path, level, dump)
        return session.run(self.feed, "the smallest sample that differs")

    def fetch(self, names: Sequence[str]) -> dict[str, Array]:
        """Return values of the file by name; outputs of the file may be among them."""
        model = self._with_outputs(names)
        return self._run(model, self.feed)

    def fetch_patched(self, name: str, value: Array, watched: Sequence[str]) -> dict[str, Array]:
        """Return values of the file when one of its values is replaced."""
        model = self._with_outputs(watched)
        for node in model.graph.node:
            for place, output in enumerate(node.output):
                if output == name:
                    node.output[place] = f"{name}__replaced"
        kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        given = onnx.helper.make_tensor_value_info(name, kind, list(value.shape))
        model.graph.input.append(given)
        return self._run(model, {**self.feed, name: value})

    def _with_outputs(self, names: Iterable[str]) -> onnx.ModelProto:
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        del model.graph.output[:]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
        return model

    def _run(self, model: onnx.ModelProto, feed: Mapping[str, Array]) -> dict[str, Array]:
        if busy_seconds() > self.deadline:
            raise SearchBudgetExceeded("the file's nodes could not be recorded in time")
        variant = self.path.with_name(_VARIANT)
        onnx.save(model, variant)
        try:
            session = self.runtime.session(variant, OFF)
        finally:
            variant.unlink()
        values = session.run(feed, "the smallest sample that differs")
        return dict(zip(session.output_names, values, strict=True))

    def _step(self, node: onnx.NodeProto) -> Step:
        return Step(
            op=f"{node.domain}::{node.op_type}" if node.domain else node.op_type,
            name=node.name or next((name for name in node.output if name), node.op_type),
            inputs=tuple(self.numbers[name] for name in reads(node) if name in self.numbers),
            outputs=tuple(self.numbers[name] for name in node.output if name),
            module=module_of(node),
        )

    def _chunks(self) -> Iterator[list[str]]:
        """Yield the names of the tensors that nodes compute, as many as fit into memory."""
        sizes = self._sizes()
        chunk: list[str] = []
        taken = 0
        for name, size in sizes.items():
            if chunk and taken + size > CHUNK_BYTES:
                yield chunk
                chunk, taken = [], 0
            chunk.append(name)
            taken += size
        if chunk:
            yield chunk

    def _sizes(self) -> dict[str, int]:
        """Return the maximal bytes of each tensor, from one run that returns only shapes."""
        others = _list_non_tensors(self.model)
        names = [name for name in self._computed() if name not in others]
        model = self._with_outputs(f"{_SHAPE_OF}{name}" for name in names)
        model.graph.node.extend(
            onnx.helper.make_node("Shape", [name], [f"{_SHAPE_OF}{name}"]) for name in names
        )
        shapes = self._run(model, self.feed)
        return {
            name: int(np.prod(shapes[f"{_SHAPE_OF}{name}"], dtype=np.int64)) * _WIDEST
            for name in names
        }

    def _computed(self) -> Iterator[str]:
        for node in self.nodes:
            if node.op_type != "Constant":
                yield from (name for name in node.output if name)


def reads(node: onnx.NodeProto) -> list[str]:
    """Return the names that a node reads, its subgraphs included."""
    found = [name for name in node.input if name]
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            inner = {entry.name for entry in (*graph.input, *graph.initializer)}
            for child in graph.node:
                found.extend(name for name in reads(child) if name not in inner)
                inner.update(child.output)
            found.extend(entry.name for entry in graph.output if entry.name not in inner)
    return list(dict.fromkeys(found))


def _number_values(graph: onnx.GraphProto) -> dict[str, int]:
    """Return a number for each input and each value that nodes compute; weights have none."""
    weights = {tensor.name for tensor in graph.initializer}
    names = [entry.name for entry in graph.input if entry.name not in weights]
    for node in graph.node:
        names.extend(name for name in node.output if name)
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _list_non_tensors(model: onnx.ModelProto) -> Collection[str]:
    """Return the values that are sequences or optionals."""
    inferred = onnx.shape_inference.infer_shapes(model)
    return {
        value.name
        for value in (*inferred.graph.value_info, *inferred.graph.output)
        if value.type.WhichOneof("value") not in {None, "tensor_type"}
    }


Agrees = Callable[[list[Array]], bool]


def level_to_blame(file: File, agrees: Agrees, dump: Path) -> str:
    """Return the first level of onnxruntime's optimizations that makes the file wrong.

    The file as optimized at that level is written to `dump`. Empty if no level does.
    """
    for name, level in LEVELS.items():
        if not agrees(file.outputs(level, dump)):
            return name
    return ""
