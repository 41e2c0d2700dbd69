"""Which answers of S3 are asked again at once, beyond those that botocore knows.

botocore's standard mode repeats 5xx and throttling by name. It gives up on 408, 425 and 429 without
a known name, and on a body that was damaged on its way, which the next try mends.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from modelexport_exporter.storage.s3_codes import DAMAGED, code_in, status_in

ATTEMPTS = 6
_BUSY_STATUSES = {408, 425, 429}
_LONGEST_WAIT = 20.0


def seconds_before_repeat(
    attempts: int, response: tuple[object, Mapping[str, Any]] | None, **_: object
) -> float | None:
    """Return how long to wait before the next try; None: botocore decides.

    A handler of the event `needs-retry`. `attempts`: how many were made; `response`: the HTTP
    response and what was read from it, None without an answer.
    """
    if response is None or attempts >= ATTEMPTS or not is_repeated(response[1]):
        return None
    longest: float = min(0.25 * 2**attempts, _LONGEST_WAIT)
    return random.uniform(0.5, 1.0) * longest  # noqa: S311 - no secret


def is_repeated(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer is worth the same request again."""
    return code_in(answer) in DAMAGED or status_in(answer) in _BUSY_STATUSES
