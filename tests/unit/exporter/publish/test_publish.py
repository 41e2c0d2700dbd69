from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.publish.layout import promotion_order
from modelexport_exporter.publish.publish import failed_directory, resource_key


@given(st.permutations(["report.json", "model.onnx", "model.0123456789ab.data", "config.txt"]))
def test_the_model_comes_after_its_data_and_before_the_report(names: list[str]) -> None:
    assert promotion_order(names)[-2:] == ["model.onnx", "report.json"]


def test_failed_reports_are_no_artifact_s_reports() -> None:
    name = failed_directory("m", "0123456789abcdef")
    assert name == "failed/m-0123456789ab/"


@pytest.mark.parametrize(
    "other", [("m", "ns", "2"), ("m", "other", "1"), ("n", "ns", "1"), ("m", None, "1")]
)
def test_resources_do_not_share_staging(other: tuple[str, str | None, str]) -> None:
    assert resource_key("m", "ns", "1") != resource_key(*other)
