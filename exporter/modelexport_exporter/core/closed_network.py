"""Whether an error of the model's code comes from the network that it does not have."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator

_closed = False
"""Of this process."""

ADVICE = (
    "The model's code has no network here: set model.network: Open, or download once and give the "
    "directory as source.uri."
)


def note_closed() -> None:
    """Remember that this process has no network."""
    global _closed  # noqa: PLW0603 - the state of this process
    _closed = True


def advice(error: BaseException) -> str:
    """Return what to do about an error that comes from the closed network, else nothing."""
    return ADVICE if _closed and any(map(_is_of_network, _chain(error))) else ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_of_network(error: BaseException) -> bool:
    if isinstance(error, socket.gaierror | ConnectionError):
        return True
    # socket() without a file is what the filter refuses.
    return isinstance(error, OSError) and error.errno == errno.EPERM and error.filename is None
