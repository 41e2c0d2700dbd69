"""What a worker inherits: nothing to write to but the channel to the supervisor, and its output."""

from __future__ import annotations

import time

from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.isolation import server, worker


def test_a_worker_writes_to_its_supervisor_only() -> None:
    server.start_server(("hostile_workers",))
    found = worker.run(
        "hostile_workers:writable_pipes",
        (),
        int,
        on_progress=lambda *_: None,
        on_output=lambda _line: None,
        memory=MemoryWatch(),
        deadline=time.monotonic() + 300,
    )
    assert found == 1, "the channel"
