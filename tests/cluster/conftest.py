"""The API server with this project's kinds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bed.control_plane import ControlPlane
from bed.fixtures import running_control_plane

CRDS = Path(__file__).resolve().parents[2] / "crds"


@pytest.fixture(scope="package")
def control_plane() -> Iterator[ControlPlane]:
    """The control plane of these tests."""
    with running_control_plane() as plane:
        yield plane


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    control_plane.kubectl("apply", "-f", str(CRDS))
    control_plane.wait_for_crds()
    yield control_plane
    control_plane.kubectl("delete", "modelexporttriggers,modelexports", "--all", "-A")
