"""Numbers that user code names."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

from modelexport_exporter.verification.samples.code_constants import MOST, code_constants

CODE = '''
import torch

END = 49407


def scaled(x):
    return x / 400


class Net(torch.nn.Module):
    """117 in a text is no number."""

    def __init__(self, threshold=0.85):
        super().__init__()
        self.threshold = threshold
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, x):
        kept = [y for y in x if y in (103, 777)]
        return scaled(x) if x.max() > 400 else -2.5 * x
'''


@pytest.fixture
def net(tmp_path: Path) -> Iterator[ModuleType]:
    path = tmp_path / "user_net.py"
    path.write_text(CODE)
    spec = importlib.util.spec_from_file_location("user_net", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["user_net"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["user_net"]


def test_numbers_of_code_and_attributes(net: ModuleType, tmp_path: Path) -> None:
    found = code_constants(net.Net(), tmp_path)
    assert {49407, 400, 0.85, 103, 777} <= set(found)
    assert 117 not in found
    assert not {0, 1, -1} & set(found)


def test_number_of_an_instance(net: ModuleType, tmp_path: Path) -> None:
    assert 0.7 in code_constants(net.Net(threshold=0.7), tmp_path)


def test_libraries_are_not_read(tmp_path: Path) -> None:
    assert code_constants(torch.nn.Linear(7, 5), tmp_path) == ()


def test_tables_in_code_are_cut(net: ModuleType, tmp_path: Path) -> None:
    vars(net)["TABLE"] = tuple(range(1000))
    assert len(code_constants(net.Net(), tmp_path)) == MOST
