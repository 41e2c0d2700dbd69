"""A module that makes several calls of an operator, as a user's file, and its manifest."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import torch

from modelexport_api.spec import Exporter
from operators.entries import Call
from operators.growing import Dynamic
from operators.results import Case
from operators.text import OTHER

_REAL = """\

def real(values):
    return torch.utils._pytree.tree_map_only(torch.Tensor, parts, values)


def parts(value):
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value

"""
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

    return drawn({places!r}, dims, seed)
"""
Place = tuple[str, str, int, tuple[Any, ...] | None]
"""Of a call: the entry's name, the dtype, which of its samples, and its dynamic dim."""


def write(made: Sequence[Call], path: Path) -> torch.nn.Module:
    """Write a file whose `Model` makes these calls and whose `draw` draws inputs; return it."""
    names = [f"x{number}" for number in range(sum(len(call.tensors) for call in made))]
    others = dict.fromkeys(call.case.name for call in made if OTHER in call.text)
    own = {name: f"{OTHER}_{number}" for number, name in enumerate(others)}
    lines, first = [], 0
    for call in made:
        text = _renumbered(call, first).replace(OTHER, own.get(call.case.name, OTHER))
        lines.append(f"            real({text})," if call.complex else f"            {text},")
        first += len(call.tensors)
    found = "\n".join(f"{alias} = operator({name!r})" for name, alias in own.items())
    imports = f"from operators.entries import operator\n\n{found}\n" if own else ""
    text = _HEAD.format(
        imports=imports + (_REAL if any(call.complex for call in made) else ""),
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


def places_of(made: Sequence[Call]) -> list[Place]:
    """Return where calls are in the database."""
    return [
        (
            call.case.name,
            call.case.dtype,
            call.place,
            astuple(call.dynamic) if call.dynamic else None,
        )
        for call in made
    ]


def dims_of(made: Sequence[Call]) -> dict[str, Dynamic]:
    """Return the dynamic dims of calls by name."""
    return {f"n{number}": call.dynamic for number, call in enumerate(made) if call.dynamic}


def sizes_of(made: Sequence[Call], seed: int) -> dict[str, int]:
    """Return sizes of the dynamic dims, others with another seed."""
    return {
        name: dynamic.size(seed + number)
        for number, (name, dynamic) in enumerate(dims_of(made).items())
    }


def shapes_of(made: Sequence[Call]) -> dict[str, list[int | str]]:
    """Return the shapes of the inputs, with the names of dynamic dims."""
    shapes = []
    for number, call in enumerate(made):
        for place, tensor in enumerate(call.tensors):
            axes = call.dynamic.axes if call.dynamic else ()
            shapes.append(
                [
                    f"n{number}" if (place, axis) in axes else size
                    for axis, size in enumerate(tensor.shape)
                ]
            )
    return {f"x{number}": shape for number, shape in enumerate(shapes)}


def _renumbered(call: Call, first: int) -> str:
    """Return the call's text, its inputs counted from `first`."""
    return re.sub(r"\bx(\d+)\b", lambda found: f"x{first + int(found[1])}", call.text)


def feed(made: Sequence[Call], sizes: Mapping[str, int] | None = None) -> dict[str, torch.Tensor]:
    """Return the tensors of calls by the name of the input, in their own sizes without others."""
    tensors: list[torch.Tensor] = []
    for number, call in enumerate(made):
        size = (sizes or {}).get(f"n{number}")
        if call.dynamic is None or size is None:
            tensors += call.tensors
        else:
            tensors += call.dynamic.resized(call.tensors, size)
    # A model may write into its inputs.
    return {f"x{number}": tensor.clone() for number, tensor in enumerate(tensors)}


def drawn(places: Sequence[Place], sizes: Mapping[str, int], seed: int) -> dict[str, torch.Tensor]:
    """Return the inputs of these calls, drawn anew."""
    from operators.entries import calls

    found = []
    for name, dtype, place, dynamic in places:
        first = next(call for call in calls(Case(name, dtype), 0) if call.place == place)
        call = replace(first, dynamic=Dynamic(*dynamic) if dynamic else None)
        found.append(redrawn(call, seed))
    return feed(found, sizes)


def redrawn(call: Call, seed: int) -> Call:
    """Return a call, drawn with a seed; as it was drawn with seed 0 where shapes are drawn, too."""
    from operators.entries import calls

    own = Case(call.case.name, call.case.dtype)
    made = next((made for made in calls(own, seed) if made.place == call.place), None)
    shapes = [(tensor.shape, tensor.dtype) for tensor in call.tensors]
    if made is None or [(tensor.shape, tensor.dtype) for tensor in made.tensors] != shapes:
        return call
    return replace(call, tensors=made.tensors)


def manifest(made: Sequence[Call], directory: Path, exporter: Exporter) -> dict[str, Any]:
    """Return the resource for the model in `directory/code/model.py`."""
    shapes = shapes_of(made)
    declared = [
        {"name": name, "shape": shapes[name], "dtype": str(tensor.dtype)[6:]}
        for name, tensor in feed(made).items()
    ]
    dims = {
        name: {"min": dynamic.smallest, "max": dynamic.largest}
        for name, dynamic in dims_of(made).items()
    }
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
            "dims": dims,
            "export": {"exporter": exporter.value},
            "verification": {"provider": "CPU", "benchmark": False, "sampler": "model:draw"},
            "destination": {"uri": f"file://{directory / 'out'}/"},
        },
    }
