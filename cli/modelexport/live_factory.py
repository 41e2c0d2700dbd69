"""Builds a module that another process wrote: called by the code next to it, in a worker."""

from __future__ import annotations

import io
import json
import linecache
import pickle
import warnings
from pathlib import Path
from typing import Any

import torch

MODULE_FILE = "module.pkl"
EXAMPLE_FILE = "example.pkl"
LINES_FILE = "lines.json"
CODES_FILE = "codes.json"


def build_from(code: str) -> torch.nn.Module:
    """Return the module, whose weights have no values yet. `code`: path of the file next to it."""
    directory = Path(code).parent
    _restore_lines(directory / LINES_FILE)
    with (directory / MODULE_FILE).open("rb") as file:
        module: torch.nn.Module = _Unpickler(file).load()
    return module.eval()


def example_from(code: str) -> Any:  # noqa: ANN401
    """Return forward's `(args, kwargs)`."""
    with (Path(code).parent / EXAMPLE_FILE).open("rb") as file:
        return pickle.load(file)  # noqa: S301 - written by the caller's own process


def same(value: Any) -> Any:  # noqa: ANN401
    """Return a value that was pickled in place of another."""
    return value


def without_init(kind: type[torch.nn.Module]) -> torch.nn.Module:
    """Return an object whose attributes pickle sets."""
    return kind.__new__(kind)


def script_from(archive: bytes) -> torch.nn.Module:
    """Return a part that TorchScript compiled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch deprecates it; no other way yet
        loaded: torch.nn.Module = torch.jit.load(io.BytesIO(archive), map_location="cpu")  # type: ignore[no-untyped-call]
    return loaded


class _Unpickler(pickle.Unpickler):
    """Makes an empty tensor of each weight; one for all places that share it."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401
        super().__init__(file)
        self._made: dict[str, torch.Tensor] = {}

    def persistent_load(self, weight: Any) -> torch.Tensor:  # noqa: ANN401
        """Return the tensor for a description."""
        name, shape, dtype, is_parameter = weight
        if name not in self._made:
            empty = torch.zeros(shape, dtype=dtype)
            made = torch.nn.Parameter(empty, requires_grad=False) if is_parameter else empty
            self._made[name] = made
        return self._made[name]


def _restore_lines(path: Path) -> None:
    for name, lines in json.loads(path.read_text(encoding="utf-8")).items():
        linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
