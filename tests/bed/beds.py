"""Start a level of the bed as a person or a fixture asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bed import control_plane, node, places, runs, s3, sweep
from bed.control_plane import ControlPlane
from bed.node import NodeCluster
from bed.processes import BedError
from bed.runs import Run
from bed.s3 import S3Server


def clean_up() -> list[str]:
    """Remove what dead predecessors left; the names of their directories."""
    with places.locked("cleanup"):
        left = runs.abandoned()
        for directory in left:
            sweep.sweep(directory)
    return [str(directory) for directory in left]


@contextmanager
def s3_running() -> Iterator[S3Server]:
    """An S3 server on the loopback for as long as the block lasts."""
    clean_up()
    with Run.open("s3") as run:
        yield s3.start(run)


@contextmanager
def control_plane_running() -> Iterator[ControlPlane]:
    """A control plane for as long as the block lasts."""
    clean_up()
    with Run.open("control-plane") as run:
        yield control_plane.start(run)


@contextmanager
def node_running() -> Iterator[NodeCluster]:
    """A single-node cluster for as long as the block lasts; refused while another one runs."""
    with places.alone("node") as alone:
        if not alone:
            raise BedError("another node is running on this machine")
        clean_up()
        with Run.open("node") as run:
            yield node.start(run)
