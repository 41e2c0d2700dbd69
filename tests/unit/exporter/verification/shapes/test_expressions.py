"""Sizes that files declare as text."""

from __future__ import annotations

import pytest

from modelexport_exporter.verification.shapes.expressions import evaluate


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("n", 7),
        ("2*n", 14),
        ("n + 1", 8),
        ("((n + 1)//2)", 4),
        ("n//2 + m", 6),
        ("n*m", 21),
        ("n**2 - 1", 48),
        ("Max(1, n - 9)", 1),
        ("Mod(n, 4)", 3),
        ("floor(n/2)", 3),
        ("CeilToInt(n/2)", 4),
        ("-m + n", 4),
        ("batch.size", 9),
    ],
)
def test_expressions_of_dims(text: str, size: int) -> None:
    assert evaluate(text, {"n": 7, "m": 3, "batch.size": 9}) == size


@pytest.mark.parametrize(
    "text",
    [
        "u0",
        "unk__3",
        "Concatnew_state_dim_0",
        "n + u0",
        "n/2",
        "n//0",
        "n**999",
        "__import__('os')",
        "n.real",
        "[n for n in ()]",
        "Loopstate.30_dim_0",
        "?",
        "",
    ],
)
def test_other_text_is_a_name(text: str) -> None:
    assert evaluate(text, {"n": 7}) is None
