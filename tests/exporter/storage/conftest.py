"""Every store, for the tests of what stores promise."""

from __future__ import annotations

import pytest


@pytest.fixture
def root(any_root: str) -> str:
    """The URI of an empty directory in each kind of store."""
    return any_root
