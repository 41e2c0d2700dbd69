"""Names of outputs, made of what forward returns: keys and fields, else the place. Pure.

They do not depend on the route, on torch's version or on the node that computes an output.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

Path = tuple[str | int, ...]
"""Where an output is in what forward returns: a key or field as text, a position as number."""

_PREFIX = "output"
_OTHERS = re.compile(r"[^A-Za-z0-9_.]")
_LONGEST = 128
"""Of an identifier of the API."""


def output_names(
    paths: Sequence[Path], taken: Collection[str] = (), last: Sequence[str] = ()
) -> list[str]:
    """Return a name for each output, all different: `logits`, `past.0.key`, `output_1`.

    `taken`: names that no output may have, such as those of inputs. `last`: names of further
    outputs after these, which are kept.
    """
    short = [_short(path, place) for place, path in enumerate(paths)]
    often = Counter(short)
    full = [
        name if often[name] == 1 else _full(path) for path, name in zip(paths, short, strict=True)
    ]
    return [*_distinct(full, {*taken, *last}), *last]


def _short(path: Path, place: int) -> str:
    """Return the path from its first key on; without any, the place among all outputs."""
    first = next((at for at, step in enumerate(path) if isinstance(step, str)), None)
    return _valid(f"{_PREFIX}_{place}" if first is None else _joined(path[first:]))


def _full(path: Path) -> str:
    """Return the path with the positions that it begins with: `output_1.boxes`."""
    joined = _joined(path)
    return _valid(f"{_PREFIX}_{joined}" if path and isinstance(path[0], int) else joined)


def _joined(path: Path) -> str:
    return ".".join(map(str, path))


def _valid(name: str) -> str:
    """Return the name with the characters of an identifier only."""
    plain = _OTHERS.sub("_", name)
    if not re.match(r"[A-Za-z_]", plain):
        plain = f"{_PREFIX}_{plain}"
    return plain[:_LONGEST]


def _distinct(names: Iterable[str], taken: Collection[str]) -> list[str]:
    used = set(taken)
    found: list[str] = []
    for name in names:
        own = name if name not in taken else f"{_PREFIX}_{name}"[:_LONGEST]
        number = 2
        while own in used:
            end = f"_{number}"
            own = f"{name[: _LONGEST - len(end)]}{end}"
            number += 1
        used.add(own)
        found.append(own)
    return found
