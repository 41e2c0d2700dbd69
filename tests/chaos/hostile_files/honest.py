"""Honest files, as the libraries write them: what damage is done to."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

NAMES = ("state.pt", "module.pt", "legacy.pt", "model.safetensors", "script.pt", "program.pt2")
_SCRIPT = """
import sys
from pathlib import Path
import torch
from safetensors.torch import save_file
root = Path(sys.argv[1])
torch.manual_seed(0)
net = torch.nn.Linear(4, 2).eval()
state = net.state_dict()
torch.save(state, root / "state.pt")
torch.save(net, root / "module.pt")
torch.save(state, root / "legacy.pt", _use_new_zipfile_serialization=False)
save_file(state, root / "model.safetensors")
torch.jit.save(torch.jit.script(net), root / "script.pt")
torch.export.save(torch.export.export(net, (torch.zeros(2, 4),)), root / "program.pt2")
"""


def make(directory: Path) -> Path:
    """Write the files, in a process of its own, so that torch stays out of this one."""
    directory.mkdir(exist_ok=True)
    if not all((directory / name).exists() for name in NAMES):
        subprocess.run([sys.executable, "-c", _SCRIPT, str(directory)], check=True)
    return directory


def safetensors(header: bytes, data: bytes, length: int | None = None) -> bytes:
    """Return a file with a header, whose length may be a lie."""
    return struct.pack("<Q", len(header) if length is None else length) + header + data
