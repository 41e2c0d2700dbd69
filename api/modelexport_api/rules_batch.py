"""Cross-field rules of batches."""

from __future__ import annotations

import re

from modelexport_api.rule import Rule
from modelexport_api.spec import ModelExportSpec, Weights

PLACEHOLDER = r"\{(name|stem|index|parent)\}"
_DESTINATION = rf"^([^{{}}]|{PLACEHOLDER})*$"
_SOURCE_IS_BATCH = r"(has(self.uris) || (has(self.uri) && self.uri.matches(r'[*?\[]')))"
"""`Source.is_batch` in CEL, evaluated at the source."""
_IS_BATCH = _SOURCE_IS_BATCH.replace("self.", "self.source.")
"""The same, evaluated at the root of the spec."""


BATCH_RULES: tuple[Rule[ModelExportSpec], ...] = (
    Rule(
        path=("source",),
        cel="has(self.uri) != has(self.uris)",
        message="set exactly one of uri (one checkpoint, or a glob for several) and uris (a list)",
        holds=lambda spec: (spec.source.uri is None) != (spec.source.uris is None),
    ),
    Rule(
        path=("source",),
        cel=None,
        message="the checkpoints in uris must be unique",
        holds=lambda spec: len(set(spec.source.uris or [])) == len(spec.source.uris or []),
    ),
    Rule(
        path=("source",),
        cel=f"!{_SOURCE_IS_BATCH} || (!has(self.sha256) && !has(self.versionId))",
        message="sha256 and versionId require a single object; this is a batch",
        holds=lambda spec: (
            not spec.source.is_batch
            or (spec.source.sha256 is None and spec.source.version_id is None)
        ),
    ),
    Rule(
        path=("destination",),
        cel=f"self.uri.matches(r'{_DESTINATION}')",
        message="the only placeholders allowed in uri are {name}, {stem}, {index} and {parent}",
        holds=lambda spec: re.search(_DESTINATION, spec.destination.uri) is not None,
    ),
    Rule(
        path=(),
        cel=f"!{_IS_BATCH} || self.destination.uri.matches(r'{PLACEHOLDER}')",
        message="a batch requires one destination per checkpoint: use {name}, {stem}, {index} or "
        "{parent} in destination.uri (s3://bucket/onnx/{stem}/)",
        holds=lambda spec: (
            not spec.source.is_batch or re.search(PLACEHOLDER, spec.destination.uri) is not None
        ),
    ),
    Rule(
        path=(),
        cel=f"{_IS_BATCH} || (self.parallelism == 1 && self.maxFailed == 0)",
        message="parallelism and maxFailed require a batch: a glob in source.uri, or source.uris",
        holds=lambda spec: spec.source.is_batch or (spec.parallelism == 1 and spec.max_failed == 0),
    ),
    Rule(
        path=(),
        cel=f"!{_IS_BATCH} || !has(self.artifact)",
        message="artifact is a single file; a batch in mode Verify checks the artifacts at "
        "destination.uri",
        holds=lambda spec: not spec.source.is_batch or spec.artifact is None,
    ),
    Rule(
        path=(),
        cel=f"!{_IS_BATCH} || self.export.weights != 'InCheckpoint'",
        message="export.weights InCheckpoint requires a single checkpoint: a batch binds the "
        "weights of each one to the graph of the first; use Embedded",
        holds=lambda spec: (
            not spec.source.is_batch or spec.export.weights is not Weights.IN_CHECKPOINT
        ),
    ),
)
