"""Files outside of docs/ that pages link to: each becomes a page of the site, as the site has no
repository to link into. Pure, but for reading the files.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

FOLDER = "repository"
"""Of the site, for the pages of such files."""

_LINK = re.compile(r"(\]\()([^()\s#]+)((?:#[^()\s]*)?\))")
_CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".toml": "toml", ".json": "json", ".sh": "sh"}


def page_of(path: str) -> str:
    """Return the path in the site of a file of the repository; pages of docs/ keep their own."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"{FOLDER}/{path}" if path.endswith(".md") else f"{FOLDER}/{path}.md"


def targets(text: str, place: str) -> Iterator[str]:
    """Yield the paths in the repository that a text links to; `place`: the path of its file."""
    for part in _prose(text):
        for _, target, _ in _LINK.findall(part):
            if not _leaves_the_site(target):
                yield _resolved(target, place)


def rewritten(text: str, place: str) -> str:
    """Return the text with its links as they are in the site."""
    here = posixpath.dirname(page_of(place))

    def replace(found: re.Match[str]) -> str:
        begin, target, end = found.groups()
        path = "" if _leaves_the_site(target) else _resolved(target, place)
        if not path or _is_asset(path):
            return found.group()
        return f"{begin}{posixpath.relpath(page_of(path), here or '.')}{end}"

    parts = _CODE.split(text)
    return "".join(part if _CODE.fullmatch(part) else _LINK.sub(replace, part) for part in parts)


def linked(root: Path, pages: Iterable[str]) -> dict[str, str]:
    """Return path and text of each page to generate: what the pages link to, and what that does."""
    pending, made = list(pages), dict[str, str]()
    seen = set(pending)
    while pending:
        place = pending.pop()
        for path in targets(_text(root / place), place) if place.endswith(".md") else ():
            if path in seen or path.startswith("docs/") or not (root / path).exists():
                continue
            seen.add(path)
            made[path] = _page(root, path)
            pending.append(path)
    return made


def _page(root: Path, path: str) -> str:
    found = root / path
    if path.endswith(".md"):
        return _text(found)
    if found.is_dir():
        names = sorted(entry.name for entry in found.iterdir())
        listed = "\n".join(f"- `{name}`" for name in names if not name.startswith((".", "__")))
        return f"# {path}/\n\n{listed}\n"
    language = _LANGUAGES.get(found.suffix, "text")
    # Code is not searched for: it would hide the pages.
    return f"---\nsearch: {{exclude: true}}\n---\n# {path}\n\n````{language}\n{_text(found)}````\n"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _prose(text: str) -> Iterator[str]:
    return (part for part in _CODE.split(text) if not _CODE.fullmatch(part))


def _leaves_the_site(target: str) -> bool:
    return "://" in target or target.startswith("mailto:")


def _resolved(target: str, place: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(place), target))


def _is_asset(path: str) -> bool:
    return path.startswith("docs/") and not path.endswith(".md")
