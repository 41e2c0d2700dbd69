"""The one exception that ends an export: a reason from a closed list, a message and a hint."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from modelexport_api.reasons import Reason, is_retryable
from modelexport_api.status import (
    FAILURE_HINT_LIMIT,
    FAILURE_MESSAGE_LIMIT,
    Failure,
    Stage,
    UnsupportedOp,
)
from modelexport_exporter.core.pitfall import Pitfall

OPS_LIMIT = 32


@dataclass(frozen=True)
class RefusedCall:
    """A call of forward that raised, to be tried again with other inputs in the same process."""

    values: Mapping[str, Any]
    """The tensors, by the names of the graph's inputs."""
    call: Callable[[Mapping[str, Any]], object]
    """Calls forward with others."""


class ExportFailure(Exception):  # noqa: N818 - "failure" is the API's word for it
    """An export cannot go on. Message: what was found and expected. Hint: what to do."""

    def __init__(
        self,
        reason: Reason,
        message: str,
        hint: str = "",
        *,
        stage: Stage | None = None,
        ops: tuple[UnsupportedOp, ...] = (),
        sources: tuple[str, ...] = (),
    ) -> None:
        super().__init__(reason, message, hint)
        self.reason = reason
        self.message = message
        self.hint = hint
        self.stage = stage
        self.ops = ops
        self.sources = sources
        """The lines of the user's code that the message names, `net.py:12`."""
        self.pitfalls: tuple[Pitfall, ...] = ()
        self.refused: RefusedCall | None = None
        """Stays in the process where it was raised."""

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"

    def describe(self, stage: Stage | None = None) -> Failure:
        """Return the failure as the API shows it; `stage` where the failure names none itself."""
        return Failure(
            reason=self.reason,
            message=printable(self.message)[:FAILURE_MESSAGE_LIMIT],
            hint=printable(self.hint)[:FAILURE_HINT_LIMIT],
            stage=self.stage or stage,
            retryable=is_retryable(self.reason),
            ops=list(self.ops[:OPS_LIMIT]),
        )


class RouteFallback(ExportFailure):
    """Not a failure of the model: the other route comes first, because a plugin wants it."""


class Incurable(ExportFailure):
    """A failure of the model itself: no other rung can avoid it."""


class NotDeterministic(Incurable):
    """Eager PyTorch gives two answers to one sample: no other rung can agree with it."""


class VaryingOutputs(Incurable):
    """Forward returns now more outputs, now fewer: a file always returns the same ones."""


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What a terminal obeys, and what turns the direction of text; not tabs and newlines."""


def printable(text: str) -> str:
    """Return text that JSON can encode and that a terminal only shows.

    File names and messages of user code may be anything.
    """
    valid = text.encode(errors="backslashreplace").decode()
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], valid)
