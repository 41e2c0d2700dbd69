"""A module that makes several calls of an operator, as a user's file, and its manifest."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from modelexport_api.spec import Exporter
from operators.entries import Call, Case
from operators.text import OTHER

_HEAD = """\
import torch
{imports}

class Model(torch.nn.Module):
    def forward(self, {inputs}):
        return (
{calls}
        )


def draw(dims, seed):
    from operators.module import drawn

    return drawn({places!r}, seed)
"""
Places = Sequence[tuple[str, str, int]]
"""Of calls: the entry's name, the dtype, and which of its samples."""


def write(made: Sequence[Call], path: Path) -> torch.nn.Module:
    """Write a file whose `Model` makes these calls and whose `draw` draws inputs; return it."""
    names = [f"x{number}" for number in range(sum(len(call.tensors) for call in made))]
    others = dict.fromkeys(call.case.name for call in made if OTHER in call.text)
    own = {name: f"{OTHER}_{number}" for number, name in enumerate(others)}
    lines, first = [], 0
    for call in made:
        text = _renumbered(call, first).replace(OTHER, own.get(call.case.name, OTHER))
        lines.append(f"            {text},")
        first += len(call.tensors)
    found = "\n".join(f"{alias} = operator({name!r})" for name, alias in own.items())
    text = _HEAD.format(
        imports=f"from operators.entries import operator\n\n{found}\n" if own else "",
        inputs=", ".join(names),
        calls="\n".join(lines),
        places=places_of(made),
    )
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model: torch.nn.Module = module.Model()
    return model.eval()


def places_of(made: Sequence[Call]) -> Places:
    """Return where calls are in the database."""
    return [(call.case.name, call.case.dtype, call.place) for call in made]


def _renumbered(call: Call, first: int) -> str:
    """Return the call's text, its inputs counted from `first`."""
    return re.sub(r"\bx(\d+)\b", lambda found: f"x{first + int(found[1])}", call.text)


def feed(made: Sequence[Call]) -> dict[str, torch.Tensor]:
    """Return the tensors of calls by the name of the input."""
    tensors = [tensor for call in made for tensor in call.tensors]
    return {f"x{number}": tensor for number, tensor in enumerate(tensors)}


def drawn(places: Places, seed: int) -> dict[str, torch.Tensor]:
    """Return the inputs of these calls, drawn anew; those of seed 0 where shapes are drawn, too."""
    from operators.entries import calls

    cases = dict.fromkeys(Case(name, dtype) for name, dtype, _ in places)
    first = {(case, call.place): call for case in cases for call in calls(case, 0)}
    made = {(case, call.place): call for case in cases for call in calls(case, seed)}
    return feed([_same_shapes(first[key], made.get(key)) for key in map(_key, places)])


def _key(place: tuple[str, str, int]) -> tuple[Case, int]:
    return Case(*place[:2]), place[2]


def _same_shapes(first: Call, other: Call | None) -> Call:
    shapes = [(tensor.shape, tensor.dtype) for tensor in first.tensors]
    if other is None or [(tensor.shape, tensor.dtype) for tensor in other.tensors] != shapes:
        return first
    return other


def manifest(
    inputs: Mapping[str, torch.Tensor], directory: Path, exporter: Exporter
) -> dict[str, Any]:
    """Return the resource for the model in `directory/code/model.py`, of static shapes."""
    declared = [
        {"name": name, "shape": list(tensor.shape), "dtype": str(tensor.dtype)[6:]}
        for name, tensor in inputs.items()
    ]
    return {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "operator"},
        "spec": {
            "source": {"uri": f"file://{directory / 'model.pt'}"},
            "model": {
                "factory": "model:Model",
                "code": {"uri": f"file://{directory / 'code'}/"},
            },
            "inputs": declared,
            "export": {"exporter": exporter.value},
            "verification": {"provider": "CPU", "benchmark": False, "sampler": "model:draw"},
            "destination": {"uri": f"file://{directory / 'out'}/"},
        },
    }
