"""Replaces a function by whatever names modules have for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from unittest.mock import patch


@contextmanager
def replaced_in(modules: Iterable[ModuleType], plain: object, other: object) -> Iterator[None]:
    """Let each name that these modules have for `plain` be one for `other`, inside the block."""
    with ExitStack() as stack:
        for module in modules:
            for name in [name for name, value in vars(module).items() if value is plain]:
                stack.enter_context(patch.object(module, name, other))
        yield
