"""What forward returns, as the tensors of the graph's outputs."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, OutputKind

from modelexport_api.reasons import Reason
from modelexport_exporter.call.output_names import Path
from modelexport_exporter.core.errors import Incurable
from modelexport_exporter.torch_internals import pytree


def flatten(value: object) -> Iterator[torch.Tensor]:
    """Yield the tensors of an output in the order in which the exporters number them.

    None is no output, a Python number is one (a tensor without dims). Dataclasses, which PyTorch
    flattens only when they are registered, go by their fields.
    """
    for _, leaf in _leaves(value, ()):
        if isinstance(leaf, torch.Tensor):
            if leaf.is_complex():
                raise complex_output(leaf.dtype)
            yield leaf
        elif isinstance(leaf, bool | int | float):
            yield torch.tensor(leaf)
        else:
            raise Incurable(
                Reason.CONTRACT_VIOLATED,
                f"an output of forward is a {type(leaf).__name__}, not a tensor",
                "Return tensors only, in a tuple, list or dict.",
            )


def output_paths(value: object) -> list[Path]:
    """Return where each of these tensors is in what forward returns."""
    return [path for path, _ in _leaves(value, ())]


def program_output_paths(program: ExportedProgram) -> list[Path]:
    """Return the same of what a captured program returns."""
    returned = [
        output.arg
        for output in program.graph_signature.output_specs
        if output.kind is OutputKind.USER_OUTPUT
    ]
    paths = _paths(program.call_spec.out_spec)
    return [
        path
        for path, argument in zip(paths, returned, strict=True)
        if not (isinstance(argument, ConstantArgument) and argument.value is None)
    ]


def _leaves(value: object, at: Path) -> Iterator[tuple[Path, object]]:
    """Yield what is not None, and where it is. Raises Incurable for what has no end."""
    try:
        yield from _leaves_of(value, at)
    except RecursionError:
        raise _endless() from None


def _leaves_of(value: object, at: Path) -> Iterator[tuple[Path, object]]:
    leaves, structure = pytree.tree_flatten(value)  # torch.export's own flattening
    for leaf, inner in zip(leaves, _paths(structure), strict=True):
        path = (*at, *inner)
        if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
            for field in dataclasses.fields(leaf):
                yield from _leaves_of(getattr(leaf, field.name), (*path, field.name))
        elif _is_cache(leaf):
            _register_caches()
            yield from _leaves_of(leaf, path)
        elif leaf is not None:
            yield path, leaf


def _endless() -> Incurable:
    """Return the failure of an output that contains itself."""
    return Incurable(
        Reason.CONTRACT_VIOLATED,
        "forward returns a container that contains itself, or hundreds of containers in each other",
        "Return tensors only, in a tuple, list or dict.",
    )


def _paths(structure: pytree.TreeSpec) -> Iterator[Path]:
    if structure.is_leaf():
        yield ()
        return
    of_cache = _is_cache_class(structure.type)
    for step, child in zip(pytree.steps(structure), structure.children(), strict=True):
        for path in _paths(child):
            yield _of_layer(step, path) if of_cache else (step, *path)


def _of_layer(part: str | int, path: Path) -> Path:
    """Return the layer, then the part of the cache: `(0, "key")` for `key_cache` and `(0,)`."""
    return (*path, str(part).removesuffix("_cache"))


def register_classes(tree: object) -> bool:
    """Register dataclasses and caches of transformers with pytree; return whether any is new.

    torch flattens no others. What is registered is no leaf. Raises Incurable for what has no end.
    """
    try:
        return _register(tree)
    except RecursionError:
        raise _endless() from None


def _register(tree: object) -> bool:
    found = False
    for leaf in pytree.tree_leaves(tree):
        if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
            torch.export.register_dataclass(type(leaf))
            _register(leaf)
            found = True
        elif _is_cache(leaf):
            _register_caches()
            found = True
    return found


def _is_cache(leaf: object) -> bool:
    return _is_cache_class(type(leaf))


def _is_cache_class(kind: type) -> bool:
    return kind.__name__ == "DynamicCache" and kind.__module__.startswith("transformers.")


def _register_caches() -> None:
    module = importlib.import_module("transformers.integrations.executorch")
    module.register_dynamic_cache_export_support()


def complex_output(dtype: torch.dtype) -> Incurable:
    """Return the failure of a model that returns complex numbers."""
    return Incurable(
        Reason.CONTRACT_VIOLATED,
        f"an output of forward is {str(dtype).removeprefix('torch.')}: ONNX models return no "
        "complex numbers",
        "Return torch.view_as_real of it, or its real and its imaginary part.",
    )
