"""docs/reasons.md has every reason, below its exit code, with a cause and a remedy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from modelexport_api.reasons import EXIT_CODES, ExitCode, Reason

PAGE = (Path(__file__).parents[3] / "docs" / "reasons.md").read_text()
_PARTS = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)[1:]
SECTIONS = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))
_CODE = re.compile(r": exit code (\d+)$")


def headings(text: str) -> list[str]:
    return re.findall(r"^### (\w+)$", text, re.MULTILINE)


def test_every_reason_has_a_heading_of_its_own() -> None:
    named = headings(PAGE)
    assert sorted(named) == sorted(reason.value for reason in Reason)


@pytest.mark.parametrize("title", SECTIONS)
def test_reasons_are_below_their_exit_code(title: str) -> None:
    code = _CODE.search(title)
    expected = ExitCode(int(code[1])) if code else None
    assert {EXIT_CODES.get(Reason(name)) for name in headings(SECTIONS[title])} == {expected}


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_has_a_cause_and_a_remedy(reason: Reason) -> None:
    text = PAGE.partition(f"### {reason.value}\n")[2].partition("\n#")[0]
    sentences = re.findall(r"[.](?:\s|$)", text)
    # What may pass when it runs again has no remedy but to wait.
    least = 1 if EXIT_CODES.get(reason) is ExitCode.RETRYABLE else 2
    assert len(sentences) >= least, text
    assert len(text.splitlines()) <= 6
