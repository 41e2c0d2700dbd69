"""The judge believes nothing that contradicts the spec."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from modelexport_api.spec import Input, ModelExportSpec, Provider
from modelexport_exporter.verification.checked_facts import (
    LONGEST_SENTENCE,
    MOST_SENTENCES,
    FactsContradictError,
    check_facts,
    check_found,
    inferred_ranges,
    sentences,
)
from modelexport_exporter.verification.original import Facts
from modelexport_exporter.verification.seeking.found import Found


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
        {"x": {"range": [0, 0]}},
        {"mask": {"range": [1, 1]}},
        {"x": {"kind": "AttentionMask"}},
        {"free": {"name": "x"}},
        {"free": {"name": "y"}},
    ],
)
def test_what_the_spec_declares_stays(changes: dict[str, Any]) -> None:
    with pytest.raises(FactsContradictError):
        check_facts(spec(), facts(**changes))


def test_the_provider_stays() -> None:
    with pytest.raises(FactsContradictError, match="CPU"):
        check_facts(spec("CUDA"), facts())


def test_a_sequence_is_as_many_inputs() -> None:
    steps = {"name": "steps", "kind": "Sequence", "length": 2, "shape": ["n"]}
    declared = spec().model_copy(update={"inputs": [Input.model_validate(steps)]})

    def said(*names: str) -> Facts:
        inputs = [declared.inputs[0].model_copy(update={"name": name}) for name in names]
        return Facts(Provider.CPU, tuple(inputs), ("y",))

    check_facts(declared, said("steps.0", "steps.1"))
    for names in (("steps.2",), ("steps.0", "steps.0")):
        with pytest.raises(FactsContradictError):
            check_facts(declared, said(*names))


@pytest.mark.parametrize("named", [(10**400,), (math.nan,), (math.inf,), range(1000)])
def test_numbers_of_the_code_are_few_and_small(named: Sequence[float]) -> None:
    with pytest.raises(FactsContradictError, match="numbers"):
        check_facts(spec(), replace(facts(), named=tuple(named)))


def found(dims: dict[str, int], **changes: tuple[int, ...] | None) -> Found:
    """Return what a search of an honest process finds, with other shapes of some inputs."""
    shapes = {"x": (2, 4), "ids": (2,), "free": (2,), "k": (), "mask": (2, 4), **changes}
    return Found(dims, {name: np.zeros(own) for name, own in shapes.items() if own is not None})


def bound() -> ModelExportSpec:
    return spec().model_copy(update={"inputs": list(facts().inputs)})


def test_found_inputs_have_the_sizes_that_are_said_of_them() -> None:
    check_found(bound(), found({"n": 2}))


@pytest.mark.parametrize(
    "wrong",
    [
        found({"n": 3}),
        found({"n": -2}),
        found({"n": 2**70}),
        found({}),
        found({"n": 2, "m": 2}),
        found({"n": 2}, x=(2, 5)),
        found({"n": 2}, ids=None),
    ],
)
def test_sizes_that_no_array_has_are_refused(wrong: Found) -> None:
    with pytest.raises(FactsContradictError):
        check_found(bound(), wrong)


def test_the_judge_says_which_ranges_nobody_declared() -> None:
    assert inferred_ranges(spec().inputs, facts().inputs) == [
        "0..100 for free, which declares no range and accepts these"
    ]
    unknown = facts(free={"range": None})
    (sentence,) = inferred_ranges(spec().inputs, unknown.inputs)
    assert sentence == "0 and 1 only for free, which declares no range"


def test_what_the_process_says_is_short_and_printable() -> None:
    said = sentences(["\x1b[2Jall sizes", "x" * 10_000, *["more"] * 1000])
    assert said[0] == r"\x1b[2Jall sizes"
    assert len(said[1]) == LONGEST_SENTENCE
    assert len(said) == MOST_SENTENCES


def test_buffers_that_are_inputs_have_the_shapes_of_the_module() -> None:
    model = spec().model
    assert model is not None
    declared = spec().model_copy(
        update={"model": model.model_copy(update={"state": ["cell.memory"]})}
    )
    buffer = Input.model_validate({"name": "cell_memory", "dtype": "int64", "shape": [3]})
    searched = buffer.model_copy(update={"range": [0.0, 9.0]})
    honest = facts()
    for entry in (buffer, searched):
        own = replace(honest, inputs=(*honest.inputs, entry))
        check_facts(declared, own)
        with pytest.raises(FactsContradictError):
            check_facts(spec(), own)
    assert len(inferred_ranges(declared.inputs, [searched])) == 1
