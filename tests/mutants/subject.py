"""What a model of the suite is, and its export by the product's own worker."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from modelexport_api.resource import parse
from modelexport_exporter.core.types import ConvertedModel, ExportTask, Rung
from modelexport_exporter.workers.export import export_model
from models.exporting import silent

HERE = Path(__file__).parent / "code"
SEEDS = Path(__file__).parents[1] / "seeds" / "code"


@dataclass(frozen=True)
class Subject:
    """A model that verifies, as a user declares it."""

    name: str
    factory: str
    """`module:callable`, the module below `code`."""
    inputs: Sequence[Mapping[str, Any]]
    dims: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Sequence[str] = ()
    rung: Rung = Rung.DYNAMO
    code: Path = HERE
    write: Callable[[Path], None] | None = None
    """Writes a trained checkpoint; absent: initial weights with uneven statistics."""
    samples: int = 120
    """How many inputs decide whether a mutant computes something else."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    """Any other field of the spec."""


def task_for(subject: Subject, directory: Path) -> ExportTask:
    """Write the checkpoint, and return the task that fetch would hand over."""
    checkpoint = directory / "checkpoint.pt"
    if subject.write is not None:
        checkpoint = checkpoint.with_suffix(_suffix(subject))
        subject.write(checkpoint)
    else:
        torch.save(initial(subject).state_dict(), checkpoint)
    output = directory / "onnx"
    output.mkdir()
    spec = parse(manifest(subject, checkpoint)).spec
    return ExportTask(spec, checkpoint, subject.code, output, rung=subject.rung)


def export(task: ExportTask) -> ConvertedModel:
    """Export as the product's child process does."""
    return export_model(task, silent)


def initial(subject: Subject) -> torch.nn.Module:
    """Return the factory's module, always with the same weights, none of them trivial."""
    sys.path.insert(0, str(subject.code))
    try:
        module_name, _, attribute = subject.factory.partition(":")
        factory = getattr(importlib.import_module(module_name), attribute)
    finally:
        sys.path.remove(str(subject.code))
    torch.manual_seed(0)
    module: torch.nn.Module = factory(**subject.kwargs)
    for name, tensor in module.state_dict().items():
        if name.endswith("running_mean"):
            tensor.normal_(std=0.5)
        elif name.endswith("running_var"):
            tensor.uniform_(0.5, 2.0)
    for part in module.modules():
        if "Norm" in type(part).__name__ and getattr(part, "weight", None) is not None:
            torch.nn.init.uniform_(part.weight, 0.5, 1.5)  # type: ignore[arg-type]
            torch.nn.init.normal_(part.bias, std=0.3)  # type: ignore[arg-type]
    return module.eval()


def manifest(subject: Subject, checkpoint: Path) -> dict[str, Any]:
    """Return the resource as a user would write it."""
    return {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": subject.name},
        "spec": {
            "source": {"uri": f"file://{checkpoint}"},
            "model": {
                "factory": subject.factory,
                "kwargs": dict(subject.kwargs),
                "code": {"uri": f"file://{subject.code}/"},
            },
            "inputs": [dict(entry) for entry in subject.inputs],
            "dims": {name: {"min": low, "max": high} for name, (low, high) in subject.dims.items()},
            "outputs": list(subject.outputs),
            "destination": {"uri": "file:///artifacts/"},
            "verification": {"provider": "CPU"},
            **subject.spec,
        },
    }


def _suffix(subject: Subject) -> str:
    return ".safetensors" if "minilm" in subject.factory else ".pt"
