"""What the judge believes of the process of the original model: nothing against the spec. Pure."""

from __future__ import annotations

from modelexport_api.sizes import dims_of_shapes
from modelexport_api.spec import Input, ModelExportSpec
from modelexport_exporter.core.input_kinds import NUMBERS
from modelexport_exporter.sampling.masks import is_mask
from modelexport_exporter.verification.original import Facts


class FactsContradictError(Exception):
    """The process contradicts the spec; the text says where."""


def check_facts(spec: ModelExportSpec, facts: Facts) -> None:
    """Raise FactsContradictError unless the facts agree with what the spec declares."""
    wanted = spec.verification.provider
    if wanted is not None and facts.provider is not wanted:
        raise FactsContradictError(f"provider {facts.provider.value}, declared is {wanted.value}")
    declared = {entry.name: entry for entry in spec.inputs}
    for entry in facts.inputs:
        _check_dims(entry, spec)
        own = declared.get(entry.name)
        if own is not None and own.kind is entry.kind and not _agrees(own, entry):
            raise FactsContradictError(f"input {entry.name[:80]} is not what the spec declares")


def _check_dims(entry: Input, spec: ModelExportSpec) -> None:
    unknown = {*dims_of_shapes([entry.shape])} - {*spec.dims}
    if unknown:
        raise FactsContradictError(f"input {entry.name[:80]} has dims that the spec has not")


def _agrees(own: Input, found: Input) -> bool:
    if own.range is not None and own.range != found.range and not is_mask(own):
        return False
    return own.kind in NUMBERS or (own.dtype, own.shape) == (found.dtype, found.shape)
