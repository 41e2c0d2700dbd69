"""How long the lists of modules are that the methods of a model's modules find on `self`."""

from __future__ import annotations

from collections import defaultdict
from types import FunctionType

from torch import nn

from modelexport_exporter.torch_internals.script_annotations import Function


def lists_of_modules(model: nn.Module) -> dict[Function, dict[str, int]]:
    """Return the lengths of lists by method and name, where all modules with the method agree."""
    met: defaultdict[Function, defaultdict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for module in model.modules():
        lists = {
            name: len(child)
            for name, child in module.named_children()
            if isinstance(child, nn.ModuleList | nn.Sequential)
        }
        for method in _methods(type(module)) if lists else ():
            for name, length in lists.items():
                met[method][name].add(length)
    return {
        method: {name: min(lengths) for name, lengths in lists.items() if len(lengths) == 1}
        for method, lists in met.items()
    }


def _methods(kind: type) -> list[Function]:
    return [
        Function(code.co_filename, code.co_firstlineno, code.co_name)
        for base in kind.__mro__
        if base is not nn.Module and issubclass(base, nn.Module)
        for function in vars(base).values()
        if isinstance(function, FunctionType) and (code := function.__code__)
    ]
