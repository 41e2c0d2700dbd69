"""Files that run in the process of the runtime, which has the user's plugins and libraries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from modelexport_api.spec import Provider
from modelexport_exporter.core.carried import Carried
from modelexport_exporter.core.providers import AssignedNode
from modelexport_exporter.isolation.peer import Asker

Array = NDArray[Any]


@dataclass(frozen=True)
class Opened:
    """What the session of a file states."""

    number: int
    """Of the session, in its process."""
    provider: Provider
    assignment: tuple[AssignedNode, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    output_shapes: dict[str, tuple[int | str, ...]]


@dataclass(frozen=True)
class Ran:
    """The outputs of a run, and their names."""

    names: tuple[str, ...]
    arrays: list[Carried]


ANSWERS: dict[str, Any] = {"open": Opened, "run": Ran, "close": type(None)}
"""What the judge may ask the process of the runtime."""


class RemoteRuntime:
    """Opens files in the process of the runtime."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def open(self, path: Path, provider: Provider, *, prepack: bool) -> RemoteFile:
        """Load a file. Raises ExportFailure."""
        opened: Opened = self._asker.ask("open", (path, provider, prepack), ANSWERS["open"])
        return RemoteFile(self._asker, opened)


class RemoteFile:
    """A file that is loaded there, until this is freed."""

    def __init__(self, asker: Asker, opened: Opened) -> None:
        self._asker, self._number = asker, opened.number
        self.provider = opened.provider
        self.assignment = opened.assignment
        self.input_names, self.output_names = opened.input_names, opened.output_names
        self.output_shapes: Mapping[str, tuple[int | str, ...]] = opened.output_shapes

    def run(self, arrays: Mapping[str, Array], where: str) -> list[Array]:
        """Return the outputs. Raises ExportFailure."""
        arguments = (self._number, dict(arrays), where)
        ran: Ran = self._asker.ask("run", arguments, ANSWERS["run"])
        self.output_names = ran.names
        return ran.arrays

    def __del__(self) -> None:
        """Let the other process free its memory."""
        self._asker.forget("close", (self._number,), ANSWERS["close"])
