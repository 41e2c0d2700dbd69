"""Libraries of runtime operators on both kinds of store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.source.fetch_libraries import fetch_libraries
from modelexport_exporter.storage.store import Location

Place = Callable[..., Location]


def test_each_library_has_a_path_of_its_own(place: Place, tmp_path: Path) -> None:
    locations = [place("a/libops.so"), place("b/libops.so")]
    for number, location in enumerate(locations):
        location.store.write(location.key, b"%d" % number)
    paths = fetch_libraries(locations, tmp_path)
    assert [path.name for path in paths] == ["libops.so", "libops.so"]
    assert [path.read_bytes() for path in paths] == [b"0", b"1"]


@pytest.mark.parametrize("name", ["missing.so", "directory/"])
def test_a_library_that_is_not_there(name: str, place: Place, tmp_path: Path) -> None:
    with pytest.raises(ExportFailure) as failed:
        fetch_libraries([place(name)], tmp_path)
    assert failed.value.reason is Reason.CODE_INVALID
    assert name in failed.value.message
