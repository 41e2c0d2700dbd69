"""The parts that come as Debian packages: which are needed, which are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bed import processes

PACKAGES: Mapping[str, str] = {
    "containerd": "/usr/bin/containerd",
    "runc": "/usr/sbin/runc",
    "containernetworking-plugins": "/usr/lib/cni/bridge",
    "buildah": "/usr/bin/buildah",
    "debootstrap": "/usr/sbin/debootstrap",
    "nftables": "/usr/sbin/nft",
    "iptables": "/usr/sbin/iptables",
    "conntrack": "/usr/sbin/conntrack",
    "iproute2": "/usr/bin/ip",
    "ca-certificates": "/etc/ssl/certs/ca-certificates.crt",
}
"""Package name to a file that shows that it is there: what a node is made of."""

BROWSER: Mapping[str, str] = {
    "chromium": "/usr/bin/chromium",
    "fonts-dejavu-core": "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
}
"""The same, for looking at pages."""

SHELLS: Mapping[str, str] = {"zsh": "/usr/bin/zsh", "fish": "/usr/bin/fish"}
"""The same, for reading the scripts that complete commands."""

PROMETHEUS: Mapping[str, str] = {"prometheus": "/usr/bin/prometheus"}
"""The same, for scraping the operator; the package also has promtool."""

ALL: Mapping[str, str] = {**PACKAGES, **BROWSER, **SHELLS, **PROMETHEUS}

UNWANTED = (
    *("usr/share/doc/*", "usr/share/info/*", "usr/share/locale/*", "usr/share/man/*"),
    *("var/cache/apt/*", "var/lib/apt/lists/*", "var/log/*"),
)
"""What a slim image leaves out of a bootstrapped root file system."""


def missing(packages: Mapping[str, str]) -> list[str]:
    """The packages whose file is not there, however it would have got there."""
    return [package for package, file in packages.items() if not Path(file).exists()]


def install(packages: list[str]) -> None:
    """Install packages through apt-get, which needs root."""
    if os.geteuid():
        raise PermissionError(f"as root: apt-get install {' '.join(packages)}")
    quietly = ["apt-get", "--quiet=2", "--yes", "--no-install-recommends"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", *packages]):
        subprocess.run([*quietly, *words], env=environment, check=True)


def bootstrap(root: Path, release: str, packages: Sequence[str]) -> None:
    """Unpack a minimal Debian RELEASE with PACKAGES into ROOT, from the mirror that apt uses."""
    include = f"--include={','.join(packages)}"
    processes.call(["debootstrap", "--variant=minbase", include, release, root, *_mirror(release)])
    for pattern in UNWANTED:
        for path in root.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _mirror(release: str) -> list[str]:
    """Where this machine's apt gets RELEASE from; nothing if it does not, for debootstrap's own."""
    wanted = ("Created-By: Packages", "Component: main", f"Codename: {release}")
    found = processes.call(["apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted])
    return found.split()[:1]
