"""What forward returns, as the tensors of the graph's outputs."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator

import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import Incurable
from modelexport_exporter.torch_internals import pytree


def flatten(value: object) -> Iterator[torch.Tensor]:
    """Yield the tensors of an output in the order in which the exporters number them.

    None is no output, a Python number is one (a tensor without dims). Dataclasses, which PyTorch
    flattens only when they are registered, go by their fields.
    """
    leaves = pytree.tree_leaves(value)  # torch.export's own flattening
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            if leaf.is_complex():
                raise complex_output(leaf.dtype)
            yield leaf
        elif isinstance(leaf, bool | int | float):
            yield torch.tensor(leaf)
        elif dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
            yield from flatten([getattr(leaf, field.name) for field in dataclasses.fields(leaf)])
        elif _is_cache(leaf):
            _register_caches()
            yield from flatten(leaf)
        elif leaf is not None:
            raise Incurable(
                Reason.CONTRACT_VIOLATED,
                f"an output of forward is a {type(leaf).__name__}, not a tensor",
                "Return tensors only, in a tuple, list or dict.",
            )


def register_classes(tree: object) -> bool:
    """Register dataclasses and caches of transformers with pytree; return whether any is new.

    torch flattens no others. What is registered is no leaf.
    """
    found = False
    for leaf in pytree.tree_leaves(tree):
        if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
            torch.export.register_dataclass(type(leaf))
            register_classes(leaf)
            found = True
        elif _is_cache(leaf):
            _register_caches()
            found = True
    return found


def _is_cache(leaf: object) -> bool:
    kind = type(leaf)
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
