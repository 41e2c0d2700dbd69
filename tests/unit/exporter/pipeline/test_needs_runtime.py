"""Which specs need a process with the user's libraries."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.pipeline.verifier import needs_runtime


@pytest.mark.parametrize(
    ("export", "needed"),
    [
        ({}, False),
        ({"plugins": ["my_ops"]}, True),
        ({"runtimeLibraries": ["file:///libs/ops.so"]}, True),
        ({"unsupportedOps": "FallThrough"}, True),
        ({"unsupportedOps": "Fail"}, False),
    ],
)
def test_plugins_libraries_and_operators_that_fall_through(
    export: dict[str, Any], needed: bool
) -> None:
    spec = {
        "source": {"uri": "file:///m.pt"},
        "model": {"factory": "a:b"},
        "inputs": [{"name": "x", "shape": [1]}],
        "export": export,
        "destination": {"uri": "file:///o/"},
    }
    assert needs_runtime(ModelExportSpec.model_validate(spec)) is needed
