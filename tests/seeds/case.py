"""What a case of the coverage is: a model, what it takes, and how its export must end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_exporter.torch_internals.translation import OLDEST_OPSET

Array = NDArray[Any]
Feed = Mapping[str, Array]

EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, 1e-4, -1e-4, 9.0, -9.0)
"""What elementwise operators are asked besides random values: zeros, ties, halves, saturation."""
SPECIALS = (float("nan"), float("inf"), float("-inf"), 1e30, -1e30, 1e-40)


@dataclass(frozen=True)
class Refusal:
    """An export that must end in one of these reasons, and name what it speaks of."""

    reasons: tuple[Reason, ...]
    words: tuple[str, ...] = ()
    """Each must be in the message, the hint, or the list of operators."""


def refused(*reasons: Reason, words: Sequence[str] = ()) -> Refusal:
    """Return the refusal with one of the reasons."""
    return Refusal(reasons, tuple(words))


def as_state_dict(module: torch.nn.Module, directory: Path) -> Path:
    """Write the module's weights, as most training scripts do."""
    path = directory / "model.pt"
    torch.save(module.state_dict(), path)
    return path


def in_order(module: torch.nn.Module, feed: Mapping[str, torch.Tensor]) -> object:
    """Call the module with the feed's tensors as positional arguments."""
    return module(*feed.values())


@dataclass(frozen=True)
class Case:
    """One export through the whole product, and the judgement on it."""

    rows: str
    """The ids of the rows that it covers, apart by spaces."""
    name: str
    """Unique; the id of its test."""
    factory: str
    """`module:callable`, the module below `seeds/code`."""
    inputs: Sequence[Mapping[str, Any]]
    """As in the spec; `tensor` makes one."""
    dims: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Sequence[str] = ()
    export: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    """More of `spec.model`, such as training."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """More of `spec.source`, such as format."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    """Any other field of the spec."""
    expected: Refusal | None = None
    """Absent: the export must be published, and right."""
    or_refused: Refusal | None = None
    """A right artifact is welcome, and this refusal is accepted."""
    routes: Sequence[str] = ()
    """Rungs that may win; absent: any."""
    feeds: Sequence[Feed] = ()
    """What the artifact is asked besides the drawn samples."""
    edges: Sequence[float] = EDGES
    """Values of one more sample of floating-point inputs; () for none."""
    rtol: float = 1e-4
    """Allowed error, relative to the element and to the output's typical magnitude."""
    tied: bool = False
    """It ranks equal values, whose order torch does not specify and ONNX does: by their index."""
    nightly: bool = False
    settle: Callable[[torch.nn.Module], None] | None = None
    """Changes the module that the factory made before it is written, and before it is asked."""
    checkpoint: Callable[[torch.nn.Module, Path], Path] = as_state_dict
    call: Callable[[torch.nn.Module, Mapping[str, torch.Tensor]], object] = in_order

    @property
    def pinned(self) -> str:
        """Return what fixes the route: `TorchScript`, `Dynamo`, or an opset such as `opset 13`."""
        exporter = self.export.get("exporter", "Auto")
        if exporter != "Auto":
            return str(exporter)
        opset = self.export.get("opset", OLDEST_OPSET)
        return f"opset {opset}" if opset < OLDEST_OPSET else ""


def tensor(
    name: str,
    *shape: int | str,
    dtype: str = "float32",
    low: float | None = None,
    high: float | None = None,
) -> dict[str, Any]:
    """Return an input as the spec describes it."""
    entry: dict[str, Any] = {"name": name, "dtype": dtype, "shape": list(shape)}
    if low is not None and high is not None:
        entry["range"] = [low, high]
    return entry


def integers(name: str, *shape: int | str, high: int, low: int = 0, dtype: str = "int64") -> Any:  # noqa: ANN401
    """Return an input of integers from low to high, both included."""
    return tensor(name, *shape, dtype=dtype, low=low, high=high)


def array(*values: object, dtype: str = "float32") -> Array:
    """Return an array for an explicit feed: of the one nested list, or of the values."""
    return np.array(values[0] if len(values) == 1 else values, dtype=dtype)
