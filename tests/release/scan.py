"""Known vulnerabilities of the system packages in a base: those that its distribution has mended.

apt of the image itself asks its distribution's security suite, in a container that is thrown away.
What pip installs on the base is in the locks, which `make audit` asks about.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from release import images
from release.base import Base
from release.errors import ReleaseError
from release.images import Buildah

_INSTALLS = re.compile(
    r"^Inst (?P<package>\S+) \[(?P<installed>[^\]]+)\] \((?P<fixed>\S+) (?P<origins>[^\[)]*)",
    re.MULTILINE,
)
_NO_APT = "no apt-get here"
# The address of Debian's security suite is made from that of its main one, which a bootstrapped
# system has alone. A suite that does not answer must not look like one without updates.
_PROGRAM = rf"""
set -e
command -v apt-get > /dev/null || {{ echo '{_NO_APT}'; exit 1; }}
cd /etc/apt
if ! grep -rqs -e '-security' sources.list sources.list.d; then
    sed -n 's|^deb \(.*/debian\)/* \([a-z]*\) main.*|deb \1-security \2-security main|p' \
        sources.list > sources.list.d/security.list
fi
apt-get --quiet=2 --option APT::Update::Error-Mode=any update
apt-get --simulate dist-upgrade
"""


@dataclass(frozen=True)
class Update:
    """A package for which the security suite has a newer version."""

    package: str
    installed: str
    fixed: str


def scan(base: Base) -> list[Update]:
    """Ask about all packages of a base.

    Raises ReleaseError: ScanNotPossible if it has no apt, or if its sources do not answer.
    """
    images.version()
    with tempfile.TemporaryDirectory(prefix="modelexport-scan-") as storage:
        buildah = Buildah(Path(storage))
        container = buildah("from", "--quiet", base.source)
        try:
            return security_updates(
                buildah("run", "--isolation", "chroot", container, "--", "sh", "-c", _PROGRAM)
            )
        except ReleaseError as error:
            found = "it has no apt-get" if _NO_APT in str(error) else str(error)
            raise ReleaseError(
                "ScanNotPossible",
                f"the packages of the base cannot be asked about: {found}. Give a base made of "
                "Debian or Ubuntu, and reach its package sources from here",
            ) from None
        finally:
            with suppress(ReleaseError):
                buildah("rm", container)


def security_updates(simulated: str) -> list[Update]:
    """Read what `apt-get --simulate dist-upgrade` would take from a security suite."""
    return [
        Update(found["package"], found["installed"], found["fixed"])
        for found in _INSTALLS.finditer(simulated)
        if "security" in found["origins"].lower()
    ]


def table(updates: list[Update]) -> str:
    """Return one line for each update."""
    width = max((len(update.package) for update in updates), default=0)
    return "\n".join(
        f"{update.package:<{width}}  {update.installed} is mended by {update.fixed}"
        for update in updates
    )
