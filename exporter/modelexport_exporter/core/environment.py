"""This process's credentials among its variables, which servers that it starts must not inherit.

multiprocessing starts its server with the variables that there are. So they are taken away while it
starts, and a thread that makes a client meanwhile would find none: it waits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PREFIX = "AWS_"
_complete = threading.RLock()


def names_of_credentials() -> list[str]:
    """Return the variables with credentials that are there."""
    return [name for name in os.environ if name.startswith(_PREFIX)]


@contextmanager
def without_credentials() -> Iterator[None]:
    """Take the credentials away while the block runs."""
    with _complete:
        held = {name: os.environ.pop(name) for name in names_of_credentials()}
        try:
            yield
        finally:
            os.environ.update(held)


@contextmanager
def with_credentials() -> Iterator[tuple[tuple[str, str], ...]]:
    """Keep the credentials there while the block runs; yield them."""
    with _complete:
        yield tuple(sorted((name, os.environ[name]) for name in names_of_credentials()))
