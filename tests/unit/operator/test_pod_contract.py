"""What a pod template may not contain, control by control of the Pod Security Standard."""

from __future__ import annotations

import pytest

from modelexport_operator.job import JobError, build
from modelexport_operator.settings import Settings, SettingsError
from modelexport_operator.settings import parse as parse_settings
from unit.operator.objects import SETTINGS, export
from unit.operator.pod_standard import (
    ACCEPTED,
    APP_ARMOR,
    REFUSED_BY_BOTH,
    REFUSED_BY_US,
    Template,
    annotated,
    token,
)

REFUSED = [*REFUSED_BY_BOTH, *REFUSED_BY_US]


@pytest.mark.parametrize(
    ("template", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_it_is_refused_by_name(template: Template, words: str) -> None:
    with pytest.raises(JobError, match=words) as caught:
        build(export({"podTemplate": template}), SETTINGS)
    assert str(caught.value).startswith("spec.podTemplate")


@pytest.mark.parametrize(
    "template", [row[1] for row in REFUSED], ids=[f"chart: {row[0]}" for row in REFUSED]
)
def test_the_chart_s_template_may_not_contain_it_either(template: Template) -> None:
    with pytest.raises(SettingsError):
        parse_settings({"exporterImage": "exporter:1", "podTemplate": template})


@pytest.mark.parametrize("template", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_it_is_accepted(template: Template) -> None:
    built = build(export({"podTemplate": template}), SETTINGS)["spec"]["template"]["spec"]
    assert built["securityContext"]["runAsNonRoot"] is True


def test_the_settings_list_the_audiences() -> None:
    settings = Settings(exporter_image="exporter:1", token_audiences=["vault"])
    build(export({"podTemplate": token(audience="vault")}), settings)
    with pytest.raises(JobError, match="expected vault"):
        build(export({"podTemplate": token(audience="sts.amazonaws.com")}), settings)
    none = Settings(exporter_image="exporter:1", token_audiences=[])
    with pytest.raises(JobError, match="no token is allowed"):
        build(export({"podTemplate": token(audience="vault")}), none)


@pytest.mark.parametrize("value", ["unconfined", "Unconfined", "", "runtime/default2", "localhost"])
def test_only_profiles_that_confine_are_accepted(value: str) -> None:
    with pytest.raises(JobError, match="expected runtime/default or localhost/PROFILE"):
        build(export({"podTemplate": annotated(f"{APP_ARMOR}exporter", value)}), SETTINGS)
    build(export({"podTemplate": annotated(f"{APP_ARMOR}exporter", "localhost/own")}), SETTINGS)
