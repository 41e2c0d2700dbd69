from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_cli.cluster.invocation import Invocation
from modelexport_cli.cluster.kubeconfig import Selection


@pytest.mark.parametrize(
    ("prog", "selection", "expected"),
    [
        ("modelexport", Selection(), "modelexport cancel digits"),
        ("kubectl modelexport", Selection(), "kubectl modelexport cancel digits"),
        (
            "modelexport",
            Selection(Path("my config"), "dev", "team"),
            "modelexport cancel digits -n team --context dev --kubeconfig 'my config'",
        ),
    ],
)
def test_a_hint_can_be_pasted(prog: str, selection: Selection, expected: str) -> None:
    assert Invocation(prog, selection).command("cancel", "digits") == expected


def test_kubectl_and_another_namespace() -> None:
    called = Invocation("modelexport", Selection(context="dev")).within("team")
    assert called.kubectl("get", "mex") == "kubectl get mex -n team --context dev"
