"""Which route an export takes."""

from __future__ import annotations

import pytest

from modelexport_api.spec import Exporter, Format
from modelexport_exporter.conversion.route import choose_route
from modelexport_exporter.failure import ExportFailure

AUTO, DYNAMO, SCRIPT = Exporter.AUTO, Exporter.DYNAMO, Exporter.TORCH_SCRIPT


@pytest.mark.parametrize(
    ("asked", "checkpoint", "expected"),
    [
        (AUTO, Format.STATE_DICT, DYNAMO),
        (AUTO, Format.SAFETENSORS, DYNAMO),
        (AUTO, Format.TORCH_SCRIPT, SCRIPT),
        (AUTO, Format.EXPORTED_PROGRAM, DYNAMO),
        (SCRIPT, Format.STATE_DICT, SCRIPT),
        (SCRIPT, Format.TORCH_SCRIPT, SCRIPT),
        (DYNAMO, Format.EXPORTED_PROGRAM, DYNAMO),
    ],
)
def test_route(asked: Exporter, checkpoint: Format, expected: Exporter) -> None:
    assert choose_route(asked, checkpoint) is expected


@pytest.mark.parametrize(
    ("asked", "checkpoint"), [(DYNAMO, Format.TORCH_SCRIPT), (SCRIPT, Format.EXPORTED_PROGRAM)]
)
def test_a_graph_goes_through_its_own_route(asked: Exporter, checkpoint: Format) -> None:
    with pytest.raises(ExportFailure, match="carries its graph"):
        choose_route(asked, checkpoint)
