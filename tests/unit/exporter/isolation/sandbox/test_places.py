"""What a worker may read, write and control, by a file system that is a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from modelexport_exporter.core.secret_places import credentials
from modelexport_exporter.isolation.sandbox.places import (
    Access,
    Children,
    caches,
    grants,
    visible,
)

FILES = (
    "/usr/lib/libc.so",
    "/etc/passwd",
    "/etc/shadow",
    "/home/ada/.aws/credentials",
    "/home/ada/project/net.py",
    "/home/ada/labels.json",
    "/scratch/modelexport-run-a/checkpoint",
    "/scratch/modelexport-run-b/checkpoint",
    "/proc/1/environ",
    "/proc/kcore",
    "/proc/meminfo",
    "/dev/null",
    "/dev/nvidia0",
    "/dev/nvidia-uvm",
    "/dev/dri/renderD128",
    "/dev/nvme0n1",
    "/dev/sda",
    "/dev/termination-log",
)
HOME = Path("/home/ada")


def children(directory: Path) -> Iterator[Path]:
    depth = len(directory.parts)
    below = {Path(*Path(f).parts[: depth + 1]) for f in FILES if directory in Path(f).parents}
    return iter(sorted(below))


def without_gpus(directory: Path) -> Iterator[Path]:
    return (path for path in children(directory) if not path.name.startswith(("nvidia", "dri")))


def allowed(path: str, access: Access, children: Children = children) -> bool:
    hidden = frozenset(
        {
            *credentials({}, HOME),
            # Runs of others appear beside this one's: their parent is never allowed as a whole.
            Path("/scratch/modelexport-run-a"),
        }
    )
    own = (Path("/scratch/modelexport-run-a"),)
    fetched = (Path("/scratch/modelexport-run-d/checkpoint"),)
    return any(
        grant.access is access and (grant.path == Path(path) or grant.path in Path(path).parents)
        for grant in grants(hidden, own, fetched, children)
    )


@pytest.mark.parametrize(
    ("path", "readable"),
    [
        ("/usr/lib/libc.so", True),
        ("/etc/passwd", True),
        ("/etc/shadow", False),
        ("/home/ada/project/net.py", True),
        ("/home/ada/labels.json", True),
        ("/home/ada/.aws/credentials", False),
        ("/home/ada/.ssh/made-later", False),
        ("/scratch/modelexport-run-b/checkpoint", False),
        ("/scratch/modelexport-run-d/checkpoint", True),
        ("/scratch/modelexport-run-d/spec.json", False),
        ("/scratch/modelexport-run-c/made-later", False),
        ("/proc/meminfo", True),
        ("/proc/self/status", True),
        ("/proc/1/environ", False),
        ("/proc/kcore", False),
        ("/dev/sda", False),
        ("/run/secrets/token", False),
    ],
)
def test_what_is_readable(path: str, *, readable: bool) -> None:
    assert allowed(path, Access.READ) is readable


@pytest.mark.parametrize(
    ("path", "writable"),
    [
        ("/scratch/modelexport-run-a/model.onnx", True),
        ("/dev/shm/torch", True),
        ("/scratch/modelexport-run-b/checkpoint", False),
        ("/home/ada/project/net.py", False),
        ("/tmp/anything", False),
    ],
)
def test_what_is_writable(path: str, *, writable: bool) -> None:
    assert allowed(path, Access.OWN) is writable


@pytest.mark.parametrize(
    ("device", "usable"),
    [
        ("/dev/null", True),
        ("/dev/nvidia0", True),
        ("/dev/nvidia-uvm", True),
        ("/dev/dri/renderD128", True),
        ("/dev/nvme0n1", False),
        ("/dev/sda", False),
        ("/dev/termination-log", False),
    ],
)
def test_which_devices_are_usable(device: str, *, usable: bool) -> None:
    assert allowed(device, Access.DEVICE) is usable


@pytest.mark.parametrize(
    ("path", "writable"), [("/proc/self/task/7/comm", True), ("/proc/self/oom_score_adj", False)]
)
def test_cuda_may_name_its_threads(path: str, *, writable: bool) -> None:
    assert allowed(path, Access.WRITE) is writable
    assert not allowed(path, Access.WRITE, without_gpus)


def test_a_directory_without_secrets_is_one_rule() -> None:
    assert list(visible(Path("/home"), frozenset({Path("/etc/shadow")}), children)) == [
        Path("/home")
    ]


def test_tokens_of_hugging_face_are_in_no_cache() -> None:
    found = caches({"XDG_CACHE_HOME": "/scratch/.cache"}, HOME)
    assert Path("/scratch/.cache/huggingface/hub") in found
    token = Path("/scratch/.cache/huggingface/token")
    assert not [path for path in found if path in token.parents]
