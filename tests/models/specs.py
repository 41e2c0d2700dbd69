"""Specs for tests of sizes."""

from __future__ import annotations

from modelexport_api.spec import ModelExportSpec


def spec(**dims: tuple[int, int]) -> ModelExportSpec:
    """Return a spec with an input of 4 columns for each dim: its least and its largest size."""
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///model.pt"},
            "model": {"factory": "a:b"},
            "inputs": [{"name": f"x_{name}", "shape": [name, 4]} for name in dims],
            "dims": {name: {"min": low, "max": high} for name, (low, high) in dims.items()},
            "destination": {"uri": "file:///out/"},
        }
    )
