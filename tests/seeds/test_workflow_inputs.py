"""Workflows around what forward takes: lists, numbers, nested and keyword arguments, lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch

from seeds.case import Case, integers, tensor
from seeds.harness import Bench, each

ROWS = tensor("x", "batch", 6)
FEW = {"batch": (1, 40)}
SPAN = {"batch": (1, 12), "length": (1, 30)}
Feed = Mapping[str, torch.Tensor]


def call_list(module: torch.nn.Module, feed: Feed) -> object:
    return module(list(feed.values()))


def call_numbers(module: torch.nn.Module, feed: Feed) -> object:
    x, *numbers = feed.values()
    return module(x, *(number.item() for number in numbers))


def call_with_mode(module: torch.nn.Module, feed: Feed) -> object:
    return module(feed["x"], "relu")


def call_nested(module: torch.nn.Module, feed: Feed) -> object:
    batch = {"left": feed["batch.left"], "right": feed["batch.right"]}
    cache = [{"key": feed["cache.0.key"], "value": feed["cache.0.value"]}]
    return module(batch, feed.get("bias"), cache=cache)


def call_keywords(module: torch.nn.Module, feed: Feed) -> object:
    return module(**feed)


def numbers(rows: str, name: str, factory: str, *kinds: dict[str, Any], **more: Any) -> Case:  # noqa: ANN401
    return Case(
        rows, name, f"input_kinds:{factory}", (ROWS, *kinds), FEW, call=call_numbers, **more
    )


NESTED = tuple(
    tensor(name, "batch", 6)
    for name in ("batch.left", "batch.right", "bias", "cache.0.key", "cache.0.value")
)
TIMES = {"name": "times", "kind": "Int", "range": [-3, 9]}
SHIFT = {"name": "shift", "kind": "Float", "range": [-2.0, 2.0]}
CASES = (
    Case(
        "C30",
        "list_of_tensors",
        "input_kinds:concatenate_all",
        ({"name": "parts", "kind": "Sequence", "length": 3, "shape": ["batch", 4]},),
        FEW,
        call=call_list,
    ),
    numbers("C31", "int_and_float", "affine", TIMES, SHIFT),
    numbers("C31", "options", "Options", {"name": "options", "kind": "Int", "range": [0, 15]}),
    numbers("C31", "steps", "Steps", {"name": "steps", "kind": "Int", "range": [0, 4]}),
    numbers("C31", "bool", "switched", {"name": "double", "kind": "Bool"}),
    Case(
        "C32",
        "str_constant",
        "input_kinds:mode",
        (ROWS, {"name": "mode", "kind": "Constant", "value": "relu"}),
        FEW,
        call=call_with_mode,
    ),
    Case("C33", "nested", "input_kinds:nested", NESTED, FEW, call=call_nested),
    Case(
        "C33",
        "optional_absent",
        "input_kinds:nested",
        tuple(entry for entry in NESTED if entry["name"] != "bias"),
        FEW,
        call=call_nested,
        nightly=True,
    ),
    Case(
        "C33",
        "optional_present",
        "input_kinds:nested",
        tuple({**e, "kind": "Optional"} if e["name"] == "bias" else e for e in NESTED),
        FEW,
        call=call_nested,
    ),
    Case(
        "C33 E1",
        "example_inputs",
        "input_kinds:nested",
        NESTED,
        FEW,
        model={"exampleInputs": "input_kinds:nested_example"},
        call=call_nested,
    ),
    Case(
        "C33 E1",
        "keyword_arguments",
        "input_kinds:keyword_only",
        (tensor("shift", "batch", 6), tensor("scale", 6), ROWS),
        FEW,
        call=call_keywords,
        nightly=True,
    ),
    Case(
        "C35", "lstm_of_any_length", "input_kinds:lstm", (tensor("x", "batch", "length", 6),), SPAN
    ),
    Case(
        "C35",
        "packed_sequences",
        "input_kinds:packed",
        (tensor("x", "batch", 5, 6), integers("lengths", "batch", low=1, high=5)),
        FEW,
    ),
)

TRACED = tuple(
    replace(case, name=f"{case.name}_traced", export={"exporter": "TorchScript"}, nightly=True)
    for case in CASES
    if case.name in {"list_of_tensors", "int_and_float", "nested", "keyword_arguments"}
)


@pytest.mark.parametrize("case", each((*CASES, *TRACED)))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
