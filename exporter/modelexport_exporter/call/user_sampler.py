"""The user's sampler: a function that returns the arrays of a sample, by the name of the input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_api.spec import Input, ModelExportSpec
from modelexport_exporter.call.tensors import to_array
from modelexport_exporter.core.dims import concrete_shape, describe_sizes
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.sample import Sample
from modelexport_exporter.user_code.missing_names import Named
from modelexport_exporter.user_code.named_callable import describe_error, find_callable

Array = NDArray[Any]
Sampler = Callable[..., Any]
_FIELD = "verification.sampler"


def find_sampler(spec: ModelExportSpec, code_dir: Path | None) -> Sampler | None:
    """Import the sampler that the spec names, if it names one. Raises ExportFailure."""
    path = spec.verification.sampler
    return (
        find_callable(Named(_FIELD, path, "a dict of tensors by input"), code_dir) if path else None
    )


def sampler_of(
    spec: ModelExportSpec, code_dir: Path | None
) -> Callable[[Sample], dict[str, Array]] | None:
    """Return what draws samples by the spec's sampler, if it names one. Raises ExportFailure."""
    sampler = find_sampler(spec, code_dir)
    if sampler is None:
        return None
    return lambda sample: call_sampler(sampler, spec.inputs, sample, code_dir)


def call_sampler(
    sampler: Sampler, inputs: Sequence[Input], sample: Sample, code_dir: Path | None
) -> dict[str, Array]:
    """Return what the sampler draws at the sample's sizes, with its seed. Raises ExportFailure."""
    try:
        drawn = sampler(dict(sample.dims), sample.seed)
    except Exception as error:
        raise ExportFailure(
            Reason.SAMPLES_INVALID,
            f"{_FIELD} raised {describe_error(error, code_dir)} at {describe_sizes(sample.dims)}",
            "It is called as sampler(dims, seed) for every size that dims declares.",
        ) from error
    if not isinstance(drawn, Mapping):
        raise ExportFailure(
            Reason.SAMPLES_INVALID,
            f"{_FIELD} returned a {type(drawn).__name__}, expected a dict of tensors",
            "Return a tensor or array for each input, by its name.",
        )
    return {entry.name: _read_drawn(entry, drawn, sample) for entry in inputs}


def _read_drawn(entry: Input, drawn: Mapping[str, Any], sample: Sample) -> Array:
    value = drawn.get(entry.name)
    array = to_array(value) if isinstance(value, torch.Tensor) else np.asarray(value)
    shape = concrete_shape(entry, sample.dims)
    if value is None or array.dtype.name != entry.dtype.value or array.shape != shape:
        found = "nothing" if value is None else f"{array.dtype.name} {list(array.shape)}"
        raise ExportFailure(
            Reason.SAMPLES_INVALID,
            f"{_FIELD} returned {found} for input {entry.name} at {describe_sizes(sample.dims)}, "
            f"expected {entry.dtype.value} {list(shape)}",
            "Return a tensor or array of the declared type and shape for each input.",
        )
    return array
