"""Operators on the control plane of the session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bed.control_plane import ControlPlane
from chaos.operator.place import Place


@pytest.fixture(scope="package")
def place(control_plane: ControlPlane) -> Iterator[Place]:
    with Place.on(control_plane) as made:
        yield made
