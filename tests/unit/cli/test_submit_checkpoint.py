"""`submit` with a checkpoint in the place of a manifest: what ends it before any cluster."""

from __future__ import annotations

import pytest

from modelexport_api.reasons import ExitCode
from modelexport_cli.main import main


def test_wrong_options_end_it_before_a_cluster_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = main(["submit", "s3://models/net.pt", "--input", "x:flaot32"])
    assert code == ExitCode.MANIFEST
    assert "did you mean float32?" in capsys.readouterr().out


def test_a_path_is_a_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["submit", "gone.yaml", "--kubeconfig", "gone"])
    assert code == ExitCode.MANIFEST
    assert "gone.yaml cannot be read" in capsys.readouterr().err
