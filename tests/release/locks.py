"""The packages in a lock (requirements/*.txt as uv writes them), with their hashes and markers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker
from packaging.utils import canonicalize_name

from release.errors import ReleaseError

_PIN = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)\s*(?:;\s*(?P<marker>.*?))?\s*"
    r"(?P<hashes>(?:--hash=sha256:[0-9a-f]{64}\s*)+)"
)
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
"""What images run on."""


@dataclass(frozen=True)
class Pin:
    """One package of a lock."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    """sha256 of every file that the installer may take."""

    def on_linux(self) -> bool:
        """Whether the package is for Linux with this interpreter and processor."""
        return not self.marker or Marker(self.marker).evaluate(dict(LINUX))

    def requirement(self) -> str:
        """The pin as a line of a requirements file, without its marker."""
        return " ".join(
            [f"{self.name}=={self.version}", *(f"--hash=sha256:{h}" for h in self.hashes)]
        )


def read(lock: Path) -> list[Pin]:
    """The pins of LOCK in the order of their names; a line without a hash stops the release."""
    text = lock.read_text().replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    return sorted(
        (_pin(line, lock) for line in lines if line and not line.startswith("#")),
        key=lambda pin: (pin.name, pin.version),
    )


def _pin(line: str, lock: Path) -> Pin:
    found = _PIN.fullmatch(line)
    if not found:
        raise ReleaseError(
            "LockNotPinned",
            f"{lock.name} has {line[:80]!r}; expected name==version with --hash=sha256:…. "
            "Write the lock with `make lock`.",
        )
    return Pin(
        name=canonicalize_name(found["name"]),
        version=found["version"],
        marker=found["marker"] or "",
        hashes=tuple(re.findall(r"sha256:([0-9a-f]{64})", found["hashes"])),
    )
