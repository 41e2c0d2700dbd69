from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.workspace import workspace


def test_it_is_gone_afterwards_also_after_a_failure(tmp_path: Path) -> None:
    def fail_inside() -> None:
        with workspace(tmp_path / "work") as directory:
            (directory / "file").write_text("x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_inside()
    assert list((tmp_path / "work").iterdir()) == []


def test_a_killed_run_is_swept_and_a_living_one_is_not(tmp_path: Path) -> None:
    killed = tmp_path / "modelexport-run-killed"
    killed.mkdir()
    (killed / "lock").touch()
    strangers = tmp_path / "precious"
    strangers.mkdir()
    with workspace(tmp_path) as living, workspace(tmp_path):
        assert not killed.exists()
        assert living.exists()
        assert strangers.exists()


def test_a_place_that_cannot_be_written_is_typed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ExportFailure) as caught, workspace(tmp_path / "file" / "work"):
        pass
    assert caught.value.reason is Reason.DESTINATION_DENIED
    assert "for files in the making" in caught.value.message
    assert "--work-dir" in caught.value.hint
