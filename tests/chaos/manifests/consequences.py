"""What follows from a manifest, in the product's pure functions: a Job, an export, a condition."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from chaos.manifests.finished import FINISHED
from chaos.manifests.messages import problems_of_condition, problems_of_message
from modelexport_api.resource import ModelExport, parse
from modelexport_api.trigger_resource import ModelExportTrigger, parse_trigger
from modelexport_api.yaml_text import dump, load_all
from modelexport_exporter.batch.destinations import root_of, single_of
from modelexport_exporter.core.errors import ExportFailure
from modelexport_operator import job, observe
from modelexport_operator.cache import Cache
from modelexport_operator.decide import decide
from modelexport_operator.decisions import CreateJob
from modelexport_operator.observe import Observation
from modelexport_operator.settings import Settings
from modelexport_operator.triggers import child, ready
from modelexport_operator.triggers.completion import Completion, find_completion
from modelexport_operator.triggers.kinds import TriggerSettings

SETTINGS = Settings(exporter_image="exporter:1")
NOW = datetime(2026, 5, 1, tzinfo=UTC)
UID = "0f1e2d3c-0000-4000-8000-000000000001"
_OF_SERVER = {
    "namespace": "ml",
    "uid": UID,
    "generation": 1,
    "resourceVersion": "10",
    "creationTimestamp": "2026-05-01T00:00:00Z",
}


def check_export(export: ModelExport, document: Any) -> Iterator[str]:  # noqa: ANN401 - any YAML
    """Yield what does not follow as it should from a manifest that was accepted."""
    wire = export.to_wire()
    if parse(wire) != export or parse(json.loads(json.dumps(wire))) != export:
        yield "what was accepted does not read back from JSON"
    if parse(load_all(dump(wire))[0]) != export:
        yield "what was accepted does not read back from YAML"
    try:
        made = job.build(export, SETTINGS)
        json.dumps(made, allow_nan=False)
    except job.JobError as error:
        yield from problems_of_message(str(error))
    if isinstance(document, dict):
        yield from observe_stored(document)
    try:
        single_of(export) if not export.spec.source.is_batch else root_of(
            export.spec.destination.uri
        )
    except ExportFailure as failure:
        if not failure.message or not failure.hint:
            yield "a destination is refused without message or hint"


def observe_stored(document: dict[Any, Any]) -> Iterator[str]:
    """Yield what the operator does not decide about an object, as an API server would store it."""
    metadata, spec = document.get("metadata"), document.get("spec")
    if not isinstance(metadata, dict) or not isinstance(spec, dict):
        return  # no API server stores it
    body = {**document, "metadata": {"name": "m", "labels": {}, **_OF_SERVER}, "spec": spec}
    try:
        body = json.loads(json.dumps(body, allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        return  # no JSON
    if body.get("kind") != "ModelExport":
        return
    body.pop("status", None)
    cache = Cache()
    cache.put_resource(body)
    assert cache.identity(UID) is not None
    resource = cache.resource(UID) or observe.resource(body)  # read again where it is large
    decision = decide(Observation(resource), NOW, SETTINGS)
    if decision.action is None and decision.status is None:
        yield "the operator decides nothing"
    if isinstance(decision.action, CreateJob):
        json.dumps(decision.action.manifest, allow_nan=False)
    if decision.status is not None:
        if not decision.status.conditions:
            yield "the operator writes no condition"
        for condition in decision.status.conditions:
            yield from problems_of_condition(condition.message)


def check_trigger(trigger: ModelExportTrigger) -> Iterator[str]:
    """Yield what does not follow as it should from a trigger that was accepted."""
    wire = trigger.to_wire()
    if parse_trigger(json.loads(json.dumps(wire))) != trigger:
        yield "what was accepted does not read back from JSON"
    readiness = ready.resolve_kind(trigger, TriggerSettings())
    if isinstance(readiness, ready.Readiness):
        yield from problems_of_condition(readiness.message)
    if ready.problems(trigger):
        return
    for body in FINISHED:
        found = find_completion(trigger.spec.source, body) or Completion(NOW)
        try:
            made = child.build(trigger, body, found)
        except child.ChildError as error:
            yield from problems_of_message(str(error))
            continue
        parse(made)
