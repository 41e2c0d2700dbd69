"""The page docs/decompositions.md, written from the catalogue."""

from __future__ import annotations

from types import ModuleType

from modelexport_exporter.decompositions import FAMILIES
from modelexport_exporter.decompositions.capture.calls import CALLS
from modelexport_exporter.decompositions.complex.pairs import FORMS
from modelexport_exporter.decompositions.registry import COMPOSITES, DECOMPOSITIONS, Why

_INTRODUCTION = """\
# Decompositions

Operators that torch.onnx cannot translate (unsupported), or translates into something that computes
another result or does not load (wrong), are rewritten with other ATen operators before conversion.
A model without such operators is left as it is. `export.rewrites.disabled` names operators to leave
to torch.onnx (`aten::elu`; `*` for all); operators that a plugin translates are left to the plugin.

Every result is verified against eager PyTorch like any other. Accuracy is relative to the largest
magnitude of the output; where none is given, the method is exact up to rounding.
"""
_CAPTURE = """\
## Calls that are replaced while torch.export captures

These are refused by torch.export, or tied to the sizes of the example, when a dim is dynamic:
"""
_COMPLEX = """\
## Complex numbers

Inputs and outputs of a file are real, and what lies between them may be complex. torch.onnx holds
a complex tensor as pairs of real and imaginary parts, and translates few operators of it. These are
computed on the pairs where an argument or the result is complex; composite operators are taken
apart first. Programs without complex tensors are left as they are.
"""
_COMPOSITE = """\
## Composite operators

These consist of operators above and are taken apart first:
"""


def page() -> str:
    """Return the whole page."""
    sections = [_INTRODUCTION]
    sections += [_section(family) for family in FAMILIES]
    sections.append(_CAPTURE + "\n" + _listed({name for name, _ in CALLS.values()}))
    sections.append(_COMPLEX + "\n" + _listed(set(FORMS)))
    sections.append(_COMPOSITE + "\n" + _listed(COMPOSITES))
    return "\n".join(sections)


def _section(family: ModuleType) -> str:
    """Return a family's table; overloads of one function are one row."""
    title = family.__name__.rpartition(".")[2].replace("_", " ").capitalize()
    rows: dict[tuple[str, str, Why], list[str]] = {}
    for name, entry in DECOMPOSITIONS.items():
        if entry.function.__module__ == family.__name__:
            rows.setdefault((entry.method, entry.accuracy, entry.why), []).append(name)
    lines = [f"## {title}", "", str(family.__doc__).strip(), ""]
    lines += ["| operators | torch.onnx | method | accuracy |", "| --- | --- | --- | --- |"]
    for (method, accuracy, why), names in rows.items():
        operators = ", ".join(f"`{name}`" for name in names)
        cells = (operators, why.value.lower(), _cell(method), _cell(accuracy))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _listed(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) + ".\n"
