"""Modules that take a call's leaves, for the TorchScript route.

Tracing passes keyword-only arguments in order, takes NamedTuples for tuples, and makes inputs of
numbers in a list; a scripted graph takes no dict, no None and no string, and confuses a list with
its first element. The converted module therefore takes each leaf as an argument and calls the model
with the containers built from them. Its parameters are the model's.
"""

from __future__ import annotations

import copy
import linecache
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from types import MethodType
from typing import Any

import onnx_ir as ir
import torch

from modelexport_api.spec import InputKind
from modelexport_exporter.call.call import Call, Leaf, Numbers
from modelexport_exporter.call.outputs import flatten
from modelexport_exporter.call.signature import Signature, signature_of
from modelexport_exporter.torch_internals import pytree

_INNER = "adapted_model"
_TYPES = {InputKind.INT: "int", InputKind.FLOAT: "float", InputKind.BOOL: "bool"}
_sources = count()


@dataclass(frozen=True)
class TorchScriptCall:
    """What torch.onnx is given on the TorchScript route."""

    module: torch.nn.Module
    args: tuple[Any, ...]


def torchscript_call(
    module: torch.nn.Module, call: Call, sizes: Mapping[str, int]
) -> TorchScriptCall:
    """Return module and arguments: the module itself where its arguments can be passed as are."""
    if not isinstance(module, torch.jit.ScriptModule | torch.jit.ScriptFunction):
        leaves = tuple(call.example_values(sizes).values())
        return TorchScriptCall(_traced(module, call), leaves)
    if _is_plain(call, signature_of(module)):
        return TorchScriptCall(module, call.example(sizes)[0])
    return TorchScriptCall(_scripted(module, call), tuple(call.leaves(call.example_values(sizes))))


def with_own_names(model: ir.Model) -> ir.Model:
    """Return the model with its weights named as in the module that was adapted."""
    prefix = f"{_INNER}."
    for value in [*model.graph.initializers.values()]:
        if value.name and value.name.startswith(prefix):
            value.name = value.name.removeprefix(prefix)
    return model


def _is_plain(call: Call, signature: Signature) -> bool:
    """Return whether a script can be called as it is; torch passes None for missing arguments."""
    args, kwargs = call.structure.children()
    leaves = all(isinstance(slot, Leaf) for slot in call.slots)
    complete = args.num_children == len(signature.parameters) and not kwargs.num_children
    return leaves and complete and all(part.is_leaf() for part in args.children())


def _traced(module: torch.nn.Module, call: Call) -> torch.nn.Module:
    """Return the module with a forward of leaves, in and out; all else is shared with it."""
    names = call.input_names

    def forward(_: torch.nn.Module, *leaves: torch.Tensor) -> Any:  # noqa: ANN401 - forward's own
        values = dict(zip(names, leaves, strict=True))
        args, kwargs = call.arguments(values, Numbers.TENSORS)
        return tuple(flatten(module.forward(*args, **kwargs)))

    adapted = copy.copy(module)
    adapted.forward = MethodType(forward, adapted)
    return adapted


def _scripted(module: Any, call: Call) -> torch.nn.Module:  # noqa: ANN401 - or a ScriptFunction
    """Return a scripted module that calls the scripted one."""
    writer = _Writer(call)
    is_function = isinstance(module, torch.jit.ScriptFunction)
    source = writer.source(_INNER if is_function else f"self.{_INNER}")
    namespace: dict[str, Any] = {**writer.classes, _INNER: module}
    filename = f"<adapted call {next(_sources)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec"), namespace)  # noqa: S102 - made of literals and names
    kind = type("Adapted", (torch.nn.Module,), {"forward": namespace["forward"]})
    kind.__module__ = __name__
    adapter: torch.nn.Module = kind().train(getattr(module, "training", False))
    if not is_function:
        setattr(adapter, _INNER, module)
    scripted: torch.nn.Module = torch.jit.script(adapter)
    return scripted


class _Writer:
    """Writes the forward that calls a scripted module, in the subset of Python that it is in."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._names = {entry.name: f"leaf_{position}" for position, entry in enumerate(call.inputs)}
        self._slots = iter(call.slots)
        self.classes: dict[str, type] = {}

    def source(self, callee: str) -> str:
        """Return the source of forward."""
        leaves = ", ".join(
            f"{self._names[entry.name]}: {_TYPES.get(entry.kind, 'Tensor')}"
            for entry in self._call.inputs
        )
        self.classes["Tensor"] = torch.Tensor
        args, kwargs = self._call.structure.children()
        passed = [self._expression(part) for part in args.children()]
        keywords = zip(kwargs.context or [], kwargs.children(), strict=True)
        passed += [f"{name}={self._expression(part)}" for name, part in keywords]
        return f"def forward(self, {leaves}):\n    return {callee}({', '.join(passed)})\n"

    def _expression(self, structure: pytree.TreeSpec) -> str:
        if structure.is_leaf():
            slot = next(self._slots)
            return self._names[slot.entry.name] if isinstance(slot, Leaf) else repr(slot.value)
        parts = [self._expression(part) for part in structure.children()]
        kind = structure.type
        if kind is dict:
            pairs = zip(structure.context, parts, strict=True)
            return "{" + ", ".join(f"{key!r}: {part}" for key, part in pairs) + "}"
        if kind is list:
            return f"[{', '.join(parts)}]"
        if kind is tuple:
            return f"({', '.join(parts)},)"
        made = structure.context if isinstance(structure.context, type) else kind
        self.classes[made.__name__] = made
        return f"{made.__name__}({', '.join(parts)})"
