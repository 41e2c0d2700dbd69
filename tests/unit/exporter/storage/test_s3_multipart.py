from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.storage.s3_multipart import MAX_PARTS, part_size

MIB = 1 << 20


@given(st.integers(1, 5 << 40))
def test_parts_are_never_smaller_than_usual_nor_too_many(size: int) -> None:
    step = part_size(size, 64 * MIB)
    assert step >= 64 * MIB
    assert -(-size // step) <= MAX_PARTS
