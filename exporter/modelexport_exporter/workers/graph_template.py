"""A translated graph without its weights, to bind another checkpoint's weights to.

Guarantees that the original weights are removed: each initializer that was a parameter or buffer of
the module is identified by its name in the module, and has no value until it is bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import onnx_ir as ir
import torch
from onnx_ir.tensor_adapters import TorchTensor

from modelexport_api.reasons import Reason
from modelexport_exporter.convert.dynamo import Translation
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.workers.module_signature import Memory, ModuleSignature, memory, tensors

Place = tuple[int, str]
"""An initializer: the number of its graph, in the order of `ir.Model.graphs`, and its name."""


@dataclass(frozen=True)
class Template:
    """A translation with placeholders for weights."""

    translation: Translation
    signature: ModuleSignature
    keys: dict[Place, str]
    """The module's name for the weight of each place."""

    @staticmethod
    def of(translation: Translation, module: torch.nn.Module) -> Template:
        """Return a template; the translation itself is not changed."""
        names: dict[Memory, str] = {}
        for name, tensor in tensors(module):
            if tensor.numel():
                names.setdefault(memory(tensor), name)
        model = translation.model.clone()
        keys: dict[Place, str] = {}
        for place, value in _initializers(model):
            raw = getattr(value.const_value, "raw", None)
            key = names.get(memory(raw)) if isinstance(raw, torch.Tensor) else None
            if key is not None:
                keys[place] = key
                _empty(value)
        return Template(replace(translation, model=model), ModuleSignature.of(module), keys)

    def bind(self, module: torch.nn.Module) -> Translation:
        """Return the translation with a module's weights.

        Raises ExportFailure if the module is not the one that the graph was translated from.
        """
        difference = self.signature.difference(ModuleSignature.of(module))
        if difference:
            raise ExportFailure(
                Reason.STATE_DICT_MISMATCH,
                f"another model than the translated one: {difference}",
                "It gets a fresh export.",
            )
        weights = dict(tensors(module))
        model = self.translation.model.clone()
        for place, value in _initializers(model):
            key = self.keys.get(place)
            if key is not None:
                value.const_value = TorchTensor(weights[key].detach(), name=value.name)
        return replace(self.translation, model=model)


def _initializers(model: ir.Model) -> Iterator[tuple[Place, ir.Value]]:
    for number, graph in enumerate(model.graphs()):
        for name, value in graph.initializers.items():
            yield (number, name), value


def _empty(value: ir.Value) -> None:
    """Remove the value; its shape and type stay."""
    tensor = value.const_value
    assert tensor is not None
    value.shape = ir.Shape(tensor.shape.numpy())
    value.dtype = tensor.dtype
    value.const_value = None
