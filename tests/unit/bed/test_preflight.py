"""A bed that cannot start says why, and what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bed.preflight import LEVELS, NODE_DISK, Level, Machine, image_obstacles, obstacles

READY = Machine(user=0, missing_packages=(), missing_parts=(), free_disk=NODE_DISK, other_bed=None)


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_stands_in_the_way_on_a_ready_machine(level: Level) -> None:
    assert obstacles(level, READY) == []


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        pytest.param(replace(READY, user=1000), "needs root", id="not root"),
        pytest.param(
            replace(READY, missing_packages=("runc", "buildah")),
            "missing Debian packages: runc buildah; run `make testbed`",
            id="no packages",
        ),
        pytest.param(
            replace(READY, missing_parts=("etcd 3.6.8",)),
            "not built: etcd 3.6.8; run `make testbed`",
            id="not built",
        ),
        pytest.param(
            replace(READY, free_disk=3 * 1024**3), "3.0 GiB of disk free", id="little disk"
        ),
        pytest.param(
            replace(READY, other_bed=Path("node-1")), "another node is running", id="not alone"
        ),
    ],
)
def test_a_node_names_what_stands_in_its_way(machine: Machine, said: str) -> None:
    (reason,) = obstacles("node", machine)
    assert said in reason


def test_a_browser_needs_its_package_alone() -> None:
    machine = replace(READY, user=1000, free_disk=0)
    assert obstacles("browser", machine) == []
    (reason,) = obstacles("browser", replace(machine, missing_packages=("chromium",)))
    assert reason == "missing Debian packages: chromium; run `make testbed`"


def test_every_obstacle_is_named_at_once() -> None:
    machine = replace(READY, user=1000, missing_packages=("runc",), free_disk=0)
    assert len(obstacles("node", machine)) == 3


def test_a_control_plane_needs_neither_root_nor_disk_nor_solitude() -> None:
    machine = replace(
        READY, user=1000, missing_packages=("runc",), free_disk=0, other_bed=Path("node-1")
    )
    assert obstacles("control-plane", machine) == []


@pytest.mark.parametrize(
    ("target", "built", "gib", "obstacles_named"),
    [
        pytest.param("exporter", False, 10, 1, id="too little for torch"),
        pytest.param("exporter", True, 10, 0, id="built already"),
        pytest.param("operator", False, 10, 0, id="enough for the operator"),
    ],
)
def test_an_image_needs_disk_until_it_is_built(
    target: str, built: bool, gib: int, obstacles_named: int
) -> None:
    assert len(image_obstacles(target, built, gib * 1024**3)) == obstacles_named
