"""Modules that read a state_dict by the version that wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.load import build_with_weights
from modelexport_exporter.core.errors import ExportFailure


class Doubling(nn.Module):
    """Stored half of its scale in version 1, and reads nothing without a version."""

    _version = 2

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        *args: Any,  # noqa: ANN401
    ) -> None:
        version = local_metadata.get("version")
        if version not in (1, 2):
            message = f"version should be 1 or 2 instead of {version}"
            raise ValueError(message)
        if version == 1:
            state_dict[f"{prefix}scale"] = state_dict[f"{prefix}scale"] * 2
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


def saved(version: int, wrapped: str, directory: Path) -> dict[str, Any]:
    module = nn.Sequential(Doubling())
    state: Any = (nn.ModuleDict({wrapped: module}) if wrapped else module).state_dict()
    for entry in state._metadata.values():
        entry["version"] = version
    torch.save(state, directory / "model.pt")
    loaded: dict[str, Any] = torch.load(directory / "model.pt", weights_only=True)
    return loaded


@pytest.mark.parametrize("wrapped", ["", "module"])
@pytest.mark.parametrize(("version", "scale"), [(1, 2.0), (2, 1.0)])
def test_the_version_that_was_saved(
    version: int, scale: float, wrapped: str, tmp_path: Path
) -> None:
    module, _ = build_with_weights(
        lambda: nn.Sequential(Doubling()), saved(version, wrapped, tmp_path)
    )
    assert module.state_dict()["0.scale"].tolist() == [scale, scale]


def test_a_state_without_versions_is_todays() -> None:
    module, _ = build_with_weights(
        lambda: nn.Sequential(Doubling()), {"0.scale": torch.full((2,), 3.0)}
    )
    assert module.state_dict()["0.scale"].tolist() == [3.0, 3.0]


def test_a_version_that_the_module_does_not_know(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match="version should be 1 or 2 instead of 7") as caught:
        build_with_weights(lambda: nn.Sequential(Doubling()), saved(7, "", tmp_path))
    assert caught.value.reason is Reason.STATE_DICT_MISMATCH
