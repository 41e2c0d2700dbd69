"""A checkpoint in the format of torch.save, written without torch."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path


def write_state_dict(path: Path) -> None:
    """Write a state_dict without tensors."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", pickle.dumps({}, protocol=2))
        archive.writestr("model/version", "3")
