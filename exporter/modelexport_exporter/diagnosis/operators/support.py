"""How an operator without a translation can be supported: one of four verdicts, and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from modelexport_api.spec import Exporter
from modelexport_api.status import Support
from modelexport_exporter.diagnosis.operators.onnx_names import OnnxOperator, find_standard
from modelexport_exporter.diagnosis.operators.runtime_operators import runtime_operator
from modelexport_exporter.diagnosis.operators.skeleton import skeleton_name
from modelexport_exporter.diagnosis.pitfalls.quantized_parts import FLOAT_MODEL
from modelexport_exporter.torch_internals import symbolics, translation
from modelexport_exporter.torch_internals.decomposition_table import (
    has_aten_decomposition,
    is_made_of_others,
)

NEWEST_OPSET = 25
"""The newest opset that a ModelExport can ask for."""
TORCHS_OWN = {"aten", "prims", "prim", "torchvision", "quantized", "quantized_decomposed"}
_PLUGIN = "`modelexport diagnose MANIFEST --skeleton DIR` writes {file}, ready to fill in."


@dataclass(frozen=True)
class WayOut:
    """A verdict and what to do."""

    support: Support
    hint: str


Advice = Callable[[str], WayOut]
"""Returns the way out for an operator's name with its overload."""


def advice_for(
    route: Exporter, opset: int, provided: Collection[str] = (), disabled: Collection[str] = ()
) -> Advice:
    """Return the advice for a route and an opset.

    `provided`: names of operators that this exporter rewrites, unless the spec disabled that.
    """

    def advise(name: str) -> WayOut:
        base = without_overload(name)
        if name in _OF_BITS and not {"*", base, name} & set(disabled):
            return WayOut(Support.NEEDS_PLUGIN, _NO_BITS)
        if base in provided or name in provided:
            return _provided(base, disabled=bool({"*", base, name} & set(disabled)))
        return (
            _by_layout(base)
            or _by_route(name, route, opset)
            or _by_decomposition(name, route, is_made_of_others)
            or _by_standard(name, opset)
            or _by_decomposition(name, route, has_aten_decomposition)
            or _by_runtime(name)
            or _by_plugin(name)
        )

    return advise


_OF_BITS = frozenset({"aten::view.dtype", "aten::view_copy.dtype"})
_NO_BITS = (
    "ONNX cannot read the bits of one dtype as another, but for integers of the same size. Compute "
    "with the numbers (floor, division, remainder), or take the bits as an input of forward."
)


def without_overload(name: str) -> str:
    """Return `aten::erfinv` for `aten::erfinv.default`."""
    namespace, separator, rest = name.partition("::")
    return f"{namespace}{separator}{rest.partition('.')[0]}"


def _provided(base: str, *, disabled: bool) -> WayOut:
    if disabled:
        return WayOut(
            Support.DECOMPOSABLE,
            f"This exporter computes {base} with operators that ONNX has: remove it from "
            "export.rewrites.disabled.",
        )
    return WayOut(
        Support.DECOMPOSABLE,
        f"This exporter computes {base} with operators that ONNX has, but not for these "
        "arguments: most such operators need real numbers, matrices of a constant size, or other "
        "defaults (docs/decompositions.md).",
    )


_LAYOUTS = (
    (
        "quantized::",
        "Modules that torch.ao converted hold packed int8 weights, which ONNX has not. "
        f"{FLOAT_MODEL}",
    ),
    (
        "aten::_nested_",
        "A nested tensor has rows of several lengths, which ONNX has not. Return the padded tensor "
        "and the lengths of its rows.",
    ),
    (
        "aten::to_sparse",
        "ONNX has no sparse tensors. Compute with dense ones, or with indices and values "
        "(index_add, scatter_add).",
    ),
)
"""Operators whose results are stored as ONNX stores none, by the beginnings of their names."""


def _by_layout(base: str) -> WayOut | None:
    found = (hint for start, hint in _LAYOUTS if base.startswith(start))
    hint = next(found, None)
    return None if hint is None else WayOut(Support.NEEDS_PLUGIN, hint)


def _by_route(name: str, route: Exporter, opset: int) -> WayOut | None:
    """Return the way out where another opset or the other route translates it already."""
    if route is Exporter.TORCH_SCRIPT:
        later = symbolics.first_opset(without_overload(name))
        if later is not None and later > opset:
            return WayOut(Support.STANDARDISED, f"Set export.opset to {later} or newer.")
        if translation.has_function(name):
            return WayOut(
                _kind(name),
                "torch.export's route translates it.",
            )
    elif translation.has_function(name, opset):
        return WayOut(
            Support.NEEDS_PLUGIN,
            "torch.onnx translates it for real numbers, and its input is complex here: compute "
            "with real and imaginary parts (torch.view_as_real), or translate it in a plugin: "
            + _PLUGIN.format(file=skeleton_name(name)),
        )
    elif symbolics.is_registered(without_overload(name), min(opset, symbolics.NEWEST_SYMBOLIC)):
        return WayOut(
            _kind(name),
            "The TorchScript route translates it.",
        )
    return None


def _kind(name: str) -> Support:
    return Support.STANDARDISED if find_standard(name) else Support.DECOMPOSABLE


def _by_standard(name: str, opset: int) -> WayOut | None:
    standard = find_standard(name)
    if standard is None:
        return None
    return WayOut(
        Support.STANDARDISED,
        f"ONNX has {standard.name} from opset {standard.since} on{_reachable(standard, opset)} "
        f"A plugin translates it in one line: {_PLUGIN.format(file=skeleton_name(name))}",
    )


def _reachable(standard: OnnxOperator, opset: int) -> str:
    if standard.since > NEWEST_OPSET:
        return f", newer than the opset {NEWEST_OPSET} that can be asked for."
    if standard.since > opset:
        return f": set export.opset to {standard.since} or newer."
    return ", but torch.onnx does not translate to it."


def _by_decomposition(
    name: str, route: Exporter, decomposed: Callable[[str], bool]
) -> WayOut | None:
    """Return the way out where torch.export's route sees smaller operators only."""
    if route is Exporter.TORCH_SCRIPT and decomposed(name):
        return WayOut(
            Support.DECOMPOSABLE,
            "torch computes it from smaller operators on torch.export's route.",
        )
    return None


def _by_runtime(name: str) -> WayOut | None:
    known = runtime_operator(name)
    if known is None or name.partition("::")[0] == "aten":
        return None
    return WayOut(
        Support.RUNTIME,
        f"The installed onnxruntime has {known}: a plugin need only write that node. "
        + _PLUGIN.format(file=skeleton_name(name)),
    )


def _by_plugin(name: str) -> WayOut:
    file = skeleton_name(name)
    if name.partition("::")[0] in TORCHS_OWN:
        return WayOut(
            Support.NEEDS_PLUGIN,
            "ONNX has no such operator. Write the line with smaller operators, or translate it in "
            f"export.plugins: {_PLUGIN.format(file=file)}",
        )
    return WayOut(
        Support.NEEDS_PLUGIN,
        "It is a custom operator: translate it in export.plugins, to ONNX operators or to a node "
        "of its own domain whose kernel export.runtimeLibraries brings. "
        + _PLUGIN.format(file=file),
    )
