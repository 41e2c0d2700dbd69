"""The weights in the file: their names, and whether they are also, or only, inputs.

Guarantees that a name the spec asks for is the initializer's name or a finding says why not (the
exporter folded the parameter into another one), and that the inputs made of weights are known, so
that they can be fed during verification and are not taken for undeclared inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir
import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Export, Weights
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ContractFinding


@dataclass(frozen=True)
class ArrangedWeights:
    """The module's parameters and buffers in the file."""

    findings: tuple[ContractFinding, ...] = ()
    inputs: dict[str, str] = field(default_factory=dict)
    """Inputs that a consumer has to feed: name in the graph -> key in the state_dict."""


def arrange_weights(model: ir.Model, module: torch.nn.Module, export: Export) -> ArrangedWeights:
    """Rename the initializers and move them to the inputs, as far as the spec asks for it."""
    if not export.parameter_names and not export.weights.are_inputs:
        return ArrangedWeights()
    keys = weight_keys(module)
    names, findings = _rename(model, keys, export.parameter_names)
    found = {key: names.get(key, key) for key in keys}
    present = {key: name for key, name in found.items() if name in model.graph.initializers}
    if export.weights is Weights.AS_INPUTS:
        _require_some(present, export)
        for name in present.values():
            model.graph.inputs.append(model.graph.initializers[name])
    elif export.weights is Weights.OMITTED:
        _require_some(present, export)
        for name in present.values():
            _detach(model, name)
        return ArrangedWeights(findings, {name: key for key, name in present.items()})
    return ArrangedWeights(findings)


def weight_keys(module: torch.nn.Module) -> list[str]:
    """Return the names of parameters, then of buffers, each tensor once."""
    return [name for name, _ in _weights(module)]


def _weights(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from module.named_parameters()
    yield from module.named_buffers()


def _rename(
    model: ir.Model, keys: Sequence[str], wanted: Sequence[str]
) -> tuple[dict[str, str], tuple[ContractFinding, ...]]:
    if len(wanted) > len(keys):
        raise ExportFailure(
            Reason.CONTRACT_VIOLATED,
            f"parameterNames has {len(wanted)} names, the module {len(keys)} parameters and "
            "buffers",
            "Name at most as many as the module has, in its order.",
        )
    initializers = model.graph.initializers
    taken = {value.name for value in _other_values(model)}
    names: dict[str, str] = {}
    findings = []
    for key, name in zip(keys, wanted, strict=False):
        if key not in initializers:
            findings.append(
                ContractFinding(
                    f"parameter {key}", name, "folded into other initializers or not used"
                )
            )
        elif name in taken or name in initializers:
            raise ExportFailure(
                Reason.CONTRACT_VIOLATED,
                f"parameterNames: {name} is already the name of another value in the graph",
                "Choose names that differ from inputs, outputs and other parameters.",
            )
        else:
            value = initializers[key]
            del initializers[key]
            value.name = name
            initializers[name] = value
            names[key] = name
    return names, tuple(findings)


def _other_values(model: ir.Model) -> Iterator[ir.Value]:
    yield from model.graph.inputs
    for node in model.graph.all_nodes():
        yield from node.outputs


def _require_some(present: dict[str, str], export: Export) -> None:
    if not present:
        raise ExportFailure(
            Reason.CONTRACT_VIOLATED,
            f"export.weights is {export.weights.value}, but no parameter is left in the graph "
            "under its own name",
            "The module has no parameters, or the exporter folded all of them: leave "
            "export.weights out.",
        )


def _detach(model: ir.Model, name: str) -> None:
    """Make an initializer an input without a value."""
    value = model.graph.initializers[name]
    del model.graph.initializers[name]
    tensor = value.const_value
    assert tensor is not None
    value.shape = ir.Shape(tensor.shape.numpy())
    value.dtype = tensor.dtype
    value.const_value = None
    model.graph.inputs.append(value)
