"""Gradients that forward takes: a file has the forward pass only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind

_FUNCTIONS = ("torch.autograd.grad", "torch.autograd.backward", "torch.autograd.functional.")
_TRANSFORMS = ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize")
_DERIVATIVES = frozenset(
    f"{module}.{name}"
    for name in _TRANSFORMS
    for module in ("torch.func", "functorch", getattr(torch.func, name).__module__)
)


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield calls of torch.autograd, `loss.backward()`, and derivatives by torch.func."""
    for call in code.walk(ast.Call):
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        function = code.dotted(call.func)
        if function in _DERIVATIVES:
            yield Pitfall(
                PitfallKind.GRADIENT,
                f"`{code.text(call)}` takes a derivative in forward, which torch.export captures "
                "of few functions",
                code.place(call),
                "Write the derivative as a formula of tensors.",
            )
        backward = method == "backward" and code.names.kind_of(call.func.value) is Kind.TENSOR
        if backward or function.startswith(_FUNCTIONS):
            yield Pitfall(
                PitfallKind.GRADIENT,
                f"`{code.text(call)}` takes a gradient in forward, which no route captures",
                code.place(call),
                "Write the derivative as a formula of tensors, or use torch.func.grad of a "
                "function without modules that change.",
            )
