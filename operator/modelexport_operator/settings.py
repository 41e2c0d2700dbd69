"""The operator's configuration file, which the chart writes to a ConfigMap.

An invalid file ends the process at its start, with a message for each error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from modelexport_api.base import ApiModel
from modelexport_api.isolation import Isolation
from modelexport_api.resource import format_errors
from modelexport_api.source import Storage
from modelexport_operator import pod_contract
from modelexport_operator.pod_template import Template, TemplateError, merge
from modelexport_operator.triggers.kinds import TriggerSettings

Seconds = Annotated[float, Field(gt=0, le=86_400)]


class SettingsError(ValueError):
    """An invalid configuration; the message has one line for each error."""


class WorkVolume(ApiModel):
    """The emptyDir for checkpoint and artifact."""

    size_limit: str | None = Field(
        default=None, description="Size limit such as 50Gi. If not set: no limit."
    )


class LeaseSettings(ApiModel):
    """Leader election. A leader that cannot renew for `renewSeconds` ends its process."""

    name: str = Field(default="modelexport-operator", min_length=1)
    duration_seconds: Annotated[int, Field(ge=2)] = 15
    renew_seconds: Seconds = 10
    retry_seconds: Seconds = 2

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if not self.retry_seconds < self.renew_seconds < self.duration_seconds:
            raise ValueError("expected retrySeconds < renewSeconds < durationSeconds")
        return self


class ApiLimits(ApiModel):
    """Limits on requests to the API server; reading logs has its own limit."""

    qps: Annotated[float, Field(gt=0)] = 100
    burst: Annotated[int, Field(ge=1)] = 200
    log_qps: Annotated[float, Field(gt=0)] = Field(
        default=20, description="Maximum number of log reads per second, for all pods."
    )


class KueueSettings(ApiModel):
    """Whether the status of an export in a queue quotes Kueue."""

    enabled: bool = Field(
        default=False, description="Read the Workload of an export that waits in a queue."
    )
    refresh_seconds: Seconds = Field(
        default=600,
        description="Longest interval between two reads of a Workload, if its Job does not change.",
    )
    qps: Annotated[float, Field(gt=0)] = Field(
        default=10, description="Maximum number of reads per second, for all Workloads."
    )


class SecureMetrics(ApiModel):
    """Metrics over TLS, on a port of their own, for clients with a token that may read them."""

    port: Annotated[int, Field(ge=1, le=65_535)] = 8443
    certificate_directory: Path = Field(
        description="Directory with tls.crt and tls.key, such as the volume of a Secret."
    )


class TraceSettings(ApiModel):
    """Traces of OpenTelemetry. Where to send them is in the variables of its specification."""

    enabled: bool = Field(
        default=False,
        description="Send the operator's spans, and hand the trace over to export pods.",
    )
    sample_ratio: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1, description="Which part of the ModelExports has a trace."
    )


class Settings(ApiModel):
    """The whole configuration file."""

    exporter_image: str = Field(min_length=1, description="Image of the export pods.")
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    pod_template: dict[str, Any] = Field(
        default_factory=dict,
        description="Partial PodTemplateSpec that spec.podTemplate is merged over.",
    )
    platform_pod_template: dict[str, Any] = Field(
        default_factory=dict,
        description="Partial PodTemplateSpec between podTemplate and spec.podTemplate.",
    )
    storage: Storage = Field(
        default_factory=Storage, description="Storage of manifests that name none."
    )
    service_account_name: str | None = Field(
        default=None, description="Service account of export pods whose manifest names none."
    )
    isolation: Isolation = Field(
        default=Isolation.PREFERRED,
        description="Required: every export requires isolation, whatever its spec states.",
    )
    token_audiences: list[Annotated[str, Field(min_length=1)]] = Field(
        default=list(pod_contract.TOKEN_AUDIENCES),
        description="Audiences of the service account tokens that a pod template may mount.",
    )
    work_volume: WorkVolume = Field(default_factory=WorkVolume)
    watch_namespaces: list[str] = Field(
        default_factory=list, description="Namespaces to watch. If empty: all."
    )
    lease: LeaseSettings = Field(default_factory=LeaseSettings)
    port: Annotated[int, Field(ge=1, le=65_535)] = 8080
    secure_metrics: SecureMetrics | None = Field(
        default=None, description="If set, `port` has no metrics."
    )
    resync_seconds: Seconds = Field(
        default=300,
        description="List everything again after this many seconds: a watch can miss events.",
    )
    stalled_seconds: Seconds = Field(
        default=300,
        description="/healthz fails if something was due and nothing finished for this long.",
    )
    workers: Annotated[int, Field(ge=1, le=256)] = 8
    api: ApiLimits = Field(default_factory=ApiLimits)
    triggers: TriggerSettings = Field(default_factory=TriggerSettings)
    kueue: KueueSettings = Field(default_factory=KueueSettings)
    tracing: TraceSettings = Field(default_factory=TraceSettings)
    pod_start_grace_seconds: Seconds = Field(
        default=120, description="Fail an export whose pod could not start for this many seconds."
    )
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "text"] = "json"

    @property
    def default_template(self) -> Template:
        """Return the pod template that spec.podTemplate is merged over."""
        return merge(self.pod_template, self.platform_pod_template)

    @model_validator(mode="after")
    def _check_template(self) -> Self:
        for template in (self.pod_template, self.platform_pod_template):
            pod_contract.check(template, self.token_audiences)
        _ = self.default_template
        return self


def load(path: Path) -> Settings:
    """Return the settings in a YAML file. Raises SettingsError."""
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not UTF-8, or an invalid date
        raise SettingsError(f"{path} is not YAML: {error}") from None
    return parse(document)


def parse(document: object) -> Settings:
    """Return the settings in a parsed document. Raises SettingsError."""
    try:
        return Settings.model_validate(document)
    except TemplateError as error:
        raise SettingsError(str(error)) from None
    except ValidationError as error:
        raise SettingsError("\n".join(format_errors(error, "the file"))) from None
