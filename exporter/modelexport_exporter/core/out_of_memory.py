"""Recognises failed allocations, which are the machine's limit and no mistake of the user."""

from __future__ import annotations

from modelexport_exporter.core.foreign_messages import ALLOCATION_FAILED
from modelexport_exporter.core.user_frame import message_of


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether the error is a failed allocation, on the CPU or on a GPU.

    `torch.OutOfMemoryError` is recognised by name: the supervisor does not import torch.
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return ALLOCATION_FAILED in message_of(error)


def reraise_out_of_memory(error: BaseException) -> None:
    """Raise the error again if it is a failed allocation.

    No stage may report it under another reason: the worker turns it into OutOfMemory.
    """
    if is_out_of_memory(error):
        raise error
