"""From the manifest's inputs to a call of forward and to the tensors that the graph takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from inspect import Parameter
from pathlib import Path
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_api.sizes import DimExpression
from modelexport_api.spec import DType, Input, InputKind, ModelExportSpec
from modelexport_exporter.call.call import Call, Constant, Leaf
from modelexport_exporter.call.nesting import Branch, build, nest
from modelexport_exporter.call.signature import Signature, signature_of
from modelexport_exporter.call.state_entries import outputs_with_state, state_inputs
from modelexport_exporter.call.user_example import call_by_example
from modelexport_exporter.call.user_sampler import find_sampler
from modelexport_exporter.core.dims import DimSizes, describe_sizes
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.sampling.masks import is_mask
from modelexport_exporter.torch_internals.pytree import captured_structure, tree_leaves

NUMBER_DTYPES = {
    InputKind.INT: DType.INT64,
    InputKind.FLOAT: DType.FLOAT32,
    InputKind.BOOL: DType.BOOL,
}
_INTEGERS = [0.0, 9.0]
"""What an Int without a range is verified with: 0 and 1 alone would let too much pass."""


@dataclass(frozen=True)
class BoundInputs:
    """A spec whose inputs are the tensors that the graph takes, and how forward is called."""

    spec: ModelExportSpec
    call: Call
    sizes: DimSizes


def bind_inputs(
    spec: ModelExportSpec, module: torch.nn.Module, code_dir: Path | None
) -> BoundInputs:
    """Return the call that the spec's inputs describe, for this module's forward."""
    _check_values(spec)
    state = state_inputs(spec, module)
    kept = {entry.name for entry in state}
    others = [entry for entry in spec.inputs if entry.name not in kept]
    plain = spec.model_copy(update={"inputs": others})
    if spec.model is not None and spec.model.example_inputs is not None:
        call = call_by_example(spec.model.example_inputs, plain, code_dir)
    else:
        call = _call_by_names(plain, module)
    call = call.with_keywords({entry.name: Leaf(entry) for entry in state})
    call = replace(call, sampler=find_sampler(spec, code_dir), code_dir=code_dir)
    bound = spec.model_copy(update={"inputs": call.inputs, "outputs": outputs_with_state(spec)})
    return BoundInputs(bound, call, DimSizes.of(bound))


def _call_by_names(spec: ModelExportSpec, module: torch.nn.Module) -> Call:
    signature = signature_of(module)
    tree = nest((entry.name, _slots(entry)) for entry in spec.inputs)
    program = captured_structure(module)
    if program is not None and not _are_parameters(tree, signature):
        slots = tree_leaves(list(tree.values()))
        if len(slots) == program.num_leaves:
            return Call(tuple(slots), program, spec.dims)
    args, kwargs = _placed(tree, signature)
    return Call.of(args, kwargs, spec.dims)


def _check_values(spec: ModelExportSpec) -> None:
    for entry in spec.inputs:
        if entry.value is not None and entry.kind is not InputKind.CONSTANT:
            raise ExportFailure(
                Reason.INVALID_MANIFEST,
                f"input {entry.name} is of kind {entry.kind.value} and has a value",
                "Remove value, or set kind: Constant to fix it in the file.",
            )
        for size in entry.shape:
            _check_size(entry, size, spec)


def _check_size(entry: Input, size: int | str, spec: ModelExportSpec) -> None:
    if isinstance(size, int):
        return
    expression = DimExpression.parse(size)
    least = {name: spec.dims[name].min for name in expression.dims}
    if expression.at(least) < 0:
        raise ExportFailure(
            Reason.INVALID_MANIFEST,
            f"input {entry.name}: {size} is {expression.at(least)} at {describe_sizes(least)}",
            f"Set dims.{expression.dim}.min: {-expression.offset} or more.",
        )


def _slots(entry: Input) -> Any:  # noqa: ANN401
    """Return the value for a declared input."""
    if entry.kind is InputKind.CONSTANT:
        return Constant(entry.value)
    if entry.kind is InputKind.SEQUENCE:
        assert entry.length is not None
        names = (f"{entry.name}.{place}" for place in range(entry.length))
        return [Leaf(entry.model_copy(update={"name": name})) for name in names]
    if entry.kind in NUMBER_DTYPES:
        fixed: dict[str, Any] = {"dtype": NUMBER_DTYPES[entry.kind], "shape": []}
        if entry.kind is InputKind.INT and entry.range is None:
            fixed["range"] = list(_INTEGERS)
        return Leaf(entry.model_copy(update=fixed))
    if is_mask(entry):
        return Leaf(entry.model_copy(update={"range": [0.0, 1.0]}))
    return Leaf(entry)


def _placed(tree: Branch, signature: Signature) -> tuple[list[Any], dict[str, Any]]:
    """Return args and kwargs: by name where the names are forward's, in order otherwise."""
    if _are_parameters(tree, signature):
        return _by_name(tree, signature)
    return _in_order(tree, signature), {}


def _are_parameters(tree: Branch, signature: Signature) -> bool:
    unknown = set(tree) - set(signature.parameters)
    if not unknown:
        return True
    if signature.variadic(Parameter.VAR_KEYWORD) is None:
        return False
    named = signature.required
    return bool(named) and named <= set(tree)


def _by_name(tree: Branch, signature: Signature) -> tuple[list[Any], dict[str, Any]]:
    """Pass in order as far as that goes, so that the graph's inputs are in forward's order."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    gap = False
    for name, parameter in signature.parameters.items():
        if name not in tree:
            gap = gap or parameter.kind in {
                Parameter.POSITIONAL_ONLY,
                Parameter.POSITIONAL_OR_KEYWORD,
            }
            continue
        value = build(tree[name], parameter.annotation, name)
        if parameter.kind is Parameter.VAR_POSITIONAL:
            args.extend(value if isinstance(value, list | tuple) else [value])
        elif parameter.kind is Parameter.VAR_KEYWORD:
            kwargs.update(value if isinstance(value, dict) else {name: value})
        elif gap or parameter.kind is Parameter.KEYWORD_ONLY:
            kwargs[name] = value
        else:
            args.append(value)
    for name in tree:
        if name not in signature.parameters:
            kwargs[name] = build(tree[name], Parameter.empty, name)
    return args, kwargs


def _in_order(tree: Branch, signature: Signature) -> list[Any]:
    names = signature.ordered
    rest = signature.variadic(Parameter.VAR_POSITIONAL)
    if len(tree) > len(names) and rest is None:
        raise ExportFailure(
            Reason.INPUTS_MISMATCH,
            f"inputs declare {len(tree)} ({', '.join(tree)}), but the model takes "
            f"{len(names)}: {signature}",
            "inputs must list what forward takes, in its order or by the names of its parameters.",
        )
    return [
        build(value, annotation, head)
        for (head, value), annotation in zip(
            tree.items(), _annotations(signature, rest), strict=False
        )
    ]


def _annotations(signature: Signature, rest: str | None) -> Iterator[Any]:
    for name in signature.ordered:
        yield signature.parameters[name].annotation
    while rest is not None:
        yield signature.parameters[rest].annotation
