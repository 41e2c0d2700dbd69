"""The kinds that triggers may watch."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from modelexport_api.trigger import TriggerSource
from modelexport_operator.triggers.kinds import TriggerSettings, WatchedKind

OWN = WatchedKind(api_version="example.com/v1", kind="Training", resource="trainings")


def test_well_known_kinds_are_enabled_by_default() -> None:
    found = TriggerSettings().find(TriggerSource(kind="PyTorchJob"))
    assert found is not None
    assert (found.root, found.resource, found.group) == (
        "/apis/kubeflow.org/v1",
        "pytorchjobs",
        "kubeflow.org",
    )


@pytest.mark.parametrize(
    ("source", "enabled"),
    [
        (TriggerSource(kind="Job"), True),
        (TriggerSource(kind="Job", api_version="batch/v1"), True),
        (TriggerSource(kind="RayJob"), False),
        (TriggerSource(kind="Training", api_version="example.com/v1"), True),
        (TriggerSource(kind="Training", api_version="example.com/v2"), False),
        (TriggerSource(kind="Training"), False),
    ],
)
def test_only_enabled_kinds_are_found(source: TriggerSource, enabled: bool) -> None:
    settings = TriggerSettings(kinds=["Job"], custom=[OWN])
    assert (settings.find(source) is not None) is enabled


def test_kinds_of_the_core_group_have_another_root() -> None:
    assert WatchedKind(api_version="v1", kind="Pod", resource="pods").root == "/api/v1"


def test_unknown_names_are_rejected() -> None:
    with pytest.raises(ValidationError, match="MPIJob is not one of Job"):
        TriggerSettings(kinds=["MPIJob"])
