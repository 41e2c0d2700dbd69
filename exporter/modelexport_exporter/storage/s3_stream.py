"""Bodies of requests and answers of S3, and the end of those that stand still.

A server or a proxy that sends a byte now and then keeps the socket's timeout from ever passing. So
a least rate is demanded of each window of time.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from urllib3 import HTTPResponse

LEAST_BYTES_PER_SECOND = 1024
WINDOW_SECONDS = 60.0
READ_BYTES = 1 << 20
SEND_BYTES = 1 << 18
"""Sent at once; the socket's timeout is for all of them."""


class Pace:
    """Compares the bytes of each window of time with the least rate."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since = clock()
        self._bytes = 0

    def moved(self, count: int) -> None:
        """Count bytes. Raises a botocore error if a whole window brought too few."""
        from botocore.exceptions import ResponseStreamingError

        self._bytes += count
        seconds = self._clock() - self._since
        if seconds < WINDOW_SECONDS:
            return
        if self._bytes < LEAST_BYTES_PER_SECOND * seconds:
            rate = f"{self._bytes} bytes in {seconds:.0f} s"
            raise ResponseStreamingError(error=f"the transfer stands still: {rate}")
        self._since, self._bytes = self._clock(), 0


def blocks(body: StreamingBody) -> Iterator[bytes]:
    """Yield a body as it arrives. Raises errors of botocore; the connection is closed then."""
    from botocore.exceptions import ReadTimeoutError, ResponseStreamingError
    from urllib3.exceptions import HTTPError
    from urllib3.exceptions import TimeoutError as UrllibTimeoutError

    pace = Pace()
    # The stream below: `body.read` returns only when a whole block has come.
    with body as entered:
        stream = cast("HTTPResponse", entered)
        try:
            while block := stream.read1(READ_BYTES):
                pace.moved(len(block))
                yield block
        except UrllibTimeoutError as error:
            raise ReadTimeoutError(endpoint_url="", error=error) from error
        except (HTTPError, OSError) as error:
            raise ResponseStreamingError(error=error) from error


class SentBody(io.BytesIO):
    """The body of a request, handed out in large blocks: each one is a call to send."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._pace = Pace()

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next block, larger than what was asked for. Raises a botocore error."""
        block = super().read(size if size is None or size < 0 else max(size, SEND_BYTES))
        self._pace.moved(len(block))
        return block

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to a position; a request that begins again has a window of its own."""
        self._pace = Pace()
        return super().seek(offset, whence)
