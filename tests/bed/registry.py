"""An image registry for the test bed, whose content outlives a run.

buildah pushes only the layers that the registry lacks, and containerd pulls only those that it
lacks: the layer of the exporter's dependencies (3.3 GB compressed) is transferred once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from bed import golang, places, processes
from bed.runs import Run


@dataclass(frozen=True)
class Registry:
    """Where the registry is."""

    address: str

    def reference(self, image: str) -> str:
        """Return the name of an image of the bed, `localhost/NAME:TAG`, in this registry."""
        return f"{self.address}/{image.partition('/')[2]}"


def start(run: Run) -> Registry:
    """Serve images on the loopback for as long as RUN lasts."""
    registry = Registry(f"127.0.0.1:{_port()}")
    configuration = run.directory / "registry.json"
    configuration.write_text(config(registry.address))
    command: list[str | Path] = [golang.REGISTRY.binary("registry"), "serve", configuration]
    child = run.spawn("registry", command)
    processes.wait_until(
        lambda: processes.answers(f"http://{registry.address}/v2/"),
        "the registry answers",
        children=[child],
        seconds=20,
    )
    return registry


def _port() -> int:
    """The port of the last run, if it is free: buildah knows what an address has already."""
    kept = places.cache() / "registry.port"
    port = processes.free_port(preferred=int(kept.read_text()) if kept.exists() else 0)
    kept.write_text(str(port))
    return port


def config(address: str) -> str:
    """Return the configuration of a registry at ADDRESS; YAML's subset that is JSON."""
    storage = {"filesystem": {"rootdirectory": str(places.cache() / "registry")}}
    return json.dumps(
        {
            "version": "0.1",
            "log": {"level": "warn", "accesslog": {"disabled": True}},
            "storage": storage,
            "http": {"addr": address},
        }
    )
