"""What forward may return, and what no file can."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.call.outputs import flatten, output_paths, register_classes
from modelexport_exporter.core.errors import Incurable


@dataclass
class Linked:
    """Refers to another one, or to itself."""

    tensor: torch.Tensor
    more: object = None


def in_itself() -> object:
    found: list[object] = [torch.zeros(1)]
    found.append(found)
    return found


def in_a_dict() -> object:
    found: dict[str, object] = {"x": torch.zeros(1)}
    found["y"] = (found,)
    return found


def in_a_dataclass() -> object:
    found = Linked(torch.zeros(1))
    found.more = [found]
    return found


def very_deep() -> object:
    found: object = torch.zeros(1)
    for _ in range(100_000):
        found = [found]
    return found


ENDLESS = [in_itself, in_a_dict, in_a_dataclass, very_deep]


@pytest.mark.parametrize("make", ENDLESS)
def test_what_has_no_end_is_no_output(make: object) -> None:
    value = make()  # type: ignore[operator]
    for read in (lambda: [*flatten(value)], lambda: output_paths(value)):
        with pytest.raises(Incurable, match="a container that contains itself") as caught:
            read()
        assert caught.value.reason is Reason.CONTRACT_VIOLATED


def test_nor_are_its_classes_looked_for() -> None:
    with pytest.raises(Incurable, match="a container that contains itself"):
        register_classes(in_itself())


def test_ordinary_containers() -> None:
    one, two = torch.zeros(1), torch.ones(1)
    assert [*map(id, flatten(({"a": one}, [two], None)))] == [id(one), id(two)]
    assert output_paths(Linked(one, [two])) == [("tensor",), ("more", 0)]
