"""The contract: what was requested, and what the file offers. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from modelexport_api.sizes import dims_of, is_same_size, size_at
from modelexport_api.spec import Weights
from modelexport_api.status import Artifact, TensorInfo
from modelexport_exporter.core.inferred import Inferred
from modelexport_exporter.report.report import Finding, InCheckpoint, Report
from modelexport_exporter.report.text import size
from modelexport_exporter.report.unpublished import UnpublishedFile

File = Artifact | UnpublishedFile
_NOT_NAMED = "not named"
AT_ONCE = 12
"""Terms that are shown without a click; so are all that differ."""
_TENSORS = frozenset({"Tensor", "Optional", "AttentionMask", "PaddingMask"})


@dataclass(frozen=True)
class Term:
    """One requested property."""

    subject: str
    name: str
    requested: str
    obtained: str
    kept: bool
    """Also where nothing was asked."""
    inferred: str = ""
    """How the request was found, where the user did not write it."""

    @property
    def is_asked(self) -> bool:
        """Return whether something was requested."""
        return self.requested not in {"–", _NOT_NAMED}


@dataclass(frozen=True)
class DimRange:
    """A dynamic dim."""

    name: str
    low: int
    high: int
    verified_at: str
    inferred: str = ""


@dataclass(frozen=True)
class Contract:
    """The section on the contract."""

    obtained: bool
    """Whether there is a file to compare with."""
    published: bool
    terms: tuple[Term, ...]
    more: tuple[Term, ...]
    """Terms of a long contract that are kept."""
    dims: tuple[DimRange, ...]
    findings: tuple[Finding, ...]
    inferred: tuple[Inferred, ...]


def contract_of(report: Report) -> Contract:
    """Return what was requested, and what was obtained before the export ended."""
    artifact = report.artifact or report.unpublished
    terms = list(_terms(report, artifact))
    shown = [term for place, term in enumerate(terms) if place < AT_ONCE or not term.kept]
    return Contract(
        obtained=artifact is not None,
        published=report.artifact is not None,
        terms=tuple(shown),
        more=tuple(term for place, term in enumerate(terms) if place >= AT_ONCE and term.kept),
        dims=tuple(_dims(report)),
        findings=tuple(report.findings),
        inferred=tuple(report.inferred),
    )


def _terms(report: Report, artifact: File | None) -> Iterator[Term]:
    spec = report.spec
    inputs = {tensor.name: tensor for tensor in artifact.inputs} if artifact else {}
    dims: dict[str, Any] = spec.get("dims", {})
    for place, entry in enumerate(spec.get("inputs", [])):
        name = str(entry.get("name", ""))
        term = _input(entry, name, inputs.pop(name, None), artifact, dims)
        yield replace(term, inferred=_sources(report, f"inputs[{place}]"))
    for name, tensor in inputs.items():
        yield Term("Input", name, "–", describe(tensor), kept=True)
    opset = spec.get("export", {}).get("opset")
    if opset is not None:
        obtained = str(artifact.opset) if artifact else ""
        yield Term("Opset", "ai.onnx", str(opset), obtained, kept=obtained in {"", str(opset)})
    if report.in_checkpoint is not None:
        yield _weights(report.in_checkpoint)
    named = _sources(report, "outputs")
    for term in _outputs([str(name) for name in spec.get("outputs", [])], artifact):
        yield replace(term, inferred=named)


def _weights(found: InCheckpoint) -> Term:
    """Return which weights are in the checkpoint's own bytes."""
    parts = [
        f"{file.tensors:,} tensors, {size(file.pointed_bytes)}, in {file.name} ({file.source})"
        for file in found.files
    ]
    if found.others:
        parts.append(f"{found.others:,} tensors, {size(found.other_bytes)}, elsewhere")
    obtained = "; ".join(parts)
    return Term(
        "Weights", "export.weights", Weights.IN_CHECKPOINT.value, obtained, kept=not found.others
    )


def _sources(report: Report, path: str) -> str:
    """Return how the values at a path of the spec were found; empty if the user wrote them."""
    found = (entry.source for entry in report.inferred if entry.is_within(path))
    return "; ".join(dict.fromkeys(found))


def _input(
    entry: dict[str, Any],
    name: str,
    tensor: TensorInfo | None,
    artifact: File | None,
    dims: dict[str, Any],
) -> Term:
    kind = str(entry.get("kind", "Tensor"))
    shape = entry.get("shape", [])
    asked = f"{entry.get('dtype', 'float32')}{_brackets(shape)}"
    if kind not in _TENSORS:
        asked = f"{kind} of {asked}" if kind == "Sequence" else kind
    if tensor is None:
        # The parts of a sequence have names of their own, a constant has none.
        gone = artifact is not None and kind in _TENSORS
        return Term("Input", name, asked, "not in the file" if gone else "", kept=not gone)
    kept = kind not in _TENSORS or (
        tensor.dtype == entry.get("dtype", "float32") and _fits(shape, tensor.shape, dims)
    )
    return Term("Input", name, asked, describe(tensor), kept=kept)


def _fits(asked: list[int | str], obtained: list[int | str], dims: dict[str, Any]) -> bool:
    """Return whether a shape is the declared one; a dim of a single size is a constant."""
    if len(asked) != len(obtained):
        return not asked  # the example's shape
    return all(
        is_same_size(want, got) or (isinstance(want, str) and got == _only_size(want, dims))
        for want, got in zip(asked, obtained, strict=True)
    )


def _only_size(size: str, dims: dict[str, Any]) -> int | None:
    limits = {name: dims.get(name, {}) for name in dims_of(size)}
    if any(dim.get("min", 1) != dim.get("max") for dim in limits.values()):
        return None
    return size_at(size, {name: int(dim["max"]) for name, dim in limits.items()})


def _outputs(asked: list[str], artifact: File | None) -> Iterator[Term]:
    obtained = artifact.outputs if artifact else []
    for index in range(max(len(asked), len(obtained))):
        want = asked[index] if index < len(asked) else ""
        tensor = obtained[index] if index < len(obtained) else None
        name = want or (tensor.name if tensor else "")
        kept = tensor is None or want in {"", tensor.name}
        obtained_text = describe(tensor) if tensor else ""
        yield Term("Output", name, "this name" if want else _NOT_NAMED, obtained_text, kept)


def describe(tensor: TensorInfo) -> str:
    """Return `float32[batch, 10]`."""
    return f"{tensor.dtype}{_brackets(tensor.shape)}"


def _brackets(shape: list[int | str]) -> str:
    return f"[{', '.join(str(length) for length in shape)}]"


def _dims(report: Report) -> Iterator[DimRange]:
    for name, dim in report.spec.get("dims", {}).items():
        sizes = {sample.dims[name] for sample in report.samples if name in sample.dims}
        yield DimRange(
            name=str(name),
            low=int(dim.get("min", 1)),
            high=int(dim.get("max", 1)),
            verified_at=", ".join(str(length) for length in sorted(sizes)),
            inferred=_sources(report, f"dims.{name}"),
        )
