"""Licences of the packages in a lock, from their own metadata.

A package that the development environment lacks, or has in another version, is fetched by its hash
for its metadata alone.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from release.errors import ReleaseError
from release.locks import Pin

_TEXTS = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "EULA", "THIRD")
_CODE = (".py", ".pyc", ".pyi", ".so")
_LONGEST_NAME = 100
"""A `License` field of more characters is a text, not a name."""


@dataclass(frozen=True)
class Notice:
    """What one package says about its licence."""

    name: str
    version: str
    licence: str
    texts: tuple[tuple[str, str], ...]
    """Names and contents of the licence files in the package, wherever they are."""


def collect(pins: Sequence[Pin], work: Path) -> list[Notice]:
    """A notice for each of PINS that is for Linux."""
    wanted = [pin for pin in pins if pin.on_linux()]
    found = _installed(distributions())
    missing = [pin for pin in wanted if (pin.name, pin.version) not in found]
    if missing:
        found |= _installed(distributions(path=[str(_fetch(missing, work))]))
    absent = [f"{p.name}=={p.version}" for p in wanted if (p.name, p.version) not in found]
    if absent:
        raise ReleaseError(
            "LicenceNotRead", f"no metadata of {', '.join(absent)}; run `make setup`"
        )
    return [_notice(pin, found[pin.name, pin.version]) for pin in wanted]


def page(notices: Iterable[Notice]) -> str:
    """THIRD_PARTY_NOTICES.txt."""
    ordered = sorted({(n.name, n.version): n for n in notices}.items())
    lines = ["Third-party software in the images of ModelExport", ""]
    lines += [f"{n.name} {n.version}: {n.licence}" for _, n in ordered]
    for _, notice in ordered:
        lines += ["", "=" * 79, f"{notice.name} {notice.version}", f"Licence: {notice.licence}"]
        for name, text in notice.texts:
            lines += ["-" * 79, name, "", text.strip()]
        if not notice.texts:
            lines += ["The package has no licence file."]
    return "\n".join(lines) + "\n"


def licence(fields: Mapping[str, Sequence[str]]) -> str:
    """The licence's name in the metadata FIELDS: an expression, else a name, else classifiers."""
    if expression := fields.get("License-Expression"):
        return expression[0]
    named = next(iter(fields.get("License", ())), "").strip()
    if named and named != "UNKNOWN" and "\n" not in named and len(named) <= _LONGEST_NAME:
        return named
    classifiers = [c for c in fields.get("Classifier", ()) if c.startswith("License ::")]
    if classifiers:
        return ", ".join(c.rpartition(" :: ")[2] for c in classifiers)
    return "not named in its metadata"


def _notice(pin: Pin, distribution: Distribution) -> Notice:
    names = ("License-Expression", "License", "Classifier")
    fields = {name: distribution.metadata.get_all(name) or [] for name in names}
    return Notice(pin.name, pin.version, licence(fields), tuple(_texts(distribution)))


def _texts(distribution: Distribution) -> Iterable[tuple[str, str]]:
    for file in sorted(distribution.files or [], key=str):
        path = PurePosixPath(str(file))
        if path.name.upper().startswith(_TEXTS) or "licenses" in path.parts:
            if path.suffix in _CODE:
                continue
            content = Path(str(file.locate())).read_bytes().decode(errors="replace")
            yield str(path), "\n".join(content.splitlines())


def _installed(found: Iterable[Distribution]) -> dict[tuple[str, str], Distribution]:
    return {(canonicalize_name(d.metadata["Name"]), d.version): d for d in found}


def _fetch(pins: Sequence[Pin], work: Path) -> Path:
    """Install PINS, and nothing that they need, into a directory of their own."""
    target, lock = work / "packages", work / "missing.txt"
    lock.write_text("\n".join(pin.requirement() for pin in pins) + "\n")
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps"]
    command += ["--target", str(target), "--require-hashes", "-r", str(lock)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError("LicenceNotRead", done.stderr.strip())
    return target
