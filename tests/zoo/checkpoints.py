"""Checkpoints for tests, sound and damaged: each returns the path of what it wrote."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from zoo.code.vision.digits import Digits

Make = Callable[[Path], Path]


class RunsCode:
    def __reduce__(self) -> tuple[Any, ...]:
        return (os.system, ("touch ran",))


def state(**changed: torch.Tensor | None) -> dict[str, torch.Tensor]:
    merged = {**Digits().state_dict(), **{k.replace("__", "."): v for k, v in changed.items()}}
    return {name: value for name, value in merged.items() if value is not None}


def torch_file(content: object, *, zipped: bool = True) -> Make:
    def make(directory: Path) -> Path:
        path = directory / "model.pt"
        torch.save(content, path, _use_new_zipfile_serialization=zipped)
        return path

    return make


def raw_file(content: bytes) -> Make:
    def make(directory: Path) -> Path:
        (directory / "model.bin").write_bytes(content)
        return directory / "model.bin"

    return make


def cut(make: Make, keep: float) -> Make:
    def shortened(directory: Path) -> Path:
        path = make(directory)
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * keep)])
        return path

    return shortened


def tensors_file(directory: Path) -> Path:
    save_file(state(), directory / "model.safetensors")
    return directory / "model.safetensors"


def shards(index: dict[str, str] | None, *files: str) -> Make:
    def make(directory: Path) -> Path:
        place = directory / "shards"
        place.mkdir()
        for name in files:
            save_file({name: torch.ones(1)}, place / name)
        if index is not None:
            text = json.dumps({"weight_map": index})
            (place / "model.safetensors.index.json").write_text(text)
        return place

    return make


def program_with(old: str, new: str) -> Make:
    """An ExportedProgram whose graph was edited."""

    def make(directory: Path) -> Path:
        batch = torch.export.Dim("batch", max=64)
        program = torch.export.export(
            Digits().eval(), (torch.randn(3, 1, 8, 8),), dynamic_shapes=({0: batch},)
        )
        torch.export.save(program, directory / "honest.pt2")
        with (
            zipfile.ZipFile(directory / "honest.pt2") as honest,
            zipfile.ZipFile(directory / "model.pt2", "w") as edited,
        ):
            for name in honest.namelist():
                content = honest.read(name)
                if name.endswith("models/model.json"):
                    assert old in content.decode()
                    content = content.replace(old.encode(), new.encode())
                edited.writestr(name, content)
        return directory / "model.pt2"

    return make
