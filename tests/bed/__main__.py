"""The test bed for people: `python -m bed install | doctor | cleanup | up`."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from subprocess import CalledProcessError

from bed import beds, debian, golang, images, node_images, places, preflight
from bed.processes import BedError


def main() -> int:
    """Run one subcommand; the exit code is 0 when the bed is as asked."""
    parser = argparse.ArgumentParser(prog="python -m bed", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("install", help="install and build what is missing")
    commands.add_parser("doctor", help="show what is there and what is not")
    commands.add_parser("cleanup", help="remove what a killed test run left behind")
    up = commands.add_parser("up", help="start a cluster and keep it until Ctrl-C")
    up.add_argument("--level", choices=["control-plane", "node"], default="control-plane")
    arguments = parser.parse_args()
    try:
        match arguments.command:
            case "install":
                return _install()
            case "doctor":
                return _doctor()
            case "cleanup":
                return _cleanup()
            case _:
                return _up(arguments.level)
    except (BedError, PermissionError, CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1


def _install() -> int:
    """Get what is missing, cheapest first; nothing is done twice."""
    if packages := debian.missing(debian.ALL):
        with _step(f"Debian packages: {' '.join(packages)}"):
            debian.install(packages)
    missing = [part for part in golang.PARTS if part.missing]
    if missing and (reason := preflight.go_missing()):
        raise BedError(reason)
    for part in missing:
        with _step(f"{part.name} {part.version}"):
            golang.build(part)
    if not images.base_exists():
        with _step("base of test images"):
            images.base_image()
    if not node_images.current() and not _image_obstacles():
        with _step("images of this checkout, for nodes"):
            node_images.prepare()
    return _doctor()


def _doctor() -> int:
    """Print what each part and each level need; 0 when every level can start."""
    missing = debian.missing(debian.ALL)
    for package, file in debian.ALL.items():
        _row(f"Debian {package}", f"no {file}" if package in missing else None)
    for part in golang.PARTS:
        _row(f"{part.name} {part.version}", "not built" if part.missing else None)
    _row("base of test images", None if images.base_exists() else "not built")
    kept = None if node_images.current() else "; ".join(_image_obstacles()) or "not built"
    _row("images of this checkout, for nodes", kept)
    reasons = [reason for level in preflight.LEVELS if (reason := _level(level))]
    return 1 if reasons else 0


def _image_obstacles() -> list[str]:
    """Every reason why the images cannot be built and unpacked here."""
    machine = preflight.look("node")
    return [
        *preflight.obstacles("node", machine),
        *preflight.image_obstacles("exporter", images.built("exporter"), places.free_bytes()),
    ]


def _level(level: preflight.Level) -> str | None:
    obstacles = preflight.obstacles(level, preflight.look(level))
    reason = "; ".join(obstacles) or None
    _row(f"level {level}", reason)
    return reason


def _row(subject: str, problem: str | None) -> None:
    hint = "" if problem is None or preflight.GET_IT in problem else f" ({preflight.GET_IT})"
    print(f"{subject:36} {'yes' if problem is None else f'no: {problem}{hint}'}")


def _cleanup() -> int:
    for directory in beds.clean_up():
        print(f"removed {directory}")
    return 0


def _up(level: str) -> int:
    """Keep a cluster until a signal asks to stop."""
    running = beds.node_running if level == "node" else beds.control_plane_running
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt), running() as cluster:
        print(f"export KUBECONFIG={cluster.kubeconfig}", flush=True)
        print("Ctrl-C removes it.", file=sys.stderr)
        while True:
            signal.pause()
    return 0


@contextlib.contextmanager
def _step(what: str) -> Iterator[None]:
    """Say what is being done and how long it took."""
    began = time.monotonic()
    print(f"{what} …", flush=True)
    yield
    print(f"{what}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
