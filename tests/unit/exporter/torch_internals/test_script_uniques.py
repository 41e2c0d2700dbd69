"""Unique elements in functions that torch.jit.script compiles: the same as in Python."""

# mypy: ignore-errors

from __future__ import annotations

import torch

from modelexport_exporter.torch_internals.script_annotations import readable_signatures


def by_methods(x):  # noqa: ANN001
    return (x + 1).unique(), (x * 2).unique_consecutive(), torch.unique(x)


def test_as_python() -> None:
    with readable_signatures({}):
        script = torch.jit.script(by_methods)
    x = torch.tensor([2, 2, 0, 5, 0, 5, 5])
    torch.testing.assert_close(script(x), by_methods(x))
