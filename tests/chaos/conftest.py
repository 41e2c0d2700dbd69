"""The control plane of the tests that trouble one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bed.control_plane import ControlPlane
from bed.fixtures import running_control_plane


@pytest.fixture(scope="package")
def control_plane() -> Iterator[ControlPlane]:
    """The control plane of these tests."""
    with running_control_plane() as plane:
        yield plane
