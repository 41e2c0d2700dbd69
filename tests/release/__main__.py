"""`python -m release build | check`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bed import places
from release import images
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
    arguments = parser.parse_args()
    try:
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


if __name__ == "__main__":
    sys.exit(main())
