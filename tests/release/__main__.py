"""`python -m release build | check | scan`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bed import places
from release import base, images, scan
from release.build import PARTS, build
from release.check import check
from release.errors import ReleaseError


def main() -> int:
    """Run one subcommand."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    builds = commands.add_parser("build", help="build the parts of a release of HEAD")
    builds.add_argument("parts", nargs="*", help=f"of: {', '.join(PARTS)} (default: all)")
    builds.add_argument("--base", default="", help="image that images are built on, by digest")
    builds.add_argument("--images", nargs="+", default=images.TARGETS, help="default: all")
    commands.add_parser("check", help="compare a release with its sums and its provenance")
    for command in commands.choices.values():
        command.add_argument("--dist", type=Path, default=places.repository() / "dist")
    scans = commands.add_parser("scan", help="ask a base's distribution for security updates")
    scans.add_argument("--base", default="", help="image that images are built on, by digest")
    arguments = parser.parse_args()
    try:
        if arguments.command == "scan":
            return _scan(arguments.base)
        if arguments.command == "build":
            build(
                *(places.repository(), arguments.dist, arguments.parts or list(PARTS)),
                base=arguments.base,
                targets=arguments.images,
            )
        commit = check(places.repository(), arguments.dist)
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{arguments.dist} is as its sums and its provenance say, of commit {commit}")
    return 0


def _scan(text: str) -> int:
    found = scan.scan(base.of(text))
    print(scan.table(found) or "its distribution has no security update for a package of this base")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
