"""SHA256SUMS, in the format of sha256sum."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from modelexport_exporter.core.digests import sha256_file
from release.errors import ReleaseError

NAME = "SHA256SUMS"


def of(root: Path, *, without: Iterable[str] = ()) -> dict[str, str]:
    """The sha256 of each file below ROOT by its path."""
    excluded = set(without)
    files = sorted(path for path in root.rglob("*") if path.is_file())
    names = [path.relative_to(root).as_posix() for path in files]
    return {name: sha256_file(root / name) for name in names if name not in excluded}


def text(sums: dict[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))


def parse(content: str) -> dict[str, str]:
    """Read what `text` wrote."""
    rows = [line.split("  ", 1) for line in content.splitlines()]
    if malformed := [row for row in rows if len(row) != len(("digest", "name"))]:
        raise ReleaseError("SumsMalformed", f"{NAME} has {malformed[0]}; expected 'digest  name'")
    return {name: digest for digest, name in rows}


def differences(said: dict[str, str], found: dict[str, str]) -> list[str]:
    """What is not as SAID, a sentence each."""
    return [
        *(f"{name} is missing" for name in sorted(said.keys() - found.keys())),
        *(f"{name} is not in the list" for name in sorted(found.keys() - said.keys())),
        *(
            f"{name} has sha256 {found[name]}, expected {said[name]}"
            for name in sorted(said.keys() & found.keys())
            if said[name] != found[name]
        ),
    ]
