"""A failure names the line of the model that caused it, and how it is better written."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import (
    ExportFailure,
    Incurable,
    NotDeterministic,
    VaryingOutputs,
)
from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.enrich import enrich

BRANCH = Pitfall(PitfallKind.DATA_BRANCH, "`if x > 0` decides", "m.py:3", "Write torch.where.")
LOOP = Pitfall(PitfallKind.SIZE_LOOP, "`for row in x` runs", "m.py:7", "Compute all rows.")
BAKED = Pitfall(PitfallKind.BAKED, "gives other outputs", "m.py:7", "Keep to tensors.")
DRAWN = Pitfall(PitfallKind.NOT_DETERMINISTIC, "draws numbers", "m.py:9", "Take them.")
UNLIKE = Pitfall(PitfallKind.NOT_DETERMINISTIC, "two calls differ", "", "Look for a clock.")
NOISE = Pitfall(PitfallKind.RANDOM, "`torch.randn(3)` draws", "m.py:9", "Take it as an input.")


@pytest.mark.parametrize(
    ("reason", "source", "pitfalls", "causes"),
    [
        (Reason.CAPTURE_FAILED, "m.py:3", [LOOP, BRANCH], [BRANCH]),
        (Reason.CAPTURE_FAILED, "other.py:3", [NOISE], []),
        (Reason.DYNAMIC_DIM_SPECIALIZED, "", [BRANCH, LOOP], [LOOP]),
        (Reason.DYNAMIC_DIM_SPECIALIZED, "m.py:7", [BRANCH, LOOP], [LOOP]),
        (Reason.DYNAMIC_DIM_SPECIALIZED, "m.py:5", [BRANCH, LOOP], []),
        (Reason.DYNAMIC_DIM_SPECIALIZED, "m.py:5", [LOOP, BAKED], [LOOP]),
        (Reason.VERIFICATION_FAILED, "", [BRANCH, BAKED, LOOP], [LOOP]),
        (Reason.VERIFICATION_FAILED, "", [BRANCH, NOISE], [BRANCH, NOISE]),
        (Reason.RUNTIME_FAILED, "", [NOISE, LOOP], [LOOP]),
        (Reason.CONVERSION_FAILED, "", [NOISE], []),
        (Reason.OUT_OF_MEMORY, "m.py:3", [BRANCH], []),
        (Reason.UNSUPPORTED_OPERATOR, "m.py:3", [BRANCH], []),
    ],
)
def test_which_lines_are_blamed(
    reason: Reason, source: str, pitfalls: list[Pitfall], causes: list[Pitfall]
) -> None:
    message, sources = f"stopped at {source}", (source,) if source else ()
    enriched = enrich(ExportFailure(reason, message, "Hint.", sources=sources), pitfalls)
    for pitfall in pitfalls:
        assert (pitfall.suggestion in enriched.hint) == (pitfall in causes)
        assert (pitfall.message in enriched.message) == (pitfall in causes)
    assert enriched.hint.endswith("Hint.")
    leads = reason is Reason.CAPTURE_FAILED and causes and causes[0].source not in sources
    assert enriched.message.startswith(causes[0].source if leads else message)


def test_quantized_parts_explain_what_torch_met_and_not_what_differs() -> None:
    quantized = Pitfall(PitfallKind.QUANTIZED, "fc: quantized", "", "Return the float model.")
    captured = enrich(ExportFailure(Reason.CAPTURE_FAILED, "no field", "Rewrite."), [quantized])
    assert (captured.message, captured.hint) == ("fc: quantized", "Return the float model.")
    differs = ExportFailure(Reason.VERIFICATION_FAILED, "off by 0.01", "Set tolerance.")
    assert enrich(differs, [quantized]).message == "off by 0.01. Cause: fc: quantized"


def test_threads_are_told_without_what_torch_met_instead() -> None:
    thread = Pitfall(PitfallKind.THREAD, "computes in threads", "m.py:5", "One after the other.")
    failure = ExportFailure(Reason.CAPTURE_FAILED, "False, True", "No numpy.", sources=("m.py:3",))
    enriched = enrich(failure, [BRANCH, thread])
    assert enriched.message == "m.py:5: computes in threads"
    assert enriched.hint == "m.py:5: One after the other."
    assert enriched.pitfalls == (thread,)


@pytest.mark.parametrize("sources", [(), ("m.py:3",)])
def test_outputs_that_vary_are_blamed_on_decisions(sources: tuple[str, ...]) -> None:
    failure = VaryingOutputs(Reason.CONTRACT_VIOLATED, "1 and 2", "Return.", sources=sources)
    enriched = enrich(failure, [NOISE, BRANCH])
    assert isinstance(enriched, VaryingOutputs)
    assert enriched.message == "1 and 2. Cause: m.py:3: `if x > 0` decides"


@pytest.mark.parametrize("reason", [Reason.VERIFICATION_FAILED, Reason.ILL_CONDITIONED])
@pytest.mark.parametrize(
    ("pitfalls", "first", "left_out"),
    [
        ([DRAWN, BRANCH], "m.py:9: draws numbers", BRANCH),
        ([NOISE, UNLIKE], "m.py:9: `torch.randn(3)` draws", UNLIKE),
        ([UNLIKE, LOOP], "two calls differ", LOOP),
    ],
)
def test_random_numbers_lead_and_end_the_ladder(
    reason: Reason, pitfalls: list[Pitfall], first: str, left_out: Pitfall
) -> None:
    enriched = enrich(ExportFailure(reason, "y differs", "Hint.", stage=Stage.VERIFY), pitfalls)
    assert isinstance(enriched, Incurable)
    assert enriched.reason is Reason.VERIFICATION_FAILED
    assert enriched.stage is Stage.VERIFY
    assert enriched.message.startswith(first)
    assert enriched.message.endswith("y differs")
    assert left_out.message not in enriched.message
    assert "Hint." not in enriched.hint, "it is general, and the cause has its own"


def test_a_derivative_is_told_all_there_is_to_do() -> None:
    derivative = Pitfall(PitfallKind.GRADIENT, "takes a derivative", "m.py:3", "Write a formula.")
    failure = ExportFailure(Reason.CAPTURE_FAILED, "cannot capture", "Use torch operators only.")
    assert enrich(failure, [derivative]).hint == "m.py:3: Write a formula."


def test_a_failure_stays_what_it_is() -> None:
    failure = NotDeterministic(Reason.VERIFICATION_FAILED, "y differs", "Hint.", stage=Stage.VERIFY)
    enriched = pickle.loads(pickle.dumps(enrich(failure, [NOISE])))
    assert type(enriched) is NotDeterministic
    assert enriched.stage is Stage.VERIFY
    assert "m.py:9" in enriched.message
    assert failure.message == "y differs"


def test_without_pitfalls_nothing_changes() -> None:
    failure = ExportFailure(Reason.CAPTURE_FAILED, "m", "h")
    assert enrich(failure, []) is failure


@given(message=st.text(max_size=4000), hint=st.text(max_size=2000), count=st.integers(1, 9))
def test_limits_are_kept_and_the_cause_is_named(message: str, hint: str, count: int) -> None:
    failure = ExportFailure(Reason.VERIFICATION_FAILED, message, hint)
    described = enrich(failure, [LOOP] * count).describe()
    assert LOOP.message in described.message
    assert LOOP.suggestion in described.hint
