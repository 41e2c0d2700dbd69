"""Which names a glob matches, by the rules of shells: pure.

`*`, `?` and `[abc]` match within a name and never a slash; `**` as a whole name matches any number
of directories; a pattern that ends in a slash matches directories. Every other character matches
itself, and so does one of these in brackets (`[*]`). Hidden names are matched like others.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from urllib.parse import unquote

from modelexport_api.types import is_glob

_DEEP = "**"
_ENCODED = {"%2a": "[*]", "%3f": "[?]", "%5b": "[[]"}
"""How a file:// URI encodes a character of a name that is special in a glob."""


@dataclass(frozen=True)
class Glob:
    """A pattern over the keys of a store."""

    pattern: str

    @property
    def wants_directories(self) -> bool:
        """Return whether the pattern matches directories, not objects."""
        return self.pattern.endswith("/")

    @property
    def prefix(self) -> str:
        """Return the prefix of every match."""
        return re.split(r"[*?\[]", self.pattern, maxsplit=1)[0]

    @property
    def depth(self) -> int | None:
        """Return how many directories below the prefix's own an object may be; None: any."""
        rest = self.pattern[len(self.prefix) :]
        if self.wants_directories or _DEEP in rest.split("/"):
            return None
        return rest.count("/")

    def matches(self, key: str) -> bool:
        """Return whether a key (of a directory: with its slash) matches."""
        if key.endswith("/") != self.wants_directories:
            return False
        return _matches(self._names, key.rstrip("/").split("/"))

    @property
    def _names(self) -> list[str]:
        names = self.pattern.rstrip("/").split("/")
        # At the end it has to match something, or a/** would match a, too.
        return [*names, "*"] if names[-1] == _DEEP else names


def of_uri(uri: str) -> tuple[str, Glob]:
    """Return the URI of a glob's store, and the glob over its keys."""
    if uri.startswith("file://"):
        # Not urlsplit: a question mark is part of the pattern.
        path = re.sub(
            r"%(2a|3f|5b)",
            lambda found: _ENCODED[found[0].lower()],
            uri.removeprefix("file://"),
            flags=re.IGNORECASE,
        )
        return "file:///", Glob(unquote(path))
    scheme, _, rest = uri.partition("://")
    bucket, _, pattern = rest.partition("/")
    return f"{scheme}://{bucket}/", Glob(pattern)


def names_store(uri: str) -> bool:
    """Return whether the store part of a URI has no pattern."""
    return not is_glob(of_uri(uri)[0])


def _matches(names: list[str], parts: list[str]) -> bool:
    """Match the parts in one pass over all possible positions in the pattern."""
    places = _with_skipped(names, {0})
    for part in parts:
        reached = {place for place in places if place < len(names) and names[place] == _DEEP}
        reached |= {
            place + 1
            for place in places
            if place < len(names)
            and names[place] != _DEEP
            and fnmatch.fnmatchcase(part, names[place])
        }
        places = _with_skipped(names, reached)
    return len(names) in places


def _with_skipped(names: list[str], places: set[int]) -> set[int]:
    """Add the positions after each `**`, since it may match nothing."""
    found = set(places)
    for place in sorted(places):
        after = place
        while after < len(names) and names[after] == _DEEP:
            after += 1
            found.add(after)
    return found
