"""Caches of functools are left out for a while, wherever they are, and come back with content."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

from modelexport_exporter.user_code.caches import bypassing_caches

calls: list[int] = []


def keeping(function: Callable[..., int]) -> Callable[..., int]:
    """Keep results unless torch compiles, as a decorator of transformers does."""
    cached = functools.lru_cache(function)

    @functools.wraps(function)
    def call(*arguments: Any) -> int:  # noqa: ANN401
        return (function if torch.compiler.is_compiling() else cached)(*arguments)

    return call


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.own = functools.lru_cache(self._doubled)

    def _doubled(self, size: int) -> int:
        calls.append(size)
        return 2 * size

    @functools.cache  # noqa: B019 - as users write
    def method(self, size: int) -> int:
        return self._doubled(size)

    @keeping
    def decorated(self, size: int) -> int:
        return self._doubled(size)

    @staticmethod
    @functools.lru_cache(maxsize=4)
    def static(size: int) -> int:
        calls.append(size)
        return 2 * size


@pytest.fixture
def module() -> ModuleType:
    made = ModuleType("cached_by_users")
    made.function = functools.lru_cache(Model.static.__wrapped__)  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("where", ["function", "own", "method", "static", "decorated"])
def test_a_cache_is_bypassed_and_comes_back(where: str, module: ModuleType) -> None:
    model = Model()

    def call() -> int:
        found: int = getattr(module if where == "function" else model, where)(3)
        return found

    calls.clear()
    assert [call(), call()] == [6, 6]
    assert calls == [3]
    with bypassing_caches(model, [module]):
        assert [call(), call()] == [6, 6]
    assert calls == [3, 3, 3]
    assert call() == 6
    assert calls == [3, 3, 3]


def test_other_attributes_stay(module: ModuleType) -> None:
    before = dict(vars(torch.nn.Linear))
    with bypassing_caches(torch.nn.Sequential(torch.nn.Linear(2, 2), Model()), [module]):
        assert dict(vars(torch.nn.Linear)) == before
