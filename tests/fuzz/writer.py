"""A program as a file that a user could have written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import Any

from fuzz.case import FuzzCase
from fuzz.program import Program

_FILE = '''\
"""A random model: seed {seed}."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
{layers}
    def forward(self, {arguments}):
{body}
        return {outputs}


def build():
    return Model().eval()
'''


def write(
    seed: int,
    program: Program,
    inputs: Sequence[Mapping[str, Any]],
    dims: Mapping[str, tuple[int, int]],
    outputs: Sequence[str],
) -> FuzzCase | None:
    """Return the file of what outputs depend on; None if they depend on no input."""
    statements = program.needed(outputs)
    read = frozenset[str]().union(*(statement.reads for statement in statements))
    used = [entry for entry in inputs if entry["name"] in read]
    if not used:
        return None
    body = "\n".join(statement.text for statement in statements)
    layers = [
        f"self.register_buffer('{name}', {made})"
        if made.startswith("torch.")
        else f"self.{name} = {made}"
        for name, made in program.layers.items()
        if f"self.{name}(" in body
    ]
    named = {size for entry in used for size in entry["shape"]}
    return FuzzCase(
        seed,
        _FILE.format(
            seed=seed,
            layers=indent("".join(f"{layer}\n" for layer in layers), " " * 8),
            arguments=", ".join(entry["name"] for entry in used),
            body=indent(body, " " * 8),
            outputs=", ".join(outputs),
        ).rstrip(),
        tuple(used),
        {name: bounds for name, bounds in dims.items() if name in named},
    )
