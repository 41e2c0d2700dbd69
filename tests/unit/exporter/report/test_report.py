from __future__ import annotations

import math

from modelexport_api.resource import ModelExport
from modelexport_exporter.core.comparison import (
    OutputComparison,
    Problem,
    ProblemKind,
    SampleComparison,
)
from modelexport_exporter.report.as_reported import samples
from modelexport_exporter.report.report import public_spec


def test_the_pod_template_may_hold_secrets_and_is_left_out() -> None:
    resource = ModelExport.model_validate(
        {
            "apiVersion": "modelexport.dev/v1alpha1",
            "kind": "ModelExport",
            "metadata": {"name": "m"},
            "spec": {
                "source": {"uri": "s3://a/b"},
                "inputs": [{"name": "x"}],
                "destination": {"uri": "s3://a/out/"},
                "podTemplate": {"spec": {"containers": [{"env": [{"value": "secret"}]}]}},
            },
        }
    )
    spec = public_spec(resource)
    assert "secret" not in str(spec)
    assert spec["destination"]["uri"] == "s3://a/out/"


def test_errors_that_are_no_numbers_stay_readable() -> None:
    compared = OutputComparison("y", math.nan, math.inf, 0.5, Problem(ProblemKind.VALUES, "NaN"))
    (sample,) = samples((SampleComparison({}, 0, (compared,)),))
    (output,) = sample.outputs
    assert (output.max_abs_error, output.max_rel_error, output.limit) == ("nan", "inf", 0.5)
