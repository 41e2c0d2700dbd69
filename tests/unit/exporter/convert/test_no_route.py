"""Which operators no route translates, from what one route and a trace lack."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter
from modelexport_api.status import Support, UnsupportedOp
from modelexport_exporter.convert.no_route import as_incurable, lacking_everywhere
from modelexport_exporter.core.errors import ExportFailure, Incurable

DYNAMO, SCRIPT = Exporter.DYNAMO, Exporter.TORCH_SCRIPT


def op(name: str) -> UnsupportedOp:
    return UnsupportedOp(name=name, support=Support.NEEDS_PLUGIN, hint="Write it.")


@pytest.mark.parametrize(
    ("route", "lacks", "traced", "expected"),
    [
        pytest.param(DYNAMO, "own::f.default", ["own::f"], True, id="a custom operator"),
        pytest.param(
            DYNAMO,
            "aten::_linalg_eigh.default",
            ["aten::_linalg_eigh.default"],
            True,
            id="of torch",
        ),
        pytest.param(DYNAMO, "aten::erfinv.default", [], False, id="the trace translates it"),
        pytest.param(DYNAMO, "own::f.default", ["own::g"], False, id="the trace lacks another"),
        pytest.param(DYNAMO, "aten::diff.default", ["aten::diff"], False, id="defined in scripts"),
        pytest.param(SCRIPT, "own::f.default", [], True, id="custom, in a script"),
        pytest.param(SCRIPT, "known::f.default", [], False, id="a plugin translates it"),
        pytest.param(
            SCRIPT, "aten::_linalg_eigh.default", [], False, id="a program may decompose it"
        ),
    ],
)
def test_what_no_route_has(
    route: Exporter, lacks: str, traced: Sequence[str], *, expected: bool
) -> None:
    found = lacking_everywhere(
        [op(lacks)], route, {"known::f"}, lambda: [op(name) for name in traced]
    )
    assert bool(found) == expected


def test_nothing_is_traced_for_operators_that_scripts_define() -> None:
    def trace() -> Sequence[UnsupportedOp]:
        raise AssertionError

    assert lacking_everywhere([op("aten::diff.default")], DYNAMO, (), trace) == []


def test_the_failure_names_them_and_ends_the_ladder() -> None:
    ops = (op("own::f.default"), op("aten::erfinv.default"))
    failure = ExportFailure(Reason.UNSUPPORTED_OPERATOR, "f, erfinv", "Both.", ops=ops)
    assert as_incurable(failure, [], 20) is failure
    found = as_incurable(failure, ops[:1], 20)
    assert isinstance(found, Incurable)
    assert "no route has a translation to ONNX opset 20 for own::f.default" in found.message
    assert found.message.endswith(". f, erfinv")
    assert found.ops == ops
    assert not as_incurable(failure, ops, 20).message.endswith("erfinv")
