"""Operators that no route translates: the failure of one route says whether another can help.

After torch.export's route failed, the model is traced, which takes seconds, instead of exported by
the TorchScript route, which takes two processes more. A trace that fails proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter
from modelexport_api.status import UnsupportedOp
from modelexport_exporter.call import torchscript_call
from modelexport_exporter.convert.branches import ModelToCapture
from modelexport_exporter.convert.capture import quiet
from modelexport_exporter.convert.script_definitions import DEFINITIONS
from modelexport_exporter.core.errors import ExportFailure, Incurable
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.core.user_frame import text_of, user_frame
from modelexport_exporter.decompositions import provided, rewriting_calls
from modelexport_exporter.diagnosis.operators.failure import hint, listed
from modelexport_exporter.diagnosis.operators.in_script import unsupported_in_model
from modelexport_exporter.diagnosis.operators.support import TORCHS_OWN, without_overload
from modelexport_exporter.torch_internals.operators import OpOverload, schema_of


def as_incurable(
    failure: ExportFailure, lacking: Sequence[UnsupportedOp], opset: int
) -> ExportFailure:
    """Return the failure, as one that ends the export if there are operators no route has."""
    if not lacking:
        return failure
    more = f". {failure.message}" if len(lacking) < len(failure.ops) else ""
    return Incurable(
        Reason.UNSUPPORTED_OPERATOR,
        f"no route has a translation to ONNX opset {opset} for {listed(lacking)}{more}",
        hint(lacking),
        stage=failure.stage,
        ops=failure.ops or tuple(lacking),
        sources=failure.sources,
    )


def lacking_everywhere(
    ops: Sequence[UnsupportedOp],
    route: Exporter,
    translated: Collection[str],
    trace: Callable[[], Sequence[UnsupportedOp]],
) -> list[UnsupportedOp]:
    """Return those operators, which one route lacks, that the other lacks, too.

    `translated`: names of those that plugins translate. `trace`: returns what a trace has without
    a symbolic function.
    """
    if route is Exporter.TORCH_SCRIPT:
        return [op for op in ops if not _may_be_in_program(op.name, translated)]
    if all(_is_defined_for_scripts(op.name) for op in ops):
        return []
    traced = {without_overload(op.name) for op in trace()}
    return [
        op
        for op in ops
        if without_overload(op.name) in traced and not _is_defined_for_scripts(op.name)
    ]


def _may_be_in_program(name: str, translated: Collection[str]) -> bool:
    """Return whether torch.export's route may translate an operator, or decompose it.

    Only of an operator of another library is it known that nothing but a plugin translates it.
    """
    base = without_overload(name)
    return base.partition("::")[0] in TORCHS_OWN or base in translated or base in provided()


def _is_defined_for_scripts(name: str) -> bool:
    own = name.removeprefix("aten::")
    return own in DEFINITIONS or own.partition(".")[0] in DEFINITIONS


def unsupported_in_trace(model: ModelToCapture) -> list[UnsupportedOp]:
    """Return the operators without a symbolic function in a trace. Raises ExportFailure."""
    bound_inputs, plugins, code_dir = model.bound_inputs, model.plugins, model.code_dir
    spec = bound_inputs.spec
    called = torchscript_call(model.module, bound_inputs.call, bound_inputs.sizes.captured)
    try:
        with (
            quiet(),
            torch.no_grad(),
            plugins.register_symbolics(),
            rewriting_calls(plugins.left_alone, spec.export.opset),
        ):
            return unsupported_in_model(
                called.module,
                called.args,
                {},
                spec.export.opset,
                code_dir,
                disabled=spec.export.rewrites.disabled,
            )
    except ExportFailure:
        raise
    except Exception as error:
        reraise_out_of_memory(error)
        frame = user_frame(error, code_dir)
        raise ExportFailure(
            Reason.CONVERSION_FAILED,
            f"torch.jit.trace cannot follow the forward pass{f' at {frame}' if frame else ''}: "
            f"{type(error).__name__}: {text_of(error)[:400]}",
            "Write that line with torch operators only.",
        ) from error


def without_any_route(
    failure: ExportFailure, route: Exporter, model: ModelToCapture
) -> ExportFailure:
    """Return a route's failure, as an incurable one if it is about operators no route has."""
    unknown = _without_shapes(failure) if failure.reason is Reason.CAPTURE_FAILED else ""
    if not unknown and (failure.reason is not Reason.UNSUPPORTED_OPERATOR or not failure.ops):
        return failure

    def trace() -> Sequence[UnsupportedOp]:
        try:
            return unsupported_in_trace(model)
        except ExportFailure:
            return ()

    if unknown:
        lacking = [op for op in trace() if without_overload(op.name) == unknown]
    else:
        lacking = lacking_everywhere(failure.ops, route, model.plugins.left_alone, trace)
    return as_incurable(failure, lacking, model.bound_inputs.spec.export.opset)


def _without_shapes(failure: ExportFailure) -> str:
    """Return the operator of whose result torch.export could not tell the shape; empty if none.

    It tells it on none of its rungs.
    """
    error: BaseException | None = failure
    while error is not None:
        operator = getattr(error, "func", None)
        if isinstance(operator, OpOverload):
            return schema_of(operator).name
        error = error.__cause__ or error.__context__
    return ""
