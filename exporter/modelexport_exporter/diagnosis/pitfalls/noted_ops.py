"""The ATen ops of a kind that forward calls, by the user's line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.core.user_frame import running_line
from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name

_MOST = 3


class NotedOps(AtenMode):
    """A mode that notes some of the ops that it sees."""

    def __init__(self, code_dir: Path | None) -> None:
        super().__init__()
        self.noted: dict[str, str] = {}
        """The first op by the user's line."""
        self._code_dir = code_dir

    def note(self, func: Any) -> None:  # noqa: ANN401
        """Note an op at the line that runs."""
        line = running_line(self._code_dir)
        self.noted.setdefault(line.source if line else "", op_name(func))

    def pitfalls(self, message: str, suggestion: str) -> Iterator[Pitfall]:
        """Yield the first lines. `message`: has a place for the name of the op."""
        for source, operator in list(self.noted.items())[:_MOST]:
            text = message.format(operator)
            yield Pitfall(PitfallKind.NOT_DETERMINISTIC, text, source, suggestion)
