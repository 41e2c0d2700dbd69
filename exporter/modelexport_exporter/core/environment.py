"""This process's secrets among its variables, which servers that it starts must not inherit.

multiprocessing starts its server with the variables that there are. So they are taken away while it
starts, and a thread that makes a client meanwhile would find none: it waits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_CREDENTIALS = "AWS_"
_COLLECTOR = "OTEL_EXPORTER_OTLP_"  # as in modelexport_api.tracing; headers, keys, URLs with users
_SECRETS = (_CREDENTIALS, "MODELEXPORT_SIGNING_KEY", _COLLECTOR)
_complete = threading.RLock()


def names_of_secrets() -> list[str]:
    """Return the variables with credentials of the store or the collector, or the signing key."""
    return [name for name in os.environ if name.startswith(_SECRETS)]


@contextmanager
def without_secrets() -> Iterator[None]:
    """Take the secrets away while the block runs."""
    with _complete:
        held = {name: os.environ.pop(name) for name in names_of_secrets()}
        try:
            yield
        finally:
            os.environ.update(held)


@contextmanager
def with_credentials() -> Iterator[tuple[tuple[str, str], ...]]:
    """Keep the credentials of the store there while the block runs; yield them."""
    with _complete:
        names = [name for name in os.environ if name.startswith(_CREDENTIALS)]
        yield tuple(sorted((name, os.environ[name]) for name in names))
