"""Constants of classes in scripts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from exporter.convert.scripted import Scripted
from modelexport_exporter.convert.class_constants import declared_constants


class Base(nn.Module):
    STEP = 2
    SCALES = (1.0, 0.5)
    mode = "sum"
    factor = 1.0


class Stepping(Base):
    STEP = 3
    TABLE = {"not": "simple"}  # noqa: RUF012 - as users write it

    def __init__(self) -> None:
        super().__init__()
        self.factor = 2.0

    def forward(self, x: Tensor) -> Tensor:
        parts = []
        for start in range(0, x.shape[0], self.STEP):
            part = x[start : start + self.STEP].sum(0) * self.factor
            parts.append(part * self.SCALES[1] if self.mode == "sum" else part)
        return torch.stack(parts)


def test_constants_of_the_class_are_compiled(tmp_path: Path) -> None:
    module = Stepping()
    file = Scripted(module, torch.rand(4, 3), tmp_path / "m.onnx")
    for rows in (1, 3, 7):
        x = torch.rand(rows, 3)
        with torch.no_grad():
            np.testing.assert_allclose(file.answers(x)[0], module(x), rtol=1e-6)


def test_the_class_is_as_before() -> None:
    with declared_constants(nn.Sequential(Stepping())):
        assert set(vars(Stepping)["__constants__"]) == {"STEP", "SCALES", "mode"}
    assert "__constants__" not in vars(Stepping)
