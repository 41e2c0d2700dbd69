"""Errors of torch's functions after which forward goes on, seen while it runs.

torch.jit.trace must not meet one: an operator that raises leaves the tracer without its state, and
the process ends with a segmentation fault (torch 2.15).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.user_frame import UserLine, running_model_line, text_of
from modelexport_exporter.torch_internals.call_mode import CallMode

_BEFORE_OPERATORS = (TypeError, AttributeError)
"""Raised for the arguments, before an operator runs."""


@dataclass(frozen=True)
class CaughtError:
    """An error that a function of torch raised."""

    error: str
    """Its class and its message."""
    line: UserLine | None

    def __str__(self) -> str:
        return f"{self.error}{f' ({self.line})' if self.line else ''}"


class CaughtErrors(CallMode):
    """While active, notes the first error of torch; after a run that returned, it was caught."""

    def __init__(self, code_dir: Path | None = None) -> None:
        super().__init__()
        self.first: CaughtError | None = None
        self._code_dir = code_dir

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return what the function returns."""
        try:
            return func(*args, **kwargs)
        except Exception as error:
            if self.first is None and not isinstance(error, _BEFORE_OPERATORS):
                text = f"{type(error).__name__}: {text_of(error)[:200]}"
                self.first = CaughtError(text, running_model_line(self._code_dir))
            raise

    def check(self) -> None:
        """Raise ExportFailure if forward, which has returned, caught an error."""
        if self.first is not None:
            raise _not_traced(self.first)


def _not_traced(caught: CaughtError) -> ExportFailure:
    return ExportFailure(
        Reason.CAPTURE_FAILED,
        f"forward catches an error of an operator, and goes on: {caught}. torch.jit.trace cannot "
        "follow it, and a file has no exceptions",
        "Write the condition with tensors.",
        sources=(caught.line.source,) if caught.line else (),
    )
