"""The wall clock of the operators, which a test sets: a C library that they are started with."""

from __future__ import annotations

import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from bed import processes

_SOURCE = Path(__file__).with_name("jump.c")


@dataclass(frozen=True)
class WallClock:
    """All processes with this environment have the same wall clock."""

    library: Path
    offset: Path

    @classmethod
    def build(cls, directory: Path) -> WallClock | None:
        """Compile the library; None on a machine without a C compiler."""
        compiler = shutil.which("cc")
        if compiler is None:
            return None
        clock = cls(directory / "jump.so", directory / "clock-offset")
        clock.set(0)
        processes.call([compiler, "-shared", "-fPIC", "-O1", "-o", clock.library, _SOURCE])
        return clock

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "CLOCK_OFFSET": str(self.offset)}

    def set(self, seconds: int) -> None:
        """Make it fast by so many seconds, or slow if negative."""
        mode = "r+b" if self.offset.exists() else "wb"
        with self.offset.open(mode) as file:  # in place: processes have it in their memory
            file.write(struct.pack("l", seconds))
