"""Peak of anonymous memory of each stage of an export, and of its disk.

    python -m benchmarks.memory [--only encoder] [--format Safetensors] [--precision Float16]

Local files, default settings but the latency measurement; the way of measuring is that of
`benchmarks/measure.py`. The constants in `source/memory_prediction.py` are from this table, and the
sizes in docs/install.md. Disk: what the files below the work directory take.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import yaml

from benchmarks import measure
from benchmarks.cases import CASES, NETWORKS, PYTHONPATH, Case
from modelexport_api.pod import MANIFEST_ENV
from modelexport_exporter.pod import TERMINATION_LOG_ENV, WORK_DIR_ENV

FORMATS = ("StateDict", "Safetensors", "Legacy", "TorchScript")
INTERVAL = 0.2


def main() -> int:
    """Measure and print one line for each stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[case.name for case in CASES], action="append")
    parser.add_argument("--format", choices=FORMATS, default="StateDict")
    parser.add_argument("--precision", default="AsIs")
    parser.add_argument("--exporter", default="Auto")
    arguments = parser.parse_args()
    for case in CASES:
        if arguments.only and case.name not in arguments.only:
            continue
        with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
            manifest = _prepare(case, Path(scratch), arguments)
            _print(case.name, *_measure(manifest, Path(scratch)))
    return 0


def _prepare(case: Case, scratch: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    import torch
    from safetensors.torch import save_file

    case.write_checkpoint(path := scratch / "checkpoint.pt")
    state = torch.load(path)
    (scratch / "code").mkdir()
    (scratch / "code" / NETWORKS.name).write_bytes(NETWORKS.read_bytes())
    for name in ("model.py",):
        source = Path(__file__).parents[1] / "examples" / "digits" / name
        (scratch / "code" / name).write_bytes(source.read_bytes())
    if arguments.format == "Safetensors":
        save_file(state, path)
    if arguments.format == "Legacy":
        torch.save(state, path, _use_new_zipfile_serialization=False)
    manifest: dict[str, Any] = yaml.safe_load(case.manifest("bucket", "http://localhost", "x"))
    spec = manifest["spec"]
    del spec["storage"]
    spec["source"] = {"uri": f"file://{path}"}
    spec["model"]["code"] = {"uri": f"file://{scratch}/code/"}
    spec["destination"] = {"uri": f"file://{scratch}/out/", "overwrite": "Always"}
    if arguments.format == "TorchScript":
        _save_script(case, path)
        del spec["model"]
    export = {"precision": arguments.precision, "exporter": arguments.exporter}
    spec["export"] = {k: v for k, v in export.items() if v not in {"AsIs", "Auto"}}
    return manifest


def _save_script(case: Case, path: Path) -> None:
    import torch

    from benchmarks import networks

    module = getattr(networks, case.name)().eval()
    sizes = [
        torch.ones([2 if isinstance(size, str) else size for size in entry["shape"]]).to(
            getattr(torch, entry.get("dtype", "float32"))
        )
        for entry in case.inputs
    ]
    torch.jit.save(torch.jit.trace(module, tuple(sizes)), path)  # type: ignore[no-untyped-call]


def _measure(manifest: dict[str, Any], scratch: Path) -> tuple[dict[str, int], int]:
    """Return the peak of memory of each stage, and the peak of disk, in bytes."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*sys.path, PYTHONPATH]),
        MANIFEST_ENV: json.dumps(manifest),
        WORK_DIR_ENV: str(scratch / "work"),
        TERMINATION_LOG_ENV: str(scratch / "termination"),
    }
    (scratch / "work").mkdir()
    command = [sys.executable, "-m", "modelexport_exporter"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    peaks: dict[str, int] = {}
    stage, disk = ["Start"], [0]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(INTERVAL):
            now = sum(measure.anonymous_bytes(pid) for pid in measure.tree(process.pid))
            peaks[stage[0]] = max(peaks.get(stage[0], 0), now)
            disk[0] = max(disk[0], _used(scratch / "work"))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        progress = json.loads(line).get("progress") if line.startswith("{") else None
        stage[0] = progress["stage"] if progress else stage[0]
    ended.set()
    watcher.join()
    if process.wait():
        raise RuntimeError("".join(lines)[-3000:])
    return peaks, disk[0]


def _used(directory: Path) -> int:
    """Return the bytes that files take, each once, whatever the number of its names."""
    found: dict[int, int] = {}
    for root, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                entry = (Path(root) / name).lstat()
                found[entry.st_ino] = entry.st_blocks * 512
    return sum(found.values())


def _print(name: str, peaks: dict[str, int], disk: int) -> None:
    shown = ", ".join(f"{stage} {peak / 1e6:.0f}" for stage, peak in peaks.items())
    print(
        f"{name}: {shown} MB; peak {max(peaks.values()) / 1e6:.0f} MB, disk {disk / 1e6:.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
