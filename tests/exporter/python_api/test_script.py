"""modelexport.export as scripts call it, each in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

HELPER = """
import torch

class Body(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 8)

    def forward(self, x):
        return torch.relu(self.linear(x)) + 1
"""
UNGUARDED = """
import os
from pathlib import Path

import onnxruntime
import torch
from torch.nn.utils.parametrizations import weight_norm

import modelexport
from helper import Body

helper = Path("helper.py")
helper.write_text(helper.read_text().replace("+ 1", "+ undefined"))
os.utime(helper, (2e9, 2e9))
os.mkdir("elsewhere")
os.chdir("elsewhere")

SCALE = 3.0


class My_Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(10, 4)
        self.body = torch.compile(Body())
        self.normed = weight_norm(torch.nn.Linear(8, 4))
        self.scaled = lambda x: x * SCALE
        self.drop = torch.nn.Dropout(0.5)
        self.output = torch.nn.Linear(4, 10, bias=False)
        self.output.weight = self.embedding.weight
        self.register_buffer("shift", torch.rand(4), persistent=False)

    def forward(self, ids, *, extra, twice=False):
        x = self.scaled(self.normed(self.body(self.embedding(ids)))) + self.shift
        x = self.drop(x + extra["bias"])
        return {"logits": self.output(x)}


net = My_Net().train()
extra = {"bias": torch.rand(2, 1, 4)}
net.normed.register_forward_hook(lambda module, inputs, output: output * 2)
result = modelexport.export(
    net,
    {"ids": torch.randint(10, (2, 5)), "extra": extra},
    dims={"batch": (1, 8)},
    outputs=["logits"],
    progress=False,
    verification={"benchmark": False},
)
assert result.verdict == "Verified"
assert net.training
ids = torch.randint(10, (2, 7))
session = onnxruntime.InferenceSession(result.path, providers=["CPUExecutionProvider"])
(logits,) = session.run(None, {"ids": ids.numpy(), "extra.bias": extra["bias"].numpy()})
with torch.compiler.set_stance("force_eager"), torch.no_grad():
    torch.testing.assert_close(torch.from_numpy(logits), net.eval()(ids, extra=extra)["logits"])
(output,) = result.status.artifact.outputs
print(result.path.relative_to(Path.cwd()), [one.name for one in result.status.artifact.inputs])
print(output.name, output.shape)
"""
PROGRAM = """
import torch

import modelexport

model = torch.nn.Linear(4, 2, dtype=torch.float64)
x = torch.rand(3, 4, dtype=torch.float64)
batch = torch.export.Dim("batch", min=1, max=8)
program = torch.export.export(model, (x,), dynamic_shapes=({0: batch},))
result = modelexport.export(
    program, progress=False, out="onnx", verification={"benchmark": False}
)
print(result.verdict, result.status.artifact.inputs[0].dtype, result.path.exists())
"""
INTERRUPTED = """
import torch

import modelexport

try:
    modelexport.export(torch.nn.Linear(4, 2), torch.rand(3, 4), out="onnx")
except KeyboardInterrupt:
    print("interrupted")
"""


def start(program: str, place: Path) -> subprocess.Popen[str]:
    (place / "script.py").write_text(program)
    return subprocess.Popen(
        [sys.executable, "script.py"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell starts what runs in the background with SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def output_of(program: str, place: Path) -> list[str]:
    process = start(program, place)
    printed, errors = process.communicate()
    assert process.returncode == 0, errors
    assert errors == ""
    return printed.splitlines()


def test_a_script_without_a_guard(tmp_path: Path) -> None:
    """The class is the script's, and what it uses is edited before the export and not reloaded."""
    (tmp_path / "helper.py").write_text(HELPER)
    assert output_of(UNGUARDED, tmp_path) == [
        "my-net-onnx/model.onnx ['ids', 'extra.bias']",
        "logits ['batch', 'sequence', 10]",
    ]


def test_an_exported_program(tmp_path: Path) -> None:
    assert output_of(PROGRAM, tmp_path) == ["Verified float64 True"]


def test_ctrl_c_ends_the_process_of_the_export(tmp_path: Path) -> None:
    process = start(INTERRUPTED, tmp_path)
    assert process.stderr is not None
    shown = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=120)
    assert "Fetch" in shown
    assert printed == "interrupted\n"
    assert not list(tmp_path.glob("onnx/*"))
    assert _left_of_session(process.pid, seconds=20) == []


def _left_of_session(pid: int, *, seconds: float) -> list[str]:
    """Return the processes of a session that did not end within a time.

    The kernel kills the fork server after its parent ended, hence also after the script's end.
    """
    deadline = time.monotonic() + seconds
    while (left := _of_session(pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def _of_session(pid: int) -> list[str]:
    """Return the processes of a session that run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        # One that has ended stays for its new parent: this worker, if a test made it a subreaper.
        if int(fields[3]) == pid and fields[0] != "Z":
            found.append(stat.parent.name)
    return found
