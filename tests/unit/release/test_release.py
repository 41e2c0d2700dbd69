"""A release of a commit: built twice with the same bytes, and refused when it is not what it says.

The repository is one of its own, with the files of this checkout in a commit.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bed import golang
from release import snapshot, statement, sums
from release.build import PARTS, build
from release.chart import CONFIG, CONTENT
from release.check import check
from release.errors import ReleaseError
from release.snapshot import git

ROOT = Path(__file__).parents[3]

needs_helm = pytest.mark.skipif(golang.HELM.missing, reason="needs helm: make testbed")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose only commit has what git does not ignore here."""
    return snapshot.commit(ROOT, tmp_path_factory.mktemp("repository"))


@pytest.fixture(scope="module")
def released(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("released") / "dist"
    build(repository, dist, ["wheels", "sbom"])
    return dist


@pytest.fixture
def copied(released: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(released, tmp_path / "dist"))


def rewrite_sums(dist: Path) -> None:
    (dist / sums.NAME).write_text(sums.text(sums.of(dist, without=[sums.NAME])))


def test_a_release_is_what_it_says(repository: Path, released: Path) -> None:
    assert check(repository, released) == git(repository, "rev-parse", "HEAD")
    assert list(released.glob("*.whl"))
    assert len(list(released.glob("sbom/*.cdx.json"))) == 3
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", sums.NAME], cwd=released, check=False
    )
    assert done.returncode == 0


@needs_helm
def test_two_runs_give_the_same_bytes_from_any_work_tree(repository: Path, tmp_path: Path) -> None:
    # Images are in e2e/test_release.py.
    parts = [part for part in PARTS if part not in {"notices", "images"}]
    build(repository, tmp_path / "one", parts)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(repository), str(clone))
    # Neither what is not committed nor the times of files have a part in it.
    (clone / "api/modelexport_api/stray.py").write_text("")
    (clone / "README.md").write_text("changed")
    build(clone, tmp_path / "two", parts)
    assert sums.of(tmp_path / "one") == sums.of(tmp_path / "two")


@pytest.mark.nightly
def test_two_runs_give_the_same_notices(repository: Path, tmp_path: Path) -> None:
    build(repository, tmp_path / "one", ["notices"])
    build(repository, tmp_path / "two", ["notices"])
    assert sums.of(tmp_path / "one") == sums.of(tmp_path / "two")
    text = (tmp_path / "one/THIRD_PARTY_NOTICES.txt").read_text()
    assert "nvidia-cublas" in text
    assert "NVIDIA" in text


@needs_helm
def test_helm_reads_the_chart_and_the_layout_holds_it(repository: Path, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    build(repository, dist, ["chart"])
    (package,) = dist.glob("*.tgz")
    words = [str(golang.HELM.binary("helm")), "template", "x", str(package)]
    assert (
        "kind: Deployment"
        in subprocess.run(words, check=True, capture_output=True, text=True).stdout
    )
    blobs = dist / "oci/chart/blobs/sha256"
    (entry,) = json.loads((dist / "oci/chart/index.json").read_text())["manifests"]
    manifest = json.loads((blobs / entry["digest"].removeprefix("sha256:")).read_text())
    assert manifest["config"]["mediaType"] == CONFIG
    (layer,) = manifest["layers"]
    assert layer["mediaType"] == CONTENT
    assert (blobs / layer["digest"].removeprefix("sha256:")).read_bytes() == package.read_bytes()
    for blob in blobs.iterdir():
        assert hashlib.sha256(blob.read_bytes()).hexdigest() == blob.name


def test_a_changed_file_is_found(repository: Path, copied: Path) -> None:
    (wheel,) = copied.glob("*.whl")
    wheel.write_bytes(b"")
    with pytest.raises(ReleaseError, match=f"SumsDiffer: {wheel.name} has sha256"):
        check(repository, copied)


def test_a_changed_file_with_new_sums_is_not_what_was_built(repository: Path, copied: Path) -> None:
    (copied / "stray.txt").write_text("more")
    rewrite_sums(copied)
    with pytest.raises(ReleaseError, match=r"ProvenanceDiffers: stray\.txt is not in the list"):
        check(repository, copied)


def test_a_statement_about_other_inputs(repository: Path, copied: Path) -> None:
    said = json.loads((copied / statement.NAME).read_text())
    said["predicate"]["buildDefinition"]["resolvedDependencies"][1]["digest"]["sha256"] = "0" * 64
    (copied / statement.NAME).write_text(json.dumps(said))
    rewrite_sums(copied)
    with pytest.raises(ReleaseError, match="ProvenanceDiffers: Dockerfile has sha256"):
        check(repository, copied)


def test_a_statement_about_a_commit_that_is_not_here(repository: Path, copied: Path) -> None:
    said = (copied / statement.NAME).read_text()
    head = git(repository, "rev-parse", "HEAD")
    (copied / statement.NAME).write_text(said.replace(head, "0" * 40))
    rewrite_sums(copied)
    with pytest.raises(ReleaseError, match="NoCommit"):
        check(repository, copied)


def test_what_cannot_be_released(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="PartUnknown: wheel; expected some of: wheels, chart"):
        build(repository, tmp_path / "dist", ["wheel"])
    with pytest.raises(ReleaseError, match=r"BaseMissing: .* Give BASE=NAME@sha256:…"):
        build(repository, tmp_path / "dist", list(PARTS))
    assert not (tmp_path / "dist").exists()
    with pytest.raises(ReleaseError, match="ImageUnknown: exporter-gpu; expected some of: oper"):
        build(repository, tmp_path / "dist", ["images"], targets=["exporter-gpu"])
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ReleaseError, match="NotARelease"):
        build(repository, tmp_path, ["sbom"])
    assert (tmp_path / "thesis.txt").exists()
    with pytest.raises(ReleaseError, match="ReleaseIncomplete"):
        check(repository, tmp_path)


def test_the_statement_is_in_toto(released: Path) -> None:
    from google.protobuf.json_format import ParseDict
    from in_toto_attestation.v1 import statement_pb2

    said = json.loads((released / statement.NAME).read_text())
    parsed = ParseDict(said, statement_pb2.Statement())
    assert {subject.name for subject in parsed.subject} == set(statement.subjects(said))
