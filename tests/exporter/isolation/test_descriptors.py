"""What a worker inherits: nothing by which it could reach more than its own two pipes."""

from __future__ import annotations

import time

from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.isolation import server, worker


def test_a_worker_has_its_own_pipes_only() -> None:
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
    assert found == 2, "the channel, and the end of its own process"
