"""Needs a module that is installed nowhere."""

from __future__ import annotations

import a_library_nobody_has  # type: ignore[import-not-found]  # noqa: F401
