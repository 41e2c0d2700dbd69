"""The generated pages are those that the types and the parser give."""

from __future__ import annotations

from pathlib import Path

import pytest

from documentation import command_line
from documentation.__main__ import PAGES
from modelexport_api.reasons import ExitCode
from modelexport_cli.main import parser


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_is_up_to_date(path: Path) -> None:
    assert path.read_text() == PAGES[path](), "run make reference"


def test_every_command_is_described() -> None:
    named = [command.prog for command in command_line.commands(parser())]
    page = command_line.page()
    assert "modelexport export" in named
    assert all(f"\n## {name}\n" in page for name in named)


def test_every_exit_code_is_described() -> None:
    page = command_line.page().partition("## Exit codes")[2]
    assert all(f"| {code.value} | " in page for code in ExitCode)
