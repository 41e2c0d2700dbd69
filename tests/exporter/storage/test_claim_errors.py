"""What a refusal of a volume says: who asked, and whose the place is that refused."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.storage.claims import ClaimStore
from modelexport_exporter.storage.store import Role

REFUSED = PermissionError(errno.EACCES, "Permission denied")


@pytest.mark.parametrize(
    ("role", "path", "place"),
    [
        (Role.SOURCE, "run/model.pt", "pvc://training/run/model.pt"),
        (Role.SOURCE, "latest/model.pt", "pvc://training/latest/model.pt"),
        (Role.SOURCE, "run/", "pvc://training/run"),
        (Role.SOURCE, "run/hidden/model.pt", "pvc://training/run"),
        (Role.DESTINATION, "run/model.pt", "pvc://training/run"),
        (Role.DESTINATION, "run/.staging/key/marker", "pvc://training/run"),
        (Role.DESTINATION, "onnx/manifest.json", "pvc://training/"),
    ],
)
def test_the_place_that_refuses_is_named_with_its_owner(
    tmp_path: Path, role: Role, path: str, place: str
) -> None:
    run = tmp_path / "run"
    run.mkdir(mode=0o750)
    (run / "model.pt").write_bytes(b"weights")
    (run / "model.pt").chmod(0o640)
    (tmp_path / "latest").symlink_to("run")
    tmp_path.chmod(0o750)
    failure = ClaimStore("training", tmp_path, role).failure_of(REFUSED, path)
    mode = "-rw-r-----" if place.endswith(".pt") else "drwxr-x---"
    owner = f"is of user {os.geteuid()} and group {os.getegid()} ({mode})."
    assert f"{place} {owner}" in failure.hint
    written = role is Role.DESTINATION
    assert failure.reason is (Reason.DESTINATION_DENIED if written else Reason.ACCESS_DENIED)
    assert ("write there" if written else "read it") in failure.hint
