"""Traces from a few words: `mul: a b -> c` is a step; a value holds what its seed makes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from modelexport_exporter.blame.fingerprint import fingerprint
from modelexport_exporter.blame.trace import Step, Trace


def contents(seed: int) -> np.ndarray:
    """Return the elements of a value: the same for the same seed."""
    return np.random.default_rng(seed).normal(size=16).astype(np.float32)


def trace(
    text: str, values: Mapping[str, int], *, inner: tuple[str, ...] = ()
) -> tuple[Trace, dict[str, int]]:
    """Return the trace of lines `op: inputs -> outputs` and the number of each value.

    The first line names the inputs; the last value is the model's output. `values`: what a value
    holds, as a seed. `inner`: values that are parts of an op.
    """
    first, *lines = [line.strip() for line in text.strip().splitlines()]
    numbers: dict[str, int] = {}
    for name in first.split():
        numbers[name] = len(numbers)
    steps = []
    for line in lines:
        op, _, rest = line.partition(":")
        inputs, _, outputs = rest.partition("->")
        written = []
        for name in outputs.split():
            numbers[name] = len(numbers)
            written.append(numbers[name])
        steps.append(
            Step(
                op=op.strip(),
                name=f"{op.strip()}_{outputs.split()[0]}",
                inputs=tuple(numbers[name] for name in inputs.split()),
                outputs=tuple(written),
                inner=outputs.split()[0] in inner,
            )
        )
    given = {numbers[name]: fingerprint(contents(values[name])) for name in first.split()}
    prints = {
        number: fingerprint(contents(values[name]))
        for name, number in numbers.items()
        if number not in given and name in values
    }
    return Trace(steps, prints, given, (max(numbers.values()),)), numbers
