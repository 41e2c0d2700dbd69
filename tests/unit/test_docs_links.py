"""The documentation leads somewhere: links, anchors, pictures, files and make targets exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "tests" / "README.md"])
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_REFERENCE = re.compile(r"\]\[([\w-]+)\]")
_PICTURE = re.compile(r'(?:src|srcset)="([^"]+)"')
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.py)`")
_TARGET = re.compile(r"(?:^|`|&& |\$ )make ([a-z][a-z-]+)\b", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def links(page: Path) -> Iterator[str]:
    """Yield the targets of a page's links that stay inside the repository."""
    text = _CODE.sub("", page.read_text())
    for target in [*_LINK.findall(text), *_PICTURE.findall(text)]:
        if "://" not in target and not target.startswith("mailto:"):
            yield target


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in _HEADING.findall(text))
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in plain
    )


def problem(page: Path, target: str) -> str | None:
    """Return why a link leads nowhere."""
    path, _, anchor = target.partition("#")
    found = (page.parent / path).resolve() if path else page
    if not found.is_relative_to(ROOT) or not found.exists():
        return f"{target}: no such file"
    if anchor and anchor not in anchors(found):
        return f"{target}: {found.name} has no such heading"
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_resolves(page: Path) -> None:
    problems = [found for target in links(page) if (found := problem(page, target))]
    assert not problems


def test_the_index_leads_to_every_page() -> None:
    reached: set[Path] = set()
    pending = [ROOT / "docs" / "index.md"]
    while pending:
        page = pending.pop()
        if page in reached or not page.is_relative_to(ROOT / "docs"):
            continue
        reached.add(page)
        targets = (target.partition("#")[0] for target in links(page))
        pending += [(page.parent / path).resolve() for path in targets if path.endswith(".md")]
    assert not set((ROOT / "docs").rglob("*.md")) - reached


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_is_named_exists(page: Path) -> None:
    """Files are named by the end of their path: `pipeline/ladder.py`."""
    assert [name for name in _FILE.findall(page.read_text()) if name not in _endings()] == []


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    code = (part for page in PAGES for part in _CODE.findall(page.read_text()))
    assert {name for part in code for name in _TARGET.findall(part)} <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_reference_is_defined(page: Path) -> None:
    text = _CODE.sub("", page.read_text())
    defined = re.findall(r"^\[([\w-]+)\]: \S+$", text, re.MULTILINE)
    assert set(_REFERENCE.findall(text)) == set(defined)


@cache
def _endings() -> frozenset[str]:
    folders = (
        "api",
        "operator",
        "exporter",
        "cli",
        "tests",
        "benchmarks",
        "examples",
        "requirements",
    )
    paths = [path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return frozenset("/".join(path.parts[cut:]) for path in paths for cut in range(len(path.parts)))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("a.md", None),
        ("a.md#two-words", None),
        ("#what-it-isnt", None),
        ("b.md", "b.md: no such file"),
        ("a.md#three", "a.md#three: a.md has no such heading"),
    ],
)
def test_a_broken_link_is_found(
    target: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page = tmp_path / "a.md"
    page.write_text("# Two words\n```sh\n# three\n```\n## What it isn't\n")
    assert problem(page, target) == expected
