"""The part of the suite: random specs through admission, and random courses of what is admitted."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from typing import Any

import urllib3

from bed.control_plane import ControlPlane
from chaos.journal import Row
from chaos.specs.generate import spec
from modelexport_api import API_VERSION, KIND, PLURAL
from modelexport_api.resource import ManifestError, parse
from modelexport_operator import names

PART = "specs"
TITLE = "Random specs"
TEXT = """\
Each spec is drawn from the CRD's own schema, field by field; seven of eight follow the rules
between fields, too. A real API server admits it or not (a server-side dry run, validated strictly),
and so does the product: both have to agree.

What was admitted takes a random course of 41 steps, with the defaults of the API server: its pod is
created, scheduled, runs and ends, and the Job with it, as the exit code says; in between a pod
finds no node or no image, is evicted or deleted, its result is lost, cut or another's, a queue
preempts the Job, people suspend the export or delete its Job, a Job cannot be created now or is
rejected, the operator's clock jumps by up to an hour. The operator looks after three of five steps,
and does what it decides. It decides without an exception, in at most four actions; each status is
valid by the CRD's schema and has no field that the schema lacks; there is no second Job beside one
that runs; after the end there is neither a Job nor another status; the phase does not go back,
unless a Job or a pod was deleted or its result was lost."""
COUNT = 10_000
_ADMITTED = 201
_UNPROCESSABLE = 422


def run(count: int | None, seed: int) -> Iterable[Row]:
    """Try this many specs, from a seed on."""
    from bed import beds
    from cluster.operator.world import CRDS

    with beds.control_plane_running() as plane:
        plane.kubectl("apply", "--filename", CRDS)
        plane.wait_for_crds()
        yield from against(Admission(plane), range(seed, seed + (count or COUNT)))


def against(admission: Admission, seeds: Iterable[int]) -> Iterator[Row]:
    """Yield a row for admission, and one for the courses."""
    from chaos.specs.course import problems

    tried = disagreed = admitted = broken = 0
    for seed in seeds:
        tried += 1
        document = manifest(seed)
        body, refusal = admission.ask(document)
        if (difference := _difference(document, refusal)) is not None:
            disagreed += 1
            print(f"seed {seed}: {difference}", flush=True)
        if body is None:
            continue
        admitted += 1
        if found := problems(as_stored(body), seed):
            broken += 1
            print(f"seed {seed}: {found[:5]}", flush=True)
    yield Row(
        PART,
        "admission: API server and product agree",
        tried,
        tried - disagreed,
        wrong=disagreed,
        remarks=f"{admitted} admitted",
    )
    yield Row(PART, "courses of those admitted", admitted, admitted - broken, wrong=broken)


def manifest(seed: int) -> dict[str, Any]:
    """Return a ModelExport with a random spec."""
    draw = random.Random(seed)
    labels = {names.QUEUE_LABEL: "gpu"} if draw.random() < 0.3 else {}
    meta = {"name": "digits", "namespace": "default", "labels": labels}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": meta, "spec": spec(draw)}


def as_stored(body: dict[str, Any]) -> dict[str, Any]:
    """Return what was admitted as a new object, at the beginning of its course."""
    begin = {"creationTimestamp": "2026-05-01T12:00:00Z", "resourceVersion": "10", "generation": 1}
    return {**body, "metadata": {**body["metadata"], **begin}, "status": {}}


class Admission:
    """Asks an API server whether it would store an object."""

    def __init__(self, plane: ControlPlane) -> None:
        config = json.loads(plane.kubeconfig.read_text())
        user = config["users"][0]["user"]
        self._pool = urllib3.PoolManager(
            ca_certs=config["clusters"][0]["cluster"]["certificate-authority"],
            cert_file=user["client-certificate"],
            key_file=user["client-key"],
        )
        path = f"{plane.url}/apis/{API_VERSION}/namespaces/default/{PLURAL}"
        self._url = f"{path}?dryRun=All&fieldValidation=Strict"

    def ask(self, document: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
        """Return the object as it would be stored, or None and why not."""
        answer = self._pool.request("POST", self._url, json=document, timeout=60)
        body = json.loads(answer.data)
        if answer.status == _ADMITTED:
            return body, ""
        if answer.status != _UNPROCESSABLE:
            raise RuntimeError(f"the API server answered {answer.status}: {body}")
        return None, str(body.get("message"))


def _difference(document: dict[str, Any], refusal: str) -> str | None:
    try:
        parse(document)
    except ManifestError as error:
        return None if refusal else f"refused here only: {error}"
    return f"accepted here only: {refusal}" if refusal else None
