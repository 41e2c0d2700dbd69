"""A manifest as YAML for people: comments next to the values that were inferred; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from modelexport_api.yaml_text import dump, inline

_FLOW = {"shape", "range", "outputs"}
"""Lists that stand in one line."""
_ONE_LINE = float("inf")
_COLUMN = 44
"""Where comments begin, if the value leaves room."""


def manifest_text(document: Mapping[str, Any], comments: Mapping[str, str], head: str) -> str:
    """Return YAML that parses to the document. `comments`: by path in the spec, `inputs[0].shape`.

    `head`: the comment at the top.
    """
    lines = [f"# {line}" for line in head.splitlines()]
    lines += _Writer(comments).mapping(document, "", "")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Writer:
    """Writes values at their paths in the document."""

    comments: Mapping[str, str]

    def mapping(self, value: Mapping[str, Any], indent: str, path: str) -> Iterator[str]:
        """Yield the lines of a mapping."""
        for key, item in value.items():
            inner = f"{path}.{key}" if path else key
            head = f"{indent}{_flow(key)}:"
            comment = self.comments.get(inner.removeprefix("spec."), "")
            if isinstance(item, Mapping) and item and not _is_dim(item):
                yield _commented(head, comment)
                yield from self.mapping(item, f"{indent}  ", inner)
            elif isinstance(item, list) and item and key not in _FLOW:
                yield _commented(head, comment)
                for place, element in enumerate(item):
                    yield from self._element(element, f"{indent}  ", f"{inner}[{place}]")
            else:
                yield _commented(f"{head} {_scalar(item)}", comment)

    def _element(self, element: object, indent: str, path: str) -> Iterator[str]:
        if not isinstance(element, Mapping) or not element:
            yield f"{indent}- {_flow(element)}"
            return
        lines = list(self.mapping(element, f"{indent}  ", path))
        yield f"{indent}- {lines[0].lstrip()}"
        yield from lines[1:]


def _is_dim(item: Mapping[str, Any]) -> bool:
    return set(item) <= {"min", "max"}


def _commented(line: str, comment: str) -> str:
    return f"{line:<{_COLUMN}}  # {comment}" if comment else line


def _scalar(value: object) -> str:
    """Return a value behind its key: a plain scalar where it is in one line."""
    text = dump({"k": value}, width=_ONE_LINE).removeprefix("k: ").rstrip("\n")
    return text if isinstance(value, str) and "\n" not in text else _flow(value)


def _flow(value: object) -> str:
    """Return a value in one line: quoted where it would mean something else inside of a list."""
    return inline([value])[1:-1]
