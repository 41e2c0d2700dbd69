"""A TorchScript graph of any model, for looking at it: traced where it is not a script already.

Only tensors become the trace's inputs; what else forward takes is fixed, as the exporter fixes it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import torch

from modelexport_exporter.diagnosis.caught_errors import CaughtErrors
from modelexport_exporter.torch_internals import pytree

PREFIX = "model_to_look_at"
"""The name that the model has inside the trace: in front of the paths of its modules."""


class Flattened(torch.nn.Module):
    """A model as a function from tensors to tensors."""

    def __init__(
        self, model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        super().__init__()
        self.model_to_look_at = model
        self._leaves, self._structure = pytree.tree_flatten((args, dict(kwargs)))
        self._places = [
            place for place, leaf in enumerate(self._leaves) if isinstance(leaf, torch.Tensor)
        ]

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        """Return what forward is called with."""
        return tuple(self._leaves[place] for place in self._places)

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Call the model and return the tensors in its answer."""
        leaves = list(self._leaves)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self._structure)
        answer = self.model_to_look_at(*args, **kwargs)
        return tuple(pytree.tensors_in(answer))


def graph_of(
    model: Any,  # noqa: ANN401 - a module, a script, or a scripted function
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> torch.Graph:
    """Return the graph of a script, or of a trace at these arguments. Raises what forward does."""
    if isinstance(model, torch.jit.ScriptFunction):
        return model.graph
    if isinstance(model, torch.jit.ScriptModule):
        forward: Any = model.forward
        return _typed(forward.graph)
    return _typed(trace(Flattened(model, args, kwargs)).inlined_graph)


def _typed(graph: torch.Graph) -> torch.Graph:
    return graph


def trace(flattened: Flattened) -> Any:  # noqa: ANN401 - torch.jit is untyped
    """Return the trace of a flattened model at its own arguments. Raises what forward does.

    And ExportFailure for an error that forward catches.
    """
    with torch.no_grad(), CaughtErrors() as errors:
        flattened(*flattened.tensors)
    errors.check()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.trace(  # type: ignore[no-untyped-call]
            flattened, flattened.tensors, strict=False, check_trace=False
        )
