"""Which answers of S3 are asked again at once, beyond those that botocore knows.

botocore's standard mode repeats 5xx and throttling by name. It gives up on 408, 425 and 429 without
a known name, on an operation that another one aborted, on a body that was damaged on its way, and
on an answer that lacks what every one of S3 has, because something in between sent it. The next try
mends them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modelexport_exporter.storage.s3_codes import (
    ABORTED,
    DAMAGED,
    code_in,
    is_incomplete,
    status_in,
)

if TYPE_CHECKING:
    from botocore.model import OperationModel

ATTEMPTS = 6
_BUSY_STATUSES = {408, 425, 429}
_LONGEST_WAIT = 20.0


def seconds_before_repeat(
    attempts: int,
    response: tuple[object, Mapping[str, Any]] | None,
    operation: OperationModel,
    **_: object,
) -> float | None:
    """Return how long to wait before the next try; None: botocore decides.

    A handler of the event `needs-retry`. `attempts`: how many were made; `response`: the HTTP
    response and what was read from it, None without an answer.
    """
    if response is None or attempts >= ATTEMPTS or not is_repeated(operation.name, response[1]):
        return None
    longest: float = min(0.25 * 2**attempts, _LONGEST_WAIT)
    return random.uniform(0.5, 1.0) * longest  # noqa: S311 - no secret


def is_repeated(operation: str, answer: Mapping[str, Any]) -> bool:
    """Return whether an answer is worth the same request again."""
    return (
        code_in(answer) in DAMAGED | ABORTED
        or status_in(answer) in _BUSY_STATUSES
        or is_incomplete(operation, answer)
    )
