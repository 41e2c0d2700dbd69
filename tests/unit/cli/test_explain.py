"""`modelexport explain`: every reason, from the page that the site has."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_cli.explain import explanations, first_sentence
from modelexport_cli.main import main

PAGE = Path(__file__).parents[3] / "docs" / "reasons.md"


def test_every_reason_of_an_export_is_explained() -> None:
    found = explanations(PAGE.read_text())
    assert set(Reason) - {Reason(name) for name in found if name in set(Reason)} == set()
    assert all(len(text.split()) > 8 for text in found.values())
    assert all("](" not in text and "`" not in text for text in found.values())


def test_an_explanation_ends_with_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "VerificationFailed"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("VerificationFailed\n\nonnxruntime computes something else")
    assert printed.endswith("\n\nExit code 15.\n")


def test_without_a_reason_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(explanations(PAGE.read_text()))
    assert "NothingMatched          The glob of a batch matches no checkpoint." in lines


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ("VerificationFaild", "did you mean `VerificationFailed`?"),
        ("outofmemory", "did you mean `OutOfMemory`?"),
        ("Sunshine", "all are listed by: modelexport explain"),
    ],
)
def test_an_unknown_reason(given: str, answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", given]) == 2
    assert capsys.readouterr().err == f"there is no reason {given}; {answer}\n"


def test_the_first_sentence_keeps_names_with_dots() -> None:
    assert first_sentence("spec.x names\na file. Correct it.") == "spec.x names a file."
