"""Links of pages into the repository lead to pages of the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from documentation.navigation import navigation
from documentation.repository import linked, page_of, rewritten


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docs/start.md", "start.md"),
        ("docs/adr/README.md", "adr/README.md"),
        ("CONTRIBUTING.md", "repository/CONTRIBUTING.md"),
        ("api/spec.py", "repository/api/spec.py.md"),
    ],
)
def test_where_a_file_is(path: str, expected: str) -> None:
    assert page_of(path) == expected


@pytest.mark.parametrize(
    ("place", "text", "expected"),
    [
        ("docs/a.md", "[b](b.md#c)", "[b](b.md#c)"),
        ("docs/a.md", "[b](../api/b.py)", "[b](repository/api/b.py.md)"),
        ("docs/adr/1.md", "[b](../../B.md#c)", "[b](../repository/B.md#c)"),
        ("CONTRIBUTING.md", "[b](docs/a.md)", "[b](../a.md)"),
        ("tests/README.md", "[b](../SECURITY.md)", "[b](../SECURITY.md)"),
        ("docs/a.md", "![b](pictures/b.svg)", "![b](pictures/b.svg)"),
        ("docs/a.md", "[b](https://example.com/b.py)", "[b](https://example.com/b.py)"),
        ("docs/a.md", "[b](#here)", "[b](#here)"),
        ("docs/a.md", "`[b](../c.py)`", "`[b](../c.py)`"),
        ("docs/a.md", "```\n[b](../c.py)\n```", "```\n[b](../c.py)\n```"),
    ],
)
def test_links(place: str, text: str, expected: str) -> None:
    assert rewritten(text, place) == expected


def test_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "code").mkdir()
    (tmp_path / "docs" / "a.md").write_text("[b](../B.md), [gone](../C.md)")
    (tmp_path / "B.md").write_text("[code](code), [one](code/one.py), [a](docs/a.md)")
    (tmp_path / "code" / "one.py").write_text("x = 1\n")
    found = linked(tmp_path, ["docs/a.md"])
    assert sorted(found) == ["B.md", "code", "code/one.py"]
    assert "````python\nx = 1\n````" in found["code/one.py"]
    assert "- `one.py`" in found["code"]


def test_the_navigation_is_the_index() -> None:
    index = "# T\n\nText\n\n## One\n- [A](a.md)\n- [B](b/c.md): about\n\n## Two\n- [D](../D.md)\n"
    assert navigation(index) == [
        {"Home": "index.md"},
        {"One": [{"A": "a.md"}, {"B": "b/c.md"}]},
        {"Two": []},
    ]
