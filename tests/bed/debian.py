"""The parts that come as Debian packages: which are needed, which are missing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

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
"""Package name to a file that shows that it is there."""


def missing() -> list[str]:
    """The packages whose file is not there, however it would have got there."""
    return [package for package, file in PACKAGES.items() if not Path(file).exists()]


def install(packages: list[str]) -> None:
    """Install PACKAGES through apt-get, which needs root."""
    if os.geteuid():
        raise PermissionError(f"as root: apt-get install {' '.join(packages)}")
    quietly = ["apt-get", "--quiet=2", "--yes", "--no-install-recommends"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", *packages]):
        subprocess.run([*quietly, *words], env=environment, check=True)
