"""`helm test` on the installed release, and the images of one that is built."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from bed import fixtures, images, places, processes
from bed.node import NodeCluster
from e2e.product import RELEASE, SYSTEM
from release import layouts, snapshot, statement, sums
from release.build import VALUES, build
from release.check import check

pytestmark = pytest.mark.node
UNCHECKED_HASH = (1).to_bytes(4, "little")
"""The flags of bytecode (PEP 552)."""


def test_helm_test_finds_a_replica_that_leads(installed: NodeCluster, helm: Path) -> None:
    said = processes.call(
        [
            *(helm, "test", RELEASE, "--kubeconfig", installed.kubeconfig),
            *("--namespace", SYSTEM, "--timeout", "90s"),
        ]
    )
    assert "Succeeded" in said


@pytest.mark.nightly
def test_two_builds_of_an_image_have_the_same_digest(tmp_path: Path) -> None:
    fixtures.require("node")
    images.write_layout(images.base_image(), tmp_path / "base")
    (tmp_path / "repository").mkdir()
    repository = snapshot.commit(places.repository(), tmp_path / "repository")
    clone = tmp_path / "clone"
    snapshot.git(tmp_path, "clone", "--quiet", str(repository), str(clone))
    # The base is the same one elsewhere.
    processes.call(["cp", "--recursive", tmp_path / "base", tmp_path / "moved"])
    for place, base, made in ((repository, "base", "one"), (clone, "moved", "two")):
        build(
            *(place, tmp_path / made, ["images", "sbom"]),
            base=str(tmp_path / base),
            targets=["operator"],
        )
    assert sums.of(tmp_path / "one") == sums.of(tmp_path / "two")

    dist = tmp_path / "one"
    assert check(repository, dist) == snapshot.git(repository, "rev-parse", "HEAD")
    digest = layouts.digest(dist / "oci/operator")
    assert digest in (dist / VALUES).read_text()
    bill = json.loads((dist / "sbom/modelexport-operator.cdx.json").read_text())
    (content,) = bill["metadata"]["component"]["hashes"]
    assert f"sha256:{content['content']}" == digest
    said = json.loads((dist / statement.NAME).read_text())
    dependencies = said["predicate"]["buildDefinition"]["resolvedDependencies"]
    (named,) = [entry for entry in dependencies if entry["name"] == statement.BASE]
    assert f"sha256:{named['digest']['sha256']}" == layouts.digest(tmp_path / "base")
    below = len(_layers(tmp_path / "base"))
    for layer in _layers(dist / "oci/operator")[below:]:
        _depends_on_no_time(
            layer, epoch=int(snapshot.git(repository, "show", "-s", "--format=%ct"))
        )


@pytest.mark.nightly
def test_a_scan_names_packages_that_the_distribution_has_mended(tmp_path: Path) -> None:
    """Of a base whose dpkg says that old certificates are installed."""
    images.base_image()
    container = images.buildah("from", "--pull-never", images.base_name()).strip()
    old = r"/^Package: ca-certificates$/,/^$/ s/^Version: .*/Version: 20200101/"
    try:
        words = ("run", "--isolation", "chroot", container, "--")
        images.buildah(*words, "sed", "-i", old, "/var/lib/dpkg/status")
        images.buildah("commit", "--quiet", container, "localhost/old:test")
    finally:
        images.buildah("rm", container)
    images.write_layout("localhost/old:test", tmp_path / "old")
    images.buildah("rmi", "localhost/old:test")
    command = [sys.executable, "-m", "release", "scan", "--base", str(tmp_path / "old")]
    done = subprocess.run(
        command, cwd=places.repository() / "tests", capture_output=True, text=True, check=False
    )
    if "Failed to fetch" in done.stderr:
        pytest.skip(f"Debian's package sources do not answer here: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 1, done.stderr
    assert re.search(r"^ca-certificates +20200101 is mended by 202", done.stdout, re.MULTILINE), (
        done.stdout
    )


def _layers(layout: Path) -> list[Path]:
    blobs = layout / "blobs/sha256"
    manifest = json.loads((blobs / layouts.digest(layout).removeprefix("sha256:")).read_text())
    return [blobs / layer["digest"].removeprefix("sha256:") for layer in manifest["layers"]]


def _depends_on_no_time(layer: Path, epoch: int) -> None:
    """All files are of the commit's time, and no bytecode is compared with that of its source."""
    with tarfile.open(layer) as archive:
        for member in archive:
            assert member.mtime == epoch, member.name
            if member.name.startswith("opt/") and member.name.endswith(".pyc"):
                stream = archive.extractfile(member)
                assert stream
                flags = stream.read(8)[4:]
                assert flags == UNCHECKED_HASH, member.name
