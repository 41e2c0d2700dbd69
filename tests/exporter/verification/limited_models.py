"""The models of limited.py, converted, damaged and verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.workers.verify import verify_model
from models.catalog import CODE as ALL_CODE
from models.catalog import RealModel
from models.exporting import Damage, convert, silent, task_for

CODE = ALL_CODE / "limited.py"


def entry(name: str, *shape: int | str, dtype: str = "float32", **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return an input as the spec describes it."""
    return {"name": name, "shape": list(shape), "dtype": dtype, **fields}


def outcome(model: RealModel, directory: Path, damage: Damage | None) -> VerificationOutcome:
    """Return what the verification says of the model's file, damaged or right."""
    task = task_for(model, directory)

    def changed(proto: onnx.ModelProto) -> None:
        right = ir.serde.deserialize_model(proto)
        avoid_inexact_kernels(right, Declared.of(task.spec))
        proto.CopyFrom(ir.serde.serialize_model(right))
        if damage is not None:
            damage(proto)

    return verify_model(task, convert(task, damage=changed), silent)
