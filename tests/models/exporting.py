"""A converted model made by torch.onnx alone, so that verification is tested without the stages
before it, and damaged on purpose."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import torch
from google.protobuf.message import DecodeError

from modelexport_api.resource import parse
from modelexport_api.status import Stage
from modelexport_exporter.checkpoint.load import load_module
from modelexport_exporter.core.dims import DimSizes
from modelexport_exporter.core.types import ConvertedModel, ExportTask, WrittenFile
from models.catalog import RealModel
from models.example_inputs import example_inputs

Damage = Callable[[onnx.ModelProto], None]


def silent(_stage: Stage, _fraction: float, _message: str) -> None:
    """Report to nobody."""


def task_for(model: RealModel, directory: Path, **spec: Any) -> ExportTask:  # noqa: ANN401
    """Return the task that fetch would hand over."""
    checkpoint = model.checkpoint(directory)
    output = directory / "onnx"
    output.mkdir(exist_ok=True)
    manifest = model.manifest(f"file://{checkpoint}", f"file://{model.code}", "file:///o/", **spec)
    return ExportTask(parse(manifest).spec, checkpoint, model.code.parent, output)


def convert(
    task: ExportTask,
    *,
    dynamo: bool = True,
    dynamic: bool = True,
    external: bool = False,
    damage: Damage | None = None,
) -> ConvertedModel:
    """Export with torch.onnx at the capture's sizes, then apply the damage."""
    module = load_module(task).module
    spec = task.spec
    arguments = example_inputs(spec, DimSizes.of(spec).captured)
    path = task.output_dir / "model.onnx"
    names = [entry.name for entry in spec.inputs]
    dims: dict[str, Any] = {}
    if dynamic and dynamo:
        symbols = {
            name: torch.export.Dim(name, min=dim.min, max=dim.max)
            for name, dim in spec.dims.items()
        }
        shapes = [
            {axis: symbols[d] for axis, d in enumerate(entry.shape) if isinstance(d, str)}
            for entry in spec.inputs
        ]
        dims["dynamic_shapes"] = tuple(shapes)
    elif dynamic:
        dims["dynamic_axes"] = {
            entry.name: {axis: d for axis, d in enumerate(entry.shape) if isinstance(d, str)}
            for entry in spec.inputs
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            arguments,
            str(path),
            dynamo=dynamo,
            input_names=names,
            output_names=spec.outputs or None,
            external_data=external,
            verbose=False,
            **dims,
        )
    if damage is not None:
        proto = onnx.load(path)
        damage(proto)
        onnx.save(proto, path)
    return describe(path)


def describe(path: Path) -> ConvertedModel:
    """Return what is known of a file on disk."""
    files = tuple(
        WrittenFile(file.name, file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest())
        for file in sorted(path.parent.iterdir())
    )
    return ConvertedModel(
        model_path=path,
        files=files,
        opset=20,
        ir_version=10,
        exporter=f"torch {torch.__version__}",
        inputs=(),
        outputs=(),
        op_counts=_operators(path),
    )


def _operators(path: Path) -> dict[str, int]:
    try:
        nodes = onnx.load(path, load_external_data=False).graph.node
    except DecodeError:  # a test of files that are no ONNX
        return {}
    return Counter(node.op_type for node in nodes)


def forget_user_code() -> None:
    """Drop modules of user code from this process; in production each worker has its own."""
    for name in (
        "model",
        "minilm_encoder",
        "wrongly_converted",
        "misbehaving",
        "fixed_size",
        "alike",
    ):
        sys.modules.pop(name, None)
