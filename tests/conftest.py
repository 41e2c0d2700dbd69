"""Fixtures that every test may use; the test bed's own live in `bed.fixtures`."""

from __future__ import annotations

pytest_plugins = ["bed.fixtures"]
