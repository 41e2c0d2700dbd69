from __future__ import annotations

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.cgroup import Memory
from modelexport_exporter.isolation.death import Death, explain

CALM = Memory(4 << 30, 1 << 30, 0)
KILLED = Memory(4 << 30, 4 << 30, 1)


def death(
    exit_code: int | None, *, in_factory: bool = False, after: Memory = CALM, output: str = ""
) -> Death:
    lines = (output,) if output else ()
    return Death(exit_code, Stage.CAPTURE, in_factory, CALM, after, lines)


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        pytest.param(death(-9, after=KILLED), Reason.OUT_OF_MEMORY, id="kernel"),
        pytest.param(
            death(-9, after=KILLED, in_factory=True), Reason.OUT_OF_MEMORY, id="kernel in factory"
        ),
        pytest.param(death(-9), Reason.WORKER_DIED, id="killed from outside"),
        pytest.param(death(-11), Reason.WORKER_DIED, id="segfault"),
        pytest.param(
            death(-11, after=KILLED),
            Reason.WORKER_DIED,
            id="segfault while another process is killed for memory",
        ),
        pytest.param(death(-11, in_factory=True), Reason.FACTORY_FAILED, id="segfault in factory"),
        pytest.param(death(0, in_factory=True), Reason.FACTORY_FAILED, id="exit 0 in factory"),
        pytest.param(death(-9, in_factory=True), Reason.WORKER_DIED, id="killed in factory"),
        pytest.param(
            death(255, in_factory=True), Reason.WORKER_DIED, id="fork server killed in factory"
        ),
        pytest.param(death(0), Reason.CAPTURE_FAILED, id="exit 0 in forward"),
        pytest.param(death(255), Reason.WORKER_DIED, id="unobserved exit"),
        pytest.param(death(None), Reason.WORKER_DIED, id="unknown"),
    ],
)
def test_reason_of_a_death(what: Death, reason: Reason) -> None:
    assert explain(what).reason is reason


def test_out_of_memory_message_has_limit_and_peak() -> None:
    assert "limit 4.00 GiB, peak 4.00 GiB" in explain(death(-9, after=KILLED)).message


def test_message_has_the_last_output() -> None:
    assert "Fatal Python error" in explain(death(-6, output="Fatal Python error: x")).message
