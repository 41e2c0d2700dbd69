"""The page docs/decompositions.md, written from the library."""

from __future__ import annotations

from collections.abc import Collection

from modelexport_exporter.decompositions.capture import CALLS
from modelexport_exporter.decompositions.complex.programs import FORMS
from modelexport_exporter.decompositions.library import COMPOSITES, FAMILIES
from modelexport_exporter.decompositions.registry import Decomposition, Family

_INTRODUCTION = """\
# Decompositions

Operators that torch.onnx cannot translate, or translates incorrectly, are rewritten with other ATen
operators before conversion. A model without such operators is left as it is.
`export.rewrites.disabled` names operators to leave to torch.onnx (`aten::elu`; `*` for all);
operators that a plugin translates are left to the plugin.

The column *without it* says what is wrong if the operator is left to torch.onnx and onnxruntime,
with a link to the upstream report where one is known. A nightly test exports each operator without
its decomposition and expects that failure; when upstream has fixed it, the test fails and asks to
delete the decomposition.

torchlib, torch.onnx's own library, files the same operators under core (arithmetic, reductions,
sorting, scatter and gather, integers and booleans), nn (activations, attention, losses, pooling,
resizing), linalg, fft and special (Bessel, gamma and error functions, orthogonal polynomials).

Every result is verified against eager PyTorch like any other. Accuracy is relative to the largest
magnitude of the output; where none is given, the method is exact up to rounding.
"""
_CAPTURE = """\
## Calls that are replaced while torch.export captures

These are refused by torch.export, or tied to the sizes of the example, when a dim is dynamic.
Fourier transforms of a length that is no power of two, dynamic or not, are computed in double
precision, because onnxruntime's float32 ones err 20 to 50 times as much as torch's:
"""
_COMPLEX = """\
## Complex numbers

Inputs and outputs of a file are real; tensors inside the graph may be complex. torch.onnx holds a
complex tensor as pairs of real and imaginary parts, and translates few operators of it. These are
computed on the pairs where an argument or the result is complex; composite operators are decomposed
first. Programs without complex tensors are left as they are.
"""
_COMPOSITE = """\
## Composite operators

These consist of operators above and are decomposed first:
"""


def page() -> str:
    """Return the whole page."""
    sections = [_INTRODUCTION]
    sections += [_section(family) for family in FAMILIES]
    sections.append(_CAPTURE + "\n" + _list({name for name, _ in CALLS.values()}))
    sections.append(_COMPLEX + "\n" + _list(set(FORMS)))
    sections.append(_COMPOSITE + "\n" + _list(COMPOSITES))
    return "\n".join(sections)


def _section(family: Family) -> str:
    """Return a family's table; overloads that are computed alike are one row."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for name, entry in family.decompositions.items():
        cells = (_describe_defect(entry), _escape(entry.method), _escape(entry.accuracy))
        rows.setdefault(cells, []).append(name)
    lines = [f"## {family.title}", "", family.description, ""]
    lines += ["| operators | without it | method | accuracy |", "| --- | --- | --- | --- |"]
    for cells, names in rows.items():
        operators = ", ".join(f"`{name}`" for name in names)
        lines.append(f"| {' | '.join((operators, *cells))} |")
    return "\n".join(lines) + "\n"


def _describe_defect(entry: Decomposition) -> str:
    defect = _escape(entry.defect) if entry.defect else "torch.onnx does not translate it"
    return f"{defect} ([report]({entry.report}))" if entry.report else defect


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def _list(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) + ".\n"
