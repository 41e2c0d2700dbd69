"""How much of a file has to be in its checkpoint, and what is said of the rest."""

from __future__ import annotations

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import PointedFile, PointedWeights
from modelexport_exporter.workers.in_checkpoint import pointed_findings


def weights(pointed: int, others: int) -> PointedWeights:
    files = (PointedFile("model.0.data", "model.pt", 3, pointed),) if pointed else ()
    return PointedWeights(files, 2 if others else 0, others)


@pytest.mark.parametrize(
    ("pointed", "others", "obtained"),
    [
        pytest.param(1000, 0, None, id="all"),
        pytest.param(
            9_000_000,
            1_000_000,
            "90.0% of the weights' bytes in the checkpoint; 2 tensors",
            id="most",
        ),
        pytest.param(1000, 1000, "50.0% of the weights' bytes", id="half"),
        pytest.param(0, 0, "no weights", id="a model without weights"),
    ],
)
def test_what_is_elsewhere_is_reported(pointed: int, others: int, obtained: str | None) -> None:
    found = pointed_findings(weights(pointed, others))
    assert len(found) == (obtained is not None)
    if obtained is not None:
        assert found[0].requested == "InCheckpoint"
        assert found[0].obtained.startswith(obtained)


@pytest.mark.parametrize(("pointed", "others"), [(999, 1001), (0, 1001)])
def test_less_than_half_is_refused(pointed: int, others: int) -> None:
    with pytest.raises(ExportFailure) as caught:
        pointed_findings(weights(pointed, others))
    assert caught.value.reason is Reason.CONTRACT_VIOLATED
    assert "of the weights' bytes are in the checkpoint" in caught.value.message
    assert "export.optimize" in caught.value.hint
