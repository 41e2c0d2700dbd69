"""Pitfalls that can be read in the user's code, without running the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.diagnosis.pitfalls import (
    branches,
    caught_errors,
    files,
    gradients,
    indexing,
    input_writes,
    loops,
    numpy_in_forward,
    python_numbers,
    quantized_parts,
    random_numbers,
    shape_arithmetic,
    state,
    threads,
    type_checks,
)
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode, forward_codes

DETECTORS: tuple[Callable[[ForwardCode], Iterator[Pitfall]], ...] = (
    files.find,
    numpy_in_forward.find,
    random_numbers.find,
    python_numbers.find,
    branches.find,
    loops.find,
    shape_arithmetic.find,
    state.find,
    indexing.find,
    input_writes.find,
    type_checks.find,
    gradients.find,
    caught_errors.find,
    threads.find,
)


def static_pitfalls(model: torch.nn.Module, code_dir: Path | None) -> tuple[Pitfall, ...]:
    """Return the pitfalls in the code of the model's own classes, each once."""
    found = [*quantized_parts.find(model)]
    found += [
        pitfall
        for code in forward_codes(model, code_dir)
        for detector in DETECTORS
        for pitfall in detector(code)
    ]
    return tuple(dict.fromkeys(found))
