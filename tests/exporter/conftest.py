"""Fixtures of the exporter's tests: a store of either kind, and a resource to run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bed.s3 import S3Server
from modelexport_api.claims import CLAIMS_DIR_ENV
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Storage
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.store import Location, Role
from throttling import Throttle, throttling

Place = Callable[[str, Role], Location]


@pytest.fixture(params=["file", pytest.param("s3", marks=pytest.mark.s3)])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URI of an empty directory in either kind of store, with its slash."""
    return root_of(request.param, request, tmp_path)


@pytest.fixture(params=["file", "pvc", pytest.param("s3", marks=pytest.mark.s3)])
def any_root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same in every kind of store: for tests of what a store itself promises."""
    return root_of(request.param, request, tmp_path)


def root_of(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URI of an empty directory in a store, with its slash."""
    if kind == "file":
        return f"file://{tmp_path}/store/"
    if kind == "pvc":
        (tmp_path / "claims" / "training").mkdir(parents=True)
        request.getfixturevalue("monkeypatch").setenv(CLAIMS_DIR_ENV, f"{tmp_path}/claims")
        return "pvc://training/"
    server: S3Server = request.getfixturevalue("s3")
    bucket: str = request.getfixturevalue("bucket")
    monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    return f"s3://{bucket}/"


@pytest.fixture
def workers_log() -> Iterator[Path]:
    """A file, not made yet, that a worker may write: outside of its run, only shared memory is."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        yield Path(directory, "log")


@pytest.fixture
def storage(root: str, request: pytest.FixtureRequest) -> Storage:
    """How the store of `root` is reached."""
    if not root.startswith("s3:"):
        return Storage()
    server: S3Server = request.getfixturevalue("s3")
    return Storage(endpoint=server.endpoint)


@pytest.fixture
def place(root: str, storage: Storage) -> Place:
    """Names a location below the root, for a role."""

    def located(name: str, role: Role = Role.DESTINATION) -> Location:
        return locate(root + name, storage, role)

    return located


@pytest.fixture
def resource(root: str, storage: Storage) -> Callable[..., ModelExport]:
    """Makes a ModelExport whose checkpoint, code and destination lie below the root."""

    def made(behaviour: str = "", *, uid: str | None = None, **spec: object) -> ModelExport:
        return ModelExport.model_validate(
            {
                "apiVersion": "modelexport.dev/v1alpha1",
                "kind": "ModelExport",
                "metadata": {"name": "small", "uid": uid},
                "spec": {
                    "source": {"uri": f"{root}run/model.pt"},
                    "storage": storage.to_wire(),
                    "model": {"factory": "small:build", "kwargs": {"behaviour": behaviour}},
                    "inputs": [{"name": "x", "shape": [4]}],
                    "verification": {"benchmark": False},
                    "destination": {"uri": f"{root}out/"},
                    **spec,
                },
            }
        )

    return made


@pytest.fixture
def proxy(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Throttle]:
    """A proxy in front of the S3 server, whose keys the environment has."""
    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    with throttling(s3.endpoint) as throttle:
        yield throttle
