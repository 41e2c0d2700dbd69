"""The ladder as a table: which rung is next, and which failure is reported."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.spec import Format
from modelexport_api.status import Failure, Stage, Support, UnsupportedOp
from modelexport_exporter.core.attempt import Attempt, most_informative
from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.core.types import Rung
from modelexport_exporter.pipeline.ladder import (
    Step,
    attempt_deadline,
    next_step,
    other_routes,
    possible_attempts,
    summary,
)
from zoo.tasks import spec_for

D, S, B, U, SC, V, T = (
    Rung.DYNAMO,
    Rung.DYNAMO_STRICT,
    Rung.DYNAMO_BY_SIZE,
    Rung.DYNAMO_UNOPTIMIZED,
    Rung.SCRIPT,
    Rung.DYNAMO_BY_VALUE,
    Rung.TRACE,
)
UNSUPPORTED, CAPTURE, MISMATCH, NARROWED = (
    Reason.UNSUPPORTED_OPERATOR,
    Reason.CAPTURE_FAILED,
    Reason.VERIFICATION_FAILED,
    Reason.DYNAMIC_DIM_SPECIALIZED,
)
SPEC = spec_for("m:build")
BY_A_SIZE = Pitfall(PitfallKind.SIZE_BRANCH, "`if n > 1`", "m.py:3", "Write both sides as one.")
STAGES = {CAPTURE: Stage.CAPTURE, MISMATCH: Stage.VERIFY, Reason.OUT_OF_MEMORY: Stage.VERIFY}


def failed(rung: Rung, reason: Reason, stage: Stage | None = None, **more: Any) -> Attempt:  # noqa: ANN401
    where = stage or STAGES.get(reason, Stage.CONVERT)
    return Attempt(rung, 1.0, Failure(reason=reason, message="no", stage=where), **more)


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        pytest.param([], D, id="torch.export comes first"),
        pytest.param([failed(D, CAPTURE)], S, id="not captured: strict"),
        pytest.param(
            [failed(D, CAPTURE), failed(S, CAPTURE)], SC, id="never captured: nothing to optimize"
        ),
        pytest.param(
            [failed(D, CAPTURE), failed(S, MISMATCH)], U, id="captured by strict: unoptimized"
        ),
        pytest.param([failed(D, UNSUPPORTED)], SC, id="no translation: the other exporter"),
        pytest.param([failed(D, Reason.CONVERSION_FAILED)], U, id="not translated: unoptimized"),
        pytest.param([failed(D, Reason.RUNTIME_FAILED)], U, id="does not run: unoptimized"),
        pytest.param([failed(D, MISMATCH)], S, id="wrong: strict may see what was baked in"),
        pytest.param([failed(D, MISMATCH), failed(S, CAPTURE)], U, id="wrong, then not captured"),
        pytest.param([failed(D, NARROWED)], S, id="a part of the sizes: strict may keep them"),
        pytest.param([failed(D, NARROWED), failed(S, CAPTURE)], SC, id="a script keeps loops"),
        pytest.param(
            [failed(D, NARROWED), failed(S, CAPTURE), failed(SC, CAPTURE)],
            B,
            id="a graph for each part",
        ),
        pytest.param(
            [
                failed(D, MISMATCH, holds_for_some_sizes=True),
                *(failed(rung, MISMATCH) for rung in (S, U, SC)),
            ],
            B,
            id="wrong at the other sizes: a graph for each part",
        ),
        pytest.param(
            [failed(rung, CAPTURE, pitfalls=(BY_A_SIZE,)) for rung in (D, S, SC)],
            B,
            id="not captured, and the code decides by a size",
        ),
        pytest.param(
            [failed(D, NARROWED), failed(S, NARROWED), failed(SC, CAPTURE), failed(B, NARROWED)],
            T,
            id="too many parts",
        ),
        pytest.param(
            [failed(SC, NARROWED), failed(D, CAPTURE), failed(S, CAPTURE)],
            V,
            id="only torch.export can say what its graph holds for",
        ),
        pytest.param([failed(D, UNSUPPORTED), failed(SC, CAPTURE)], T, id="not scripted: traced"),
        pytest.param(
            [failed(D, UNSUPPORTED), failed(SC, CAPTURE), failed(T, UNSUPPORTED)], None, id="end"
        ),
        pytest.param([failed(D, Reason.WORKER_DIED, Stage.CONVERT)], S, id="a crash in torch"),
        pytest.param([failed(D, Reason.WORKER_DIED, Stage.LOAD)], None, id="dies while loading"),
        pytest.param([failed(D, Reason.FACTORY_FAILED, Stage.LOAD)], None, id="factory"),
        pytest.param([failed(D, Reason.INPUTS_MISMATCH, Stage.CAPTURE)], None, id="inputs"),
        pytest.param([failed(D, Reason.OUT_OF_MEMORY)], None, id="memory"),
        pytest.param([failed(D, Reason.INTERRUPTED, Stage.CAPTURE)], None, id="interrupted"),
        pytest.param([failed(D, MISMATCH, incurable=True)], None, id="random"),
        pytest.param([failed(D, CAPTURE, deferred=True)], SC, id="a plugin wants TorchScript"),
    ],
)
def test_next_rung(attempts: list[Attempt], expected: Rung | None) -> None:
    step = next_step(spec_for("m:build"), Format.STATE_DICT, attempts)
    assert (step.rung if step else None) is expected


def test_a_number_may_decide_in_a_graph_that_was_captured() -> None:
    wrong = [failed(rung, MISMATCH) for rung in (D, S, U, SC)]
    for kind, expected in (("Int", V), ("Float", T)):
        spec = spec_for("m:b", inputs=[{"name": "n", "kind": kind}], dims={})
        step = next_step(spec, Format.STATE_DICT, wrong)
        assert step is not None
        assert step.rung is expected


def climb(export: dict[str, Any], checkpoint: Format | None = None) -> list[Rung]:
    """Return the rungs that are tried where each one fails to convert or captures wrongly."""
    attempts: list[Attempt] = []
    while (step := next_step(spec_for("m:b", export=export), checkpoint, attempts)) is not None:
        attempts.append(failed(step.rung, MISMATCH))
    return [attempt.rung for attempt in attempts]


@pytest.mark.parametrize(
    ("export", "checkpoint", "expected"),
    [
        pytest.param({}, None, [D, S, U, SC, T], id="all"),
        pytest.param({"optimize": False}, None, [D, S, SC, T], id="not optimized anyway"),
        pytest.param({"exporter": "Dynamo"}, None, [D, S, U], id="pinned to Dynamo"),
        pytest.param({"exporter": "TorchScript"}, None, [SC, T], id="pinned to TorchScript"),
        pytest.param({"opset": 13}, None, [SC, T, D, S, U], id="old opset: TorchScript first"),
        pytest.param({"opset": 23}, None, [D, S, U], id="new opset: only Dynamo"),
        pytest.param({}, Format.TORCH_SCRIPT, [SC], id="an archive is a script"),
        pytest.param({}, Format.EXPORTED_PROGRAM, [D, S, U], id="an ExportedProgram"),
    ],
)
def test_order(export: dict[str, Any], checkpoint: Format | None, expected: list[Rung]) -> None:
    assert climb(export, checkpoint) == expected


@pytest.mark.parametrize(
    ("export", "attempts", "expected"),
    [
        pytest.param({}, [], 4, id="those that need no reason"),
        pytest.param({"exporter": "TorchScript"}, [], 2, id="pinned"),
        pytest.param({}, [failed(D, CAPTURE)], 5, id="a failure allows another one"),
        pytest.param({}, [failed(D, UNSUPPORTED)], 3, id="a failure excludes others"),
        pytest.param({}, [failed(D, CAPTURE, deferred=True)], 5, id="deferred, and tried again"),
    ],
)
def test_how_many_attempts_are_possible(
    export: dict[str, Any], attempts: list[Attempt], expected: int
) -> None:
    spec = spec_for("m:b", export=export)
    assert possible_attempts(spec, Format.STATE_DICT, attempts) == expected


def test_a_deferred_route_has_its_turn_at_last() -> None:
    attempts = [failed(D, CAPTURE, deferred=True), failed(SC, CAPTURE), failed(T, MISMATCH)]
    assert next_step(spec_for("m:b"), None, attempts) == Step(D, force=True)
    attempts.append(failed(D, CAPTURE))
    assert next_step(spec_for("m:b"), None, attempts) == Step(S, force=True)


def test_the_most_informative_failure_is_reported() -> None:
    attempts = [failed(D, CAPTURE), failed(SC, Reason.CONVERSION_FAILED), failed(T, UNSUPPORTED)]
    assert most_informative(SPEC, attempts) is attempts[2]
    assert summary(attempts) == (
        "Dynamo: CaptureFailed; Script: ConversionFailed; Trace: UnsupportedOperator"
    )
    assert summary(attempts[:1]) == ""


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        pytest.param([failed(D, MISMATCH), failed(SC, CAPTURE)], 0, id="code that cannot compile"),
        pytest.param([failed(D, CAPTURE), failed(T, MISMATCH)], 0, id="data-dependent, then baked"),
        pytest.param([failed(D, CAPTURE), failed(SC, UNSUPPORTED)], 0, id="operators of a script"),
        pytest.param(
            [failed(D, Reason.RUNTIME_FAILED), failed(T, Reason.CONTRACT_VIOLATED)], 1, id="ranked"
        ),
        pytest.param(
            [failed(D, MISMATCH), failed(T, UNSUPPORTED)], 0, id="an operator that Dynamo has"
        ),
        pytest.param(
            [failed(D, MISMATCH), failed(S, NARROWED)], 1, id="wrong at sizes that were fixed"
        ),
        pytest.param(
            [failed(D, MISMATCH, differs_at_any_size=True), failed(S, NARROWED)],
            0,
            id="wrong whatever the sizes",
        ),
        pytest.param(
            [
                failed(D, MISMATCH, differs_at_any_size=True, holds_for_some_sizes=True),
                failed(S, NARROWED),
            ],
            1,
            id="wrong, and for a part of the sizes",
        ),
        pytest.param(
            [failed(D, Reason.CONVERSION_FAILED), failed(S, NARROWED)], 0, id="captured, as open"
        ),
        pytest.param(
            [failed(T, MISMATCH, differs_at_any_size=True), failed(D, NARROWED)],
            1,
            id="a trace fixes sizes silently",
        ),
    ],
)
def test_what_is_more_informative(attempts: list[Attempt], expected: int) -> None:
    assert most_informative(SPEC, attempts) is attempts[expected]


@pytest.mark.parametrize(
    ("support", "expected"), [(Support.DECOMPOSABLE, 0), (Support.NEEDS_PLUGIN, 1)]
)
def test_an_operator_that_the_other_route_translates_is_not_the_obstacle(
    support: Support, expected: int
) -> None:
    trace = failed(T, UNSUPPORTED)
    assert trace.failure is not None
    ops = [UnsupportedOp(name="aten::bincount.default", support=support)]
    trace = replace(trace, failure=trace.failure.model_copy(update={"ops": ops}))
    attempts = [failed(D, CAPTURE), trace]
    assert most_informative(SPEC, attempts) is attempts[expected]


def test_an_opset_that_is_too_old_for_a_route_is_reported_last() -> None:
    old = spec_for("m:b", export={"opset": 9})
    attempts = [
        failed(SC, CAPTURE),
        failed(T, UNSUPPORTED),
        failed(D, Reason.CONTRACT_VIOLATED),
        failed(U, Reason.CONTRACT_VIOLATED),
    ]
    assert most_informative(old, attempts) is attempts[1]
    assert most_informative(old, attempts[:1] + attempts[2:]) is attempts[0]


def test_a_failure_that_ended_the_ladder_is_reported() -> None:
    attempts = [failed(D, UNSUPPORTED), failed(SC, Reason.OUT_OF_MEMORY)]
    assert most_informative(SPEC, attempts) is attempts[1]


def test_an_attempt_leaves_time_to_the_others() -> None:
    assert attempt_deadline(100.0, 300.0) == 200.0


def test_graphs_for_parts_of_sizes_need_dims_of_their_own() -> None:
    derived = spec_for(
        "m:build",
        inputs=[{"name": "x", "shape": ["n", "n - 1"]}],
        dims={"n": {"min": 2, "max": 9}},
    )
    attempts = [failed(D, NARROWED), failed(S, CAPTURE), failed(SC, CAPTURE)]
    assert next_step(SPEC, Format.STATE_DICT, attempts) == Step(B)
    assert next_step(derived, Format.STATE_DICT, attempts) != Step(B)


@pytest.mark.parametrize(
    ("asked", "attempts", "advised"),
    [
        pytest.param({"exporter": "TorchScript"}, [failed(T, MISMATCH)], True, id="one is left"),
        pytest.param({"exporter": "Dynamo"}, [failed(D, UNSUPPORTED)], True, id="the older one"),
        pytest.param({}, [failed(D, UNSUPPORTED), failed(SC, CAPTURE)], False, id="not asked for"),
        pytest.param(
            {"exporter": "Dynamo", "opset": 22},
            [failed(D, UNSUPPORTED)],
            False,
            id="no other route writes this opset",
        ),
        pytest.param(
            {"exporter": "Dynamo"},
            [failed(D, Reason.INPUTS_MISMATCH)],
            False,
            id="no route can mend it",
        ),
    ],
)
def test_other_routes_are_advised_where_they_are_not_tried(
    asked: dict[str, Any], attempts: list[Attempt], *, advised: bool
) -> None:
    spec = spec_for("m:build", export=asked)
    further = attempts if asked else [*attempts, failed(T, CAPTURE)]
    assert bool(other_routes(spec, Format.STATE_DICT, further)) == advised
