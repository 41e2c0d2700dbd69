"""Each pitfall is found at its line, and nothing is found where nothing is wrong."""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from modelexport_exporter.core.pitfall import PitfallKind
from modelexport_exporter.diagnosis.pitfalls.static import static_pitfalls
from zoo.code import pitfalls as zoo_of_pitfalls
from zoo.code import pitfalls_of_files
from zoo.tasks import CODE

MODELS = {
    name: model
    for zoo in (zoo_of_pitfalls, pitfalls_of_files)
    for name, model in vars(zoo).items()
    if inspect.isclass(model) and issubclass(model, nn.Module)
}


def expected(model: type[nn.Module]) -> Counter[str]:
    """Return `pitfalls.py:17 Random` for each line of a class that is marked."""
    file = Path(inspect.getfile(model))
    every = file.read_text().splitlines()
    first = inspect.getsourcelines(model)[1]
    lines = range(first, first + len(inspect.getsource(model).splitlines()))
    kinds = {kind.value for kind in PitfallKind}
    return Counter(
        f"{file.name}:{line} {word}"
        for line in lines
        for word in every[line - 1].rpartition("  # ")[2].split()
        if word in kinds and "  # " in every[line - 1]
    )


@pytest.mark.parametrize("name", MODELS)
def test_what_is_read_in_the_code(name: str) -> None:
    found = static_pitfalls(MODELS[name](), CODE)
    wanted = expected(MODELS[name])
    assert {f"{pitfall.source} {pitfall.kind.value}" for pitfall in found} >= set(wanted)
    surplus = {f"{p.source} {p.kind.value}" for p in found} - set(wanted)
    allowed = {"NumpyMean": "PythonNumber", "Retensored": "PythonNumber"}
    assert all(allowed.get(name, "-") in entry for entry in surplus), surplus
    assert all(pitfall.suggestion.endswith(".") for pitfall in found)


def test_code_of_libraries_is_not_read() -> None:
    assert static_pitfalls(nn.TransformerEncoderLayer(8, 2), None) == ()


def test_a_script_has_no_code_to_read() -> None:
    scripted: nn.Module = torch.jit.script(nn.Linear(2, 2))
    assert static_pitfalls(scripted, None) == ()


def test_a_module_that_is_used_twice_is_reported_once() -> None:
    twice = nn.Sequential(zoo_of_pitfalls.Item(), zoo_of_pitfalls.Item())
    assert len(static_pitfalls(twice, CODE)) == 1


def test_parts_that_pytorch_quantized() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2), nn.Linear(2, 2))
    assert static_pitfalls(model, None) == ()
    quantized = torch.ao.quantization.quantize_dynamic(model)  # type: ignore[no-untyped-call]
    (found,) = static_pitfalls(quantized, None)
    assert found.kind is PitfallKind.QUANTIZED
    assert found.message.startswith("0, 2 and 1 more: quantized by PyTorch")


class OfSizes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        height, width = x.shape[-2:]
        return x * torch.from_numpy(np.array([width, height])).sum()


class OfNothing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.from_numpy(np.array([3, 4])).sum()


@pytest.mark.parametrize(
    ("model", "advice"), [(OfSizes, "of the sizes with torch"), (OfNothing, "in __init__")]
)
def test_what_takes_the_place_of_an_array(model: type[nn.Module], advice: str) -> None:
    found = static_pitfalls(model(), Path(__file__).parent)
    assert any(advice in pitfall.suggestion for pitfall in found)
