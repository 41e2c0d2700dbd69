from __future__ import annotations

import json
from typing import Any

import pytest

from modelexport_cli.cluster.log_text import from_status, readable
from unit.cli.cluster.objects import condition, export, failed, progress


def line(**fields: Any) -> str:  # noqa: ANN401
    entry = {"time": "2026-01-02T03:04:05.678+00:00", "level": "info", "message": "m", **fields}
    return json.dumps(entry)


SHARE = {"share": 0, "batchTotal": 9, "shareTotal": 5, "succeeded": 2, "failed": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch says hello", "torch says hello"),
        ('{"not": "ours"}', '{"not": "ours"}'),
        (line(), "03:04:05  m"),
        (line(level="warning"), "03:04:05  warning: m"),
        (line(progress=progress("Load", 22, "x")), "03:04:05   22 %  Load      x"),
        (line(progress=progress("Publish", 100)), "03:04:05  100 %  Publish"),
        (
            line(progress=progress("Load", 22, "x"), share=SHARE),
            "03:04:05  2 verified, 1 failed of 5  m",
        ),
    ],
)
def test_a_line_for_people(text: str, expected: str) -> None:
    assert readable(text) == expected


def test_what_a_status_holds() -> None:
    assert list(from_status(failed())) == [
        "03:04:05  Failed True (VerificationFailed): it differs",
        "hint: do so",
    ]
    assert list(from_status(export({"conditions": [condition("Complete")]}))) == [
        "03:04:05  Complete True"
    ]


def test_conditions_for_tools_repeat_nothing() -> None:
    found = [condition("Ready"), condition("Finished", reason="Complete"), condition("Complete")]
    assert list(from_status(export({"conditions": found}))) == ["03:04:05  Complete True"]
