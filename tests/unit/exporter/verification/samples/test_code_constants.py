"""Numbers that user code names."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

from modelexport_exporter.verification.samples.code_constants import MOST, code_constants

CODE = '''
import enum

import torch

import user_rules

END = 49407


class Kind(enum.IntEnum):
    SPECIAL = 4017


def scaled(x):
    return x / 400


class Net(torch.nn.Module):
    """117 in a text is no number."""

    limit = 2048
    blocked = {31: "a", 2999: "b-1234"}

    def __init__(self, threshold=0.85):
        super().__init__()
        self.threshold = threshold
        self.inner = torch.nn.Linear(3, 3)

    def helper(self, x, most=619):
        """A text of 118 is no number."""
        return str(x) in {"3109", "12-13"}

    def forward(self, x):
        kept = [y for y in x if y in (103, 777)]
        return scaled(x) if x.max() > 400 else -2.5 * x
'''


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    path = tmp_path / "user_net.py"
    path.write_text(CODE)
    (tmp_path / "user_rules.py").write_text("def small(x):\n    return x < 271\n")
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.spec_from_file_location("user_net", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["user_net"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["user_net"], sys.modules["user_rules"]


def test_numbers_of_code_and_attributes(net: ModuleType, tmp_path: Path) -> None:
    found = code_constants(net.Net(), tmp_path)
    assert {49407, 400, 0.85, 103, 777} <= set(found)
    assert not {117, 118} & set(found)
    assert not {0, 1, -1} & set(found)


def test_numbers_of_classes_containers_texts_defaults_and_other_files(
    net: ModuleType, tmp_path: Path
) -> None:
    found = set(code_constants(net.Net(), tmp_path))
    assert {2048, 31, 2999, 1234, 4017, 619, 3109, 12, 13, 271} <= found


def test_numbers_of_sets_and_lists_of_an_instance(net: ModuleType, tmp_path: Path) -> None:
    model = net.Net()
    model.special = {5003, 6007}
    model.listed = [7001]
    assert {5003, 6007, 7001} <= set(code_constants(model, tmp_path))


def test_scalars_of_the_state(net: ModuleType, tmp_path: Path) -> None:
    model = net.Net()
    model.register_buffer("scale", torch.tensor(123456.0))
    model.temperature = torch.nn.Parameter(torch.tensor([14.5]))
    model.register_buffer("steps_trained", torch.tensor(9901))
    found = set(code_constants(model, tmp_path))
    assert {123456.0, 14.5} <= found
    assert 9901 not in found


def test_numbers_that_no_float_holds_are_left_out(net: ModuleType, tmp_path: Path) -> None:
    model = net.Net()
    model.numbers = [10**400, math.inf, math.nan, 8009]
    found = code_constants(model, tmp_path)
    assert 8009 in found
    assert all(abs(number) < 10**8 for number in found)


def test_number_of_an_instance(net: ModuleType, tmp_path: Path) -> None:
    assert 0.7 in code_constants(net.Net(threshold=0.7), tmp_path)


def test_libraries_are_not_read(tmp_path: Path) -> None:
    assert code_constants(torch.nn.Linear(7, 5), tmp_path) == ()


def test_tables_in_code_are_cut(net: ModuleType, tmp_path: Path) -> None:
    vars(net)["TABLE"] = tuple(range(1000))
    assert len(code_constants(net.Net(), tmp_path)) == MOST
