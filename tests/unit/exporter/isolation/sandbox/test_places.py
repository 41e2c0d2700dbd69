"""What a worker may read, write and control, by a file system that is a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from modelexport_exporter.isolation.sandbox.places import (
    Access,
    Children,
    caches,
    credentials,
    grants,
    secret_volumes,
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


@pytest.mark.parametrize(
    ("variable", "value", "hidden"),
    [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/tokens/aws", "/tokens/aws"),
        ("KUBECONFIG", "/a/one:/b/two", "/b/two"),
        ("HF_HOME", "/models", "/models/token"),
        ("MODELEXPORT_SIGNING_KEY_FILE", "/keys/key.pem", "/keys/key.pem"),
        ("PATH", "/usr/bin", "/run/secrets"),
    ],
)
def test_credentials_are_where_their_variables_say(variable: str, value: str, hidden: str) -> None:
    assert Path(hidden) in credentials({variable: value}, HOME)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("50 40 0:51 / /keys rw shared:1 - tmpfs tmpfs rw", True),
        ("50 40 0:51 /..2026_11/key /etc/key.pem ro - tmpfs tmpfs rw", True),
        ("50 40 0:51 / /scratch rw - tmpfs tmpfs rw", False),
        ("50 40 8:1 / /keys rw - ext4 /dev/sda rw", False),
        ("", False),
    ],
)
def test_volumes_with_secrets_are_found_wherever_they_are(line: str, *, found: bool) -> None:
    volumes = secret_volumes(line, lambda path: path == Path("/keys"))
    assert bool(volumes) is found


def test_tokens_of_hugging_face_are_in_no_cache() -> None:
    found = caches({"XDG_CACHE_HOME": "/scratch/.cache"}, HOME)
    assert Path("/scratch/.cache/huggingface/hub") in found
    token = Path("/scratch/.cache/huggingface/token")
    assert not [path for path in found if path in token.parents]
