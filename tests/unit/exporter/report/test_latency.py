"""The latency of the file beside eager's."""

from __future__ import annotations

import pytest

from modelexport_exporter.report.latency import latency_of
from unit.exporter.report.reports import (
    report,
    verification,
)


@pytest.mark.parametrize(
    ("onnx", "compared"),
    [
        (2.0, "2.0× as fast as eager"),
        (8.0, "2.0× as slow as eager"),
        (4.1, "as fast as eager"),
    ],
)
def test_latency_is_compared_with_eager(onnx: float, compared: str) -> None:
    measured = {
        "dims": {"batch": 16},
        "eager": {"median": 4.0, "p95": 5.0},
        "onnx": {"median": onnx, "p95": onnx},
    }
    found = latency_of(
        report(verification=verification(latencyMs=measured), measured={"notMeasured": ["slow"]})
    )
    assert found is not None
    assert [row.compared for row in found.rows] == ["", compared]
    assert found.left_out == ("slow",)
    assert max(row.p95_width for row in found.rows) == 100.0


def test_without_a_benchmark_there_is_no_latency() -> None:
    assert latency_of(report()) is None
