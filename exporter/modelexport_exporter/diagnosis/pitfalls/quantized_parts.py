"""Parts that PyTorch quantized: their packed weights are objects that no graph holds."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind

FLOAT_MODEL = (
    "Export the model before its conversion: in float, with export.precision DynamicInt8 or "
    "StaticInt8, or with its fake quantization (prepare_qat)."
)
_QUANTIZED = ("torch.ao.nn.quantized", "torch.ao.nn.intrinsic.quantized")
_OF_FLOATS = frozenset({"FloatFunctional", "FXFloatFunctional"})
"""They compute with floats; quantization puts others in their places."""
_LISTED = 2


def find(model: torch.nn.Module) -> Iterator[Pitfall]:
    """Yield one pitfall for all quantized parts of a model."""
    names: list[str] = []
    for name, part in model.named_modules():
        inside = bool(names) and name.startswith(f"{names[-1]}.")
        if name and not inside and _is_quantized(type(part)):
            names.append(name)
    if not names:
        return
    listed = ", ".join(names[:_LISTED])
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    yield Pitfall(
        PitfallKind.QUANTIZED,
        f"{listed}{more}: quantized by PyTorch (torch.ao.quantization), in packed weights that "
        "torch.export cannot capture",
        "",
        FLOAT_MODEL,
    )


def _is_quantized(kind: type[torch.nn.Module]) -> bool:
    return kind.__module__.startswith(_QUANTIZED) and kind.__name__ not in _OF_FLOATS
