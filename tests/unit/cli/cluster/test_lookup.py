from __future__ import annotations

import pytest

from modelexport_cli.cluster.lookup import describe_known


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("digit", ["digits", "minilm"], "Did you mean digits?"),
        ("x", ["digits", "minilm"], "Namespace team has: digits, minilm."),
        ("x", [f"name-{n:02}" for n in range(10)], "name-07 and 2 more."),
        ("x", [], "Namespace team has no ModelExport"),
        ("x", None, "Check the name"),
    ],
)
def test_names_that_are_like_it(name: str, known: list[str] | None, expected: str) -> None:
    assert expected in describe_known(name, known, "team")
