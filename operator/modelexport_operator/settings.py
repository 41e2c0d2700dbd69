"""The operator's configuration file, as the chart writes it into a ConfigMap.

A file that does not fit ends the process with a sentence for each mistake, before anything starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from modelexport_api.base import ApiModel
from modelexport_operator import pod_contract
from modelexport_operator.pod_template import TemplateError, merge
from modelexport_operator.triggers.kinds import TriggerSettings

Seconds = Annotated[float, Field(gt=0, le=86_400)]


class SettingsError(ValueError):
    """A configuration that the operator cannot work with; one line for each mistake."""


class WorkVolume(ApiModel):
    """The emptyDir in which the pod keeps checkpoint and artifact."""

    size_limit: str | None = Field(default=None, description="Such as 50Gi; absent: no limit.")


class LeaseSettings(ApiModel):
    """Leader election. A leader that could not renew for `renewSeconds` ends its process."""

    name: str = Field(default="modelexport-operator", min_length=1)
    duration_seconds: Annotated[int, Field(ge=2)] = 15
    renew_seconds: Seconds = 10
    retry_seconds: Seconds = 2

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.retry_seconds < self.renew_seconds < self.duration_seconds:
            raise ValueError("expected retrySeconds < renewSeconds < durationSeconds")
        return self


class ApiLimits(ApiModel):
    """How fast the operator may ask the API server; progress has a budget of its own."""

    qps: Annotated[float, Field(gt=0)] = 50
    burst: Annotated[int, Field(ge=1)] = 100
    log_qps: Annotated[float, Field(gt=0)] = Field(
        default=20, description="Log reads per second, shared by all running pods."
    )


class Settings(ApiModel):
    """The whole configuration file."""

    exporter_image: str = Field(min_length=1, description="Image of the export pods.")
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    pod_template: dict[str, Any] = Field(
        default_factory=dict, description="Partial PodTemplateSpec below the user's."
    )
    work_volume: WorkVolume = Field(default_factory=WorkVolume)
    watch_namespaces: list[str] = Field(
        default_factory=list, description="Namespaces to watch; none named: all."
    )
    lease: LeaseSettings = Field(default_factory=LeaseSettings)
    port: Annotated[int, Field(ge=1, le=65_535)] = 8080
    resync_seconds: Seconds = 300
    workers: Annotated[int, Field(ge=1, le=256)] = 8
    api: ApiLimits = Field(default_factory=ApiLimits)
    triggers: TriggerSettings = Field(default_factory=TriggerSettings)
    pod_start_grace_seconds: Seconds = Field(
        default=120, description="How long a pod may fail to start before the export fails."
    )
    log_format: Literal["json", "text"] = "json"

    @model_validator(mode="after")
    def _template_fits(self) -> Self:
        pod_contract.check(self.pod_template)
        merge(self.pod_template)
        return self


def load(path: Path) -> Settings:
    """Return the settings in a YAML file. Raises SettingsError."""
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not UTF-8, a date that is none
        raise SettingsError(f"{path} is not YAML: {error}") from None
    return parse(document)


def parse(document: object) -> Settings:
    """Return the settings in a parsed document. Raises SettingsError."""
    try:
        return Settings.model_validate(document)
    except TemplateError as error:
        raise SettingsError(str(error)) from None
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in item['loc']) or 'the file'}: {item['msg']}"
            for item in error.errors(include_url=False)
        ]
        raise SettingsError("\n".join(lines)) from None
