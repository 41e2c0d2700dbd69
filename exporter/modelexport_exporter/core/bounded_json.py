"""JSON of somebody else's files: read only if its values fit into little memory.

`json` takes up to 30 times the memory of its text: 48 MB of `[[],[],…]` are 16 million lists.
"""

from __future__ import annotations

import json
from typing import Any

MOST_BYTES = 64 << 20
MOST_VALUES = 2_000_000
"""An index of the largest public models names 150,000 tensors."""


class BoundedJsonError(ValueError):
    """The text is no JSON, or too large; the message states what was found and expected."""


def read_json(text: bytes, *, values: int = MOST_VALUES, size: int = MOST_BYTES) -> Any:  # noqa: ANN401
    """Return the value of a text. Raises BoundedJsonError.

    `values`: the most values and keys that it may hold. `size`: the most bytes.
    """
    if len(text) > size:
        raise BoundedJsonError(f"it has {len(text):,} bytes; at most {size:,} are read")
    # Each value but the first follows one of them; those in texts are counted, too.
    count = sum(map(text.count, (b",", b":", b"[", b"{")))
    if count > values:
        raise BoundedJsonError(f"it has up to {count:,} values; at most {values:,} are read")
    try:
        return json.loads(text)
    except RecursionError:
        raise BoundedJsonError("it is nested too deeply") from None
    except ValueError as error:  # also text that is not UTF-8
        raise BoundedJsonError(str(error)) from None
