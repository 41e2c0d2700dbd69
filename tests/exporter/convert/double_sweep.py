"""Sweep torch's own database of operators in float64: python -m exporter.convert.double_sweep.

In a process of its own, because torch's database changes torch when it is imported. It prints what
differs, what cannot be exported, and which ATen operators were translated, as JSON.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from exporter.convert.double_programs import Answer, Call, answers
from modelexport_exporter.convert import dynamo
from modelexport_exporter.convert.double_constants import keep_constants_double

GROUP = 24
SAMPLES, LARGEST = 40, 5000
"""Of an operator's samples the first one that has results is taken, of at most so many numbers."""


class Sample(Call):
    """An operator with a sample's arguments; those of float64 are the input."""

    def __init__(self, name: str, operator: Callable[..., Any], arguments: Any) -> None:  # noqa: ANN401
        super().__init__(name)
        self._operator = operator
        self._leaves, self._structure = pytree.tree_flatten(arguments)
        parts = [leaf.detach().reshape(-1) for leaf in self._leaves if _is_double(leaf)]
        self._x = torch.cat(parts) if parts else torch.empty(0, dtype=torch.float64)

    @property
    def x(self) -> Tensor:
        return self._x

    def __call__(self, x: Tensor) -> list[Tensor]:
        args, kwargs = pytree.tree_unflatten(list(self._given(x)), self._structure)
        leaves = pytree.tree_leaves(self._operator(*args, **kwargs))
        return [leaf for leaf in leaves if isinstance(leaf, Tensor)]

    def _given(self, x: Tensor) -> Iterator[Any]:
        begin = 0
        for leaf in self._leaves:
            if _is_double(leaf):
                yield x[begin : begin + leaf.numel()].reshape(leaf.shape)
                begin += leaf.numel()
            else:
                yield leaf.clone() if isinstance(leaf, Tensor) else leaf


def _is_double(leaf: object) -> bool:
    return isinstance(leaf, Tensor) and leaf.dtype is torch.float64 and not leaf.is_sparse


def database() -> Sequence[Any]:
    """Return torch's operators. Its tests want expecttest, the database does not."""
    unused = types.ModuleType("expecttest")
    unused.TestCase = unittest.TestCase  # type: ignore[attr-defined]
    sys.modules.setdefault("expecttest", unused)
    module = importlib.import_module("torch.testing._internal.common_methods_invocations")
    found: Sequence[Any] = module.op_db
    return found


def sample_of(operator: Any) -> Sample | None:  # noqa: ANN401
    """Return the first sample in float64 that has results; None if no sample has."""
    torch.manual_seed(0)
    if not operator.supports_dtype(torch.float64, "cpu"):
        return None
    try:
        for given in islice(operator.sample_inputs("cpu", torch.float64), SAMPLES):
            arguments = ((given.input, *given.args), given.kwargs)
            sample = Sample(operator.full_name, operator.op, arguments)
            if not 0 < sample.x.numel() <= LARGEST:
                continue
            results = sample(sample.x.clone())
            if results and all(x.numel() and not x.is_complex() for x in results):
                return sample
    except Exception:  # noqa: BLE001 - sparse tensors, or an operator of GPUs only
        return None
    return None


def swept(calls: Sequence[Call], failed: dict[str, str]) -> Iterator[Answer]:
    """Yield the answers; what cannot be exported is found by halves."""
    try:
        yield from answers(calls)
    except Exception as error:  # noqa: BLE001 - whatever torch, conversion or onnxruntime raise
        if len(calls) == 1:
            failed[calls[0].name] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            return
        half = len(calls) // 2
        yield from swept(calls[:half], failed)
        yield from swept(calls[half:], failed)


class Translated:
    """The ATen operators of all programs that were translated."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __call__(self, model: Any, program: Any) -> Any:  # noqa: ANN401
        nodes = (node for node in program.graph.nodes if node.op == "call_function")
        self.names |= {str(node.target) for node in nodes}
        return keep_constants_double(model, program)


def main(names: Sequence[str]) -> None:
    """Sweep the named operators, or all."""
    warnings.simplefilter("ignore")
    chosen = [op for op in database() if not names or op.full_name in names]
    samples = [sample for op in chosen if (sample := sample_of(op)) is not None]
    translated = Translated()
    failed: dict[str, str] = {}
    differing: dict[str, str] = {}
    with patch.object(dynamo, "keep_constants_double", translated):
        for begin in range(0, len(samples), GROUP):
            for answer in swept(samples[begin : begin + GROUP], failed):
                if answer.difference:
                    differing[answer.name] = answer.difference
    result = {
        "calls": len(samples),
        "differing": differing,
        "failed": failed,
        "translated": sorted(translated.names),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
