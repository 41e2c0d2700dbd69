"""What a scan of a base reads from apt."""

from __future__ import annotations

from release.scan import Update, security_updates, table

OLD = "Debian-Security:12/oldstable-security"
SIMULATED = f"""\
Reading package lists...
Building dependency tree...
The following packages will be upgraded:
  libexpat1 libgcc-s1 python3.11-minimal
Inst python3.11-minimal [3.11.2-6+deb12u8] (3.11.2-6+deb12u9 {OLD} [amd64]) []
Inst libexpat1 [2.5.0-1] (2.5.0-1+deb12u5 Debian:12.13/oldstable, {OLD} [amd64])
Inst libgcc-s1 [12.2.0-14] (12.2.0-15 Debian:12.13/oldstable [amd64])
Inst libnew1 (1.0 {OLD} [amd64])
Inst openssl [3.0.2-0ubuntu1.10] (3.0.2-0ubuntu1.18 Ubuntu:22.04/jammy-security [amd64])
Conf libexpat1 (2.5.0-1+deb12u5 {OLD} [amd64])
"""


def test_updates_of_installed_packages_from_a_security_suite() -> None:
    assert security_updates(SIMULATED) == [
        Update("python3.11-minimal", "3.11.2-6+deb12u8", "3.11.2-6+deb12u9"),
        Update("libexpat1", "2.5.0-1", "2.5.0-1+deb12u5"),
        Update("openssl", "3.0.2-0ubuntu1.10", "3.0.2-0ubuntu1.18"),
    ]


def test_nothing_to_update() -> None:
    assert security_updates("0 upgraded, 0 newly installed, 0 to remove.") == []


def test_a_line_for_each_update() -> None:
    assert table([Update("a", "1", "2"), Update("long", "3", "4")]) == (
        "a     1 is mended by 2\nlong  3 is mended by 4"
    )
