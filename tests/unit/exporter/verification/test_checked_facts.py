"""The judge believes nothing that contradicts the spec."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.spec import Input, ModelExportSpec, Provider
from modelexport_exporter.verification.checked_facts import FactsContradictError, check_facts
from modelexport_exporter.verification.original import Facts


def spec(provider: str | None = "CPU") -> ModelExportSpec:
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///m.pt"},
            "model": {"factory": "a:b"},
            "inputs": [
                {"name": "x", "shape": ["n", 4]},
                {"name": "ids", "shape": ["n"], "dtype": "int64", "range": [0, 9]},
                {"name": "free", "shape": ["n"], "dtype": "int64"},
                {"name": "k", "kind": "Int", "range": [1, 3]},
                {"name": "mask", "kind": "PaddingMask", "dtype": "bool", "shape": ["n", 4]},
            ],
            "dims": {"n": {"min": 1, "max": 8}},
            "verification": {"provider": provider} if provider else {},
            "destination": {"uri": "file:///o/"},
        }
    )


def facts(**changes: dict[str, Any]) -> Facts:
    """Return what an honest process says, with other fields of some inputs."""
    bound: dict[str, dict[str, Any]] = {
        "free": {"range": (0.0, 100.0)},
        "k": {"shape": [], "dtype": "int64"},
        "mask": {"range": (0.0, 1.0)},
    }
    inputs = []
    for entry in spec().inputs:
        fields = {**bound.get(entry.name, {}), **changes.get(entry.name, {})}
        inputs.append(Input.model_validate({**entry.model_dump(), **fields}))
    return Facts(Provider.CPU, tuple(inputs), ("y",))


def test_an_honest_process_agrees() -> None:
    check_facts(spec(), facts())
    check_facts(spec(None), facts())


@pytest.mark.parametrize(
    "changes",
    [
        {"x": {"shape": ["n", 5]}},
        {"x": {"dtype": "float16"}},
        {"x": {"shape": ["m", 4]}},
        {"ids": {"range": [0, 1]}},
        {"k": {"range": [1, 1]}},
    ],
)
def test_what_the_spec_declares_stays(changes: dict[str, Any]) -> None:
    with pytest.raises(FactsContradictError):
        check_facts(spec(), facts(**changes))


def test_the_provider_stays() -> None:
    with pytest.raises(FactsContradictError, match="CPU"):
        check_facts(spec("CUDA"), facts())
