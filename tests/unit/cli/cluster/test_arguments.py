from __future__ import annotations

import argparse

import pytest

from modelexport_cli.cluster.arguments import seconds
from modelexport_cli.main import main


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90", 90), ("0.5", 0.5), ("90s", 90), ("10m", 600), ("1h30m", 5400), ("1h0m5s", 3605)],
)
def test_durations(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "x", "-1", "10 m", "1d", "nan", "inf", "m"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="such as 90"):
        seconds(text)


@pytest.mark.parametrize("prog", ["modelexport", "kubectl modelexport"])
def test_help_shows_the_command_as_it_was_called(
    prog: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["submit", "--help"], prog)
    out = capsys.readouterr().out
    assert f"usage: {prog} submit" in out
    assert f"  {prog} submit modelexport.yaml --wait" in out
