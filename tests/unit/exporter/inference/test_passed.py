"""Inputs are parameters by name, or stand in their place in order."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.call.signature import Signature
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.proposal import StatedInput
from modelexport_exporter.inference.passed import passed_names


def one(input: object) -> None: ...  # noqa: A002
def two(ids: object, mask: object, scale: float = 1.0) -> None: ...
def any_names(ids: object, **kwargs: object) -> None: ...


def passed(forward: Callable[..., object], *names: str) -> dict[str, str | None]:
    signature = Signature(dict(inspect.signature(forward).parameters))
    found = passed_names(signature, [StatedInput(name) for name in names])
    return {name: parameter.name if parameter else None for name, parameter in found}


@pytest.mark.parametrize(
    ("forward", "stated", "expected"),
    [
        (one, [], {"input": "input"}),
        (one, ["x"], {"x": "input"}),
        (two, [], {"ids": "ids", "mask": "mask"}),
        (two, ["mask"], {"ids": "ids", "mask": "mask"}),
        (two, ["scale"], {"ids": "ids", "mask": "mask", "scale": "scale"}),
        (two, ["tokens", "keep"], {"tokens": "ids", "keep": "mask"}),
        (two, ["mask", "ids"], {"ids": "ids", "mask": "mask"}),
        (
            two,
            ["ids.left", "ids.right", "mask"],
            {"ids.left": None, "ids.right": None, "mask": "mask"},
        ),
        (one, ["cache.0.key", "cache.1.key"], {"cache.0.key": None, "cache.1.key": None}),
        (any_names, ["ids", "labels"], {"ids": "ids", "labels": None}),
    ],
)
def test_each_input_has_its_parameter(
    forward: Callable[..., object], stated: list[str], expected: dict[str, str | None]
) -> None:
    assert passed(forward, *stated) == expected


@pytest.mark.parametrize(
    ("forward", "stated", "expected"),
    [
        (two, ["msk"], "forward(ids, mask, scale=1.0) has no parameter msk; did you mean `mask`?"),
        (one, ["input", "weights"], "forward(input) has no parameter weights"),
        (two, ["a", "b", "c", "d"], "forward(ids, mask, scale=1.0) has no parameter a"),
    ],
)
def test_an_input_that_forward_cannot_take_is_refused(
    forward: Callable[..., object], stated: list[str], expected: str
) -> None:
    with pytest.raises(ExportFailure) as caught:
        passed(forward, *stated)
    assert caught.value.reason is Reason.INPUTS_MISMATCH
    assert caught.value.message == expected
    assert "in order" in caught.value.hint
