from __future__ import annotations

import pytest

from modelexport_exporter.core.inferred import Inferred


@pytest.mark.parametrize(
    ("field", "path", "within"),
    [
        ("inputs[0].shape", "inputs[0]", True),
        ("inputs[0]", "inputs[0]", True),
        ("inputs[0]", "inputs", True),
        ("inputs[10].shape", "inputs[1]", False),
        ("dims.seq", "dims.seq", True),
        ("dims.seq.max", "dims.seq", True),
        ("dims.seq_len", "dims.seq", False),
        ("outputs", "outputShapes", False),
        ("outputShapes.y", "outputs", False),
        ("dims", "dims.seq", False),
    ],
)
def test_a_field_belongs_to_the_paths_it_is_a_part_of(field: str, path: str, within: bool) -> None:
    assert Inferred(field=field, value="1", source="ran").is_within(path) is within
