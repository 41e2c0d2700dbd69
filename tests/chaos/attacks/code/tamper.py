"""Attacks on files: of the run, of other roles, and what later processes import."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from victim import EXPORT, REFERENCE, Attack, Net, role, tried

Aim = dict[str, str]
_REWRITE = """
import glob, os, sys, time
os.setsid()
if os.fork(): os._exit(0)
os.setsid()
while True:
    for path in glob.glob(sys.argv[1] + '/modelexport-run-*/out/*/*'):
        try:
            with open(path, 'r+b') as file: file.write(b'HOSTILE!')
        except OSError: pass
    time.sleep(0.002)
"""


def _run_directory() -> Path:
    return Path(os.environ["TMPDIR"]).resolve().parent


def _outputs() -> list[Path]:
    return sorted((_run_directory() / "out").glob("*/model.onnx"))


def daemon(of: str, aim: Aim) -> None:
    """Leave a process behind, in a session of its own, that rewrites all files for ever."""
    if of == EXPORT:
        subprocess.run([sys.executable, "-c", _REWRITE, aim["work"]], check=True)


def _when_written(change: Callable[[Path, Aim], object], by: str = EXPORT) -> Attack:
    """Change the file in a thread, as soon as it is there and for as long as the worker runs."""

    def attack(of: str, aim: Aim) -> None:
        def watch() -> None:
            while True:
                for path in _outputs():
                    with contextlib.suppress(OSError, shutil.Error):
                        change(path, aim)
                        return
                time.sleep(0.002)

        if of == by:
            threading.Thread(target=watch, daemon=True).start()

    return attack


def _replaced(make: Callable[[Path], object]) -> Callable[[Path, Aim], object]:
    def change(path: Path, _aim: Aim) -> None:
        path.unlink()
        make(path)

    return change


def _directory(path: Path, aim: Aim) -> None:
    moved = path.parent.rename(path.parent.with_name("moved"))
    path.parent.symlink_to(aim["outside"])
    print("moved", moved)


def _hard_link(path: Path, aim: Aim) -> None:
    cache = Path(aim["work"]) / ".cache/torch"
    os.link(path, cache / f"link-{os.getpid()}")
    print("linked")


def _sparse(path: Path, _aim: Aim) -> None:
    with path.open("r+b") as file:
        file.truncate(1 << 40)


def _held(path: Path, _aim: Aim) -> None:
    """Rewrite by a descriptor, at every instant."""
    held = os.open(path, os.O_RDWR)
    content = os.read(held, 1 << 20)
    while True:
        for data in (b"HOSTILE!", content):
            os.pwrite(held, data, 0)
            time.sleep(0.001)


def checkpoint(of: str, _aim: Aim) -> None:
    """Put other weights into the checkpoint, before the verifier reads it."""
    import torch

    if of == EXPORT:
        for path in _run_directory().glob("checkpoint/*"):
            state = {name: value + 1 for name, value in Net().state_dict().items()}
            tried("overwrite the checkpoint", lambda p=path, s=state: torch.save(s, p))
            tried("replace the checkpoint", path.unlink)


def code(of: str, _aim: Aim) -> None:
    """Change the code that the other worker imports, and what Python would import in its place."""
    directory = Path(__file__).parent
    if of != EXPORT:
        return
    places = [directory, _run_directory(), *map(Path, sys.path)]
    for place in places:
        name = place / "modelexport_api.py"
        tried(f"write {name}", lambda p=name: p.write_text("print('GOT-IN imported')"))
    for cached in directory.glob("__pycache__/*"):
        tried(f"write {cached}", lambda p=cached: p.write_bytes(b"x"))
    victim = directory / "victim.py"
    tried("append to the code", lambda: victim.open("a").write("\n"))
    tried("rename the code", lambda: directory.rename(directory.with_name("code2")))


def python(_role: str, aim: Aim) -> None:
    """Leave something that the next Python would run."""
    import site

    home = Path(aim["work"])
    places = [*site.getsitepackages(), site.getusersitepackages(), str(home), sys.prefix]
    for place in places:
        for name in ("sitecustomize.py", "hostile.pth", "usercustomize.py"):
            path = Path(place) / name
            tried(f"write {path}", lambda p=path: p.write_text("print('GOT-IN imported')"))
    hostile = "print('GOT-IN imported')"
    for name in (".pythonrc", ".bashrc", ".profile", ".config/pip.conf"):
        tried(f"write {name}", lambda n=name: (home / n).write_text(hostile))
    for variable in ("PYTHONSTARTUP", "PYTHONPATH", "LD_PRELOAD", "LD_LIBRARY_PATH"):
        os.environ[variable] = "/hostile"


def caches(of: str, aim: Aim) -> None:
    """Leave code in the caches that all runs of a user share."""
    cache = Path(aim["work"]) / ".cache"
    if of != EXPORT:
        return
    for place in ("huggingface/modules", "torch/hub", "torch_extensions", "torch/kernels"):
        for name in ("torch.py", "modelexport_exporter.py", "numpy.py", "sitecustomize.py"):
            with contextlib.suppress(OSError):
                (cache / place).mkdir(parents=True, exist_ok=True)
                (cache / place / name).write_text("print('GOT-IN imported')")


def by_role(of: str, _aim: Aim) -> Net | None:
    """Compute something else where it is exported than where it is compared."""
    return Net(1.0) if of == EXPORT else None


class _Later(Net):
    def forward(self, x: object) -> object:
        """Compute something else in another process than that of the export."""
        return super().forward(x) + (0.5 if role() == REFERENCE else 0.0)  # type: ignore[arg-type,operator]


def later(_role: str, _aim: Aim) -> Net:
    """Tell the workers apart in forward, not in the factory."""
    return _Later()


def devices(_role: str, aim: Aim) -> None:
    """Make devices, and open those that are there."""
    made = Path(os.environ["TMPDIR"]) / "sda"
    tried("make a device", lambda: os.mknod(made, 0o60600, os.makedev(8, 0)))
    for name in ("/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/loop-control", "/dev/fuse"):
        tried(f"open {name}", lambda n=name: os.open(n, os.O_RDWR))
    tried("a link to the outside", lambda: os.link(Path(aim["outside"]) / "there", made))


def locked(of: str, _aim: Aim) -> None:
    """Make directories that nobody can list or remove."""
    deep = _run_directory() / "out" / "deep"
    if of == EXPORT:
        (deep / "inner").mkdir(parents=True)
        (deep / "inner" / "file").touch()
        (deep / "inner").chmod(0)
        deep.chmod(0)


def closed_directory(of: str, aim: Aim) -> Net | None:
    """Fail, and let the supervisor be unable to remove the directory of the attempt."""
    if of == EXPORT:
        for path in (_run_directory() / "out").iterdir():
            if not path.is_symlink():
                path.rmdir()
                path.symlink_to(aim["outside"])
    return Net(1.0)


ATTACKS: dict[str, Attack] = {
    "daemon": daemon,
    "symbolic link": _when_written(_replaced(lambda path: path.symlink_to("/etc/passwd"))),
    "named pipe": _when_written(_replaced(os.mkfifo), REFERENCE),
    "pipe from the exporter": _when_written(_replaced(os.mkfifo)),
    "directory for a file": _when_written(_replaced(Path.mkdir), REFERENCE),
    "moved directory": _when_written(_directory, REFERENCE),
    "hard link": _when_written(_hard_link),
    "sparse file": _when_written(_sparse, REFERENCE),
    "held descriptor": _when_written(_held, REFERENCE),
    "checkpoint": checkpoint,
    "code": code,
    "python": python,
    "caches": caches,
    "by role": by_role,
    "by role in forward": later,
    "devices": devices,
    "locked directories": locked,
    "replaced directory": closed_directory,
}
