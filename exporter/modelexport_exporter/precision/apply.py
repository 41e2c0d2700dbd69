"""Apply export.precision: from the translated graph to one that computes in the precision.

It works on the graph, so it applies to every source and rung; ladder, contract and verdict come
after it and check the file that is published.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import onnx_ir as ir

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec, Precision
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ContractFinding, ExportTask
from modelexport_exporter.precision.quantize import quantized
from modelexport_exporter.precision.reduced_floats import Reduction, reduce_floats
from modelexport_exporter.sampling.golden import read_golden

TARGETS = {
    Precision.FLOAT16: ir.DataType.FLOAT16,
    Precision.BFLOAT16: ir.DataType.BFLOAT16,
}
_LISTED = 8
Applied = tuple[ir.Model, tuple[ContractFinding, ...]]


@contextmanager
def in_precision(model: ir.Model, spec: ModelExportSpec, task: ExportTask) -> Iterator[Applied]:
    """Yield the model in the spec's precision, and a finding on the nodes that stay in float32.

    `spec`: with the graph's inputs. Weights may be in scratch files until the block ends. Raises
    ExportFailure.
    """
    precision = spec.export.precision
    target = TARGETS.get(precision)
    if precision is Precision.NATIVE:
        yield model, ()
    elif target is not None:
        reduction = reduce_floats(model, target)
        yield model, _findings(reduction, precision, spec.export.opset)
    else:
        samples = read_golden(task.calibration_inputs, spec) if task.calibration_inputs else ()
        with quantized(model, precision, samples, task.output_dir) as result:
            yield result, ()


def _findings(
    reduction: Reduction, precision: Precision, opset: int
) -> tuple[ContractFinding, ...]:
    if not reduction.reduced:
        raise ExportFailure(
            Reason.CONVERSION_FAILED,
            f"no operator of the graph can compute in {precision.value} at opset {opset}; it has "
            f"{_list(reduction.kept) or 'none that computes with float32'}",
            "Set export.precision: Native, or a newer export.opset: 22 lets convolutions compute "
            "in bfloat16.",
        )
    if not reduction.kept:
        return ()
    total = reduction.reduced + sum(reduction.kept.values())
    kept = ContractFinding(
        subject="export.precision",
        requested=precision.value,
        obtained=f"{reduction.reduced} of {total} nodes; in float32: {_list(reduction.kept)}",
    )
    return (kept,)


def _list(kept: dict[str, int]) -> str:
    names = [f"{name} x{count}" for name, count in kept.items()]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
