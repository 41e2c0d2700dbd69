"""Which strings of an ExportedProgram are arithmetic, and which could be anything."""

from __future__ import annotations

import pytest

from modelexport_exporter.checkpoint.exported_program_archive import is_plain_expression


@pytest.mark.parametrize(
    "text",
    [
        "Symbol('s77', positive=True, integer=True)",
        "Mul(Integer(2), Symbol('s77', integer=True))",
        "2*s0 + 1",
        "((s0 - 1)//2) + 1",
        "Max(1, FloorDiv(s1, 2))",
        "L['x'].size()[0] == L['y'].size()[0]",
        "L['args'][0].size()[1] <= 64",
        "Float('0.5', precision=53)",
    ],
)
def test_arithmetic(text: str) -> None:
    assert is_plain_expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('id')",
        "eval(chr(49))",
        "s0.__class__",
        "().real",
        "open('/etc/passwd')",
        "L['x'].numpy()",
        "Symbol('s0').func",
        "exit(1)",
        "[print(1)]",
        "s0 if s1 else exit (1)",
    ],
)
def test_anything_else(text: str) -> None:
    assert not is_plain_expression(text)
