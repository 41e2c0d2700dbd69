"""Two pods that publish to one destination, with a reader that follows the manifest."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from chaos.writers.interleave import Act, Schedule, Stepped, Wait, run
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport, parse
from modelexport_exporter.batch.destinations import item_of, resolve_all, single_of
from modelexport_exporter.core.digests import spec_digest
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.publish.publish import resource_key
from modelexport_exporter.storage.store import Location
from small_publication import Pod, followed, plain

STEPS = {"read", "write_if", "copy", "digest", "delete"}
_CHECKPOINTS = ["s3://b/run/a.pt", "s3://b/run/b.pt"]
_OTHER: dict[str, Any] = {"export": {"opset": 19}}
Identity = tuple[str, str]
"""The digest of a spec, and what staging directories begin with."""


def _resource(name: str, source: dict[str, Any], destination: str, **spec: Any) -> ModelExport:  # noqa: ANN401
    return parse(
        {
            "apiVersion": "modelexport.dev/v1alpha1",
            "kind": "ModelExport",
            "metadata": {"name": name, "namespace": "ml", "uid": f"uid-of-{name}"},
            "spec": {
                "source": source,
                "model": {"factory": "net:build"},
                "inputs": [{"name": "x", "shape": [4]}],
                "destination": {"uri": destination},
                **spec,
            },
        }
    )


def _identity(resource: ModelExport) -> Identity:
    """Return what the pipeline derives from a resource."""
    meta = resource.metadata
    return (
        spec_digest(resource.spec, {}, {}),
        resource_key(meta.name, meta.namespace, meta.uid),
    )


def of_single(name: str = "single", **spec: Any) -> Identity:  # noqa: ANN401
    """Return the identity of an export of one checkpoint."""
    source = {"uri": _CHECKPOINTS[0]}
    return _identity(single_of(_resource(name, source, "s3://b/onnx/{stem}/", **spec)))


def of_batch(**spec: Any) -> Identity:  # noqa: ANN401
    """Return the identity of the same checkpoint as an item of a batch."""
    source = {"uris": _CHECKPOINTS}
    batch = _resource("batch", source, "s3://b/onnx/{stem}/", parallelism=2, maxFailed=1, **spec)
    destination = resolve_all(batch.spec, _CHECKPOINTS)[0]
    return _identity(item_of(batch, _CHECKPOINTS[0], destination))


CASES: dict[str, tuple[Identity, Identity]] = {
    "same spec": (of_single(), of_single("again")),
    "different specs": (of_single(), of_single("again", **_OTHER)),
    "batch against single": (of_batch(), of_single()),
    "batch against single of another spec": (of_batch(), of_single(**_OTHER)),
}


def _act(pod: Pod) -> Act:
    def act(wait: Wait) -> None:
        store = Stepped(pod.destination.store, wait, lambda name, _: name in STEPS)
        pod.publication.destination = Location(store, pod.destination.key)
        try:
            pod.run()
        except ExportFailure as failure:
            if failure.reason is not Reason.DESTINATION_EXISTS:
                raise

    return act


def play(destination: Location, directory: Path, case: str, schedule: Schedule) -> None:
    """Run both pods in the order of a schedule, with a reader after each step."""
    (spec, key), (other_spec, other_key) = CASES[case]
    acts = [
        _act(Pod(destination, directory, "first", spec, key)),
        _act(Pod(destination, directory, "other", other_spec, other_key)),
    ]
    seen: list[bytes] = []

    def read() -> None:
        found = followed(destination)
        assert found is not None or not seen, "an artifact that was there is gone"
        if found is not None:
            seen.append(found)

    run(acts, schedule, read)
    assert seen, schedule.taken
    assert plain(destination) == followed(destination), schedule.taken
    changes = sum(before != after for before, after in itertools.pairwise(seen))
    assert changes <= (spec != other_spec), "each is published once"
