"""Telling a machine that is too small from a mistake of the user."""

from __future__ import annotations

from modelexport_exporter.core.user_frame import text_of


def reraise_out_of_memory(error: BaseException) -> None:
    """Raise the error again if it is a failed allocation: no stage may give it a reason of its own.

    The worker's shell turns it into OutOfMemory.
    """
    if isinstance(error, MemoryError) or "can't allocate memory" in text_of(error):
        raise error
