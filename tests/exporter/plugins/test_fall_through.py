"""Operators that no translation knows: they fall through as they are, or are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

from exporter.plugins.plugin_exports import ROUTES, TWO, export, imports
from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ConvertedModel, Rung

pytestmark = pytest.mark.usefixtures("forget_plugins")


def fall_through(
    factory: str,
    tmp_path: Path,
    *plugins: str,
    **options: Any,  # noqa: ANN401
) -> ConvertedModel:
    options.setdefault("rewrites", {"disabled": ["*"]})
    return export(factory, tmp_path, *plugins, unsupportedOps="FallThrough", **options)


@ROUTES
def test_operators_of_aten_fall_through(rung: Rung, tmp_path: Path) -> None:
    converted = fall_through("Erfinv", tmp_path, rung=rung)
    assert converted.op_counts == {"aten::kthvalue": 1, "aten::special_i1e": 1}
    assert imports(converted)["aten"] == 1
    found = {finding.subject: finding.obtained for finding in converted.findings}
    assert "the consumer's runtime must bring it" in found["operator aten::kthvalue"]
    assert sorted(path.name for path in tmp_path.glob("artifact/*")) == ["model.onnx"]


@ROUTES
def test_lists_and_half_precision_fall_through(rung: Rung, tmp_path: Path) -> None:
    converted = fall_through("Unusual", tmp_path, rung=rung)
    fallen = {name for name in converted.op_counts if name.startswith("aten::")}
    assert fallen >= {"aten::special_i0e"}
    assert rung is Rung.DYNAMO or "aten::block_diag" in fallen


@ROUTES
def test_a_custom_operator_falls_through(rung: Rung, tmp_path: Path) -> None:
    converted = fall_through("Misses", tmp_path, "foo_op", rung=rung, inputs=TWO)
    assert converted.op_counts["custom_ops::foo_forward"] == 1
    node = next(
        node for node in onnx.load(converted.model_path).graph.node if node.op_type == "foo_forward"
    )
    assert {entry.name for entry in node.attribute} == {"attr1", "attr2"}


def test_an_unregistered_custom_operator_is_named(tmp_path: Path) -> None:
    for rung in (Rung.DYNAMO, Rung.TRACE):
        with pytest.raises(ExportFailure) as failed:
            export("FooModel", tmp_path, "foo_op", rung=rung, inputs=TWO)
        assert failed.value.reason is Reason.UNSUPPORTED_OPERATOR
        assert "custom_ops::foo_forward" in failed.value.message
