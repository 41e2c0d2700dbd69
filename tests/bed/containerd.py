"""containerd, with everything that it writes in the directory of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bed import node_config, processes
from bed.processes import Child
from bed.registry import Registry
from bed.runs import Run

_DIRECTORY = "containerd"


@dataclass(frozen=True)
class Containerd:
    """A running containerd, and its own client in the kubelet's namespace."""

    child: Child
    socket: Path

    def ctr(self, *arguments: str | Path) -> str:
        """Run the client."""
        client: list[str | Path] = ["ctr", "--address", self.socket, "--namespace", "k8s.io"]
        return processes.call([*client, *arguments])

    def pull(self, image: str, registry: Registry) -> None:
        """Make an image of the registry usable with `imagePullPolicy: Never`."""
        reference = registry.reference(image)
        self.ctr("images", "pull", "--plain-http", reference)
        self.ctr("images", "tag", "--force", reference, image)
        # Only the name without the registry's address is used.
        self.ctr("images", "rm", reference)


def root(run: Run) -> Path:
    """Return where the containerd of a run keeps images."""
    return run.subdirectory(_DIRECTORY) / "root"


def start(run: Run) -> Containerd:
    """Start containerd for as long as RUN lasts."""
    directory = run.subdirectory(_DIRECTORY)
    network = node_config.cni(directory, network=run.directory.name)
    (run.subdirectory(f"{_DIRECTORY}/cni") / "10-bed.conflist").write_text(network)
    configuration = directory / "config.toml"
    configuration.write_text(node_config.containerd(directory))
    child = run.spawn("containerd", ["containerd", "--config", configuration])
    started = Containerd(child, directory / "containerd.sock")
    processes.wait_until(lambda: _answers(started), "containerd answers", children=[child])
    return started


def _answers(containerd: Containerd) -> bool:
    try:
        containerd.ctr("version")
    except processes.BedError:
        return False
    return True
