"""What has to hold after a kill, and after the run that follows it. Each returns what does not."""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chaos.kills.cases import Kill
from chaos.kills.pod import Victim
from chaos.kills.watcher import Seen, list_etags
from chaos.kills.workload import Job
from modelexport_api.pod import PodResult
from modelexport_api.reasons import ExitCode
from modelexport_api.status import Verdict
from modelexport_exporter.publish.layout import is_content
from modelexport_exporter.publish.manifest import MANIFEST_NAME

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_OF_A_USER = ("torchinductor_", "modelexport-")
"""Directories where temporary files are that stay: a cache of torch, the place of our own runs."""


def of_end(
    kill: Kill, code: int | None, result: PodResult | None, lines: Sequence[str]
) -> list[str]:
    """The killed process ended by the signal; another one's supervisor ended so that it is retried.

    What was published by then may be the result.
    """
    own = kill.victim in {Victim.SUPERVISOR, Victim.ALL}
    retried = {int(ExitCode.RETRYABLE), int(ExitCode.DONE)}
    if own:
        allowed = {-kill.number} if kill.number is signal.SIGKILL else {-kill.number, *retried}
    else:
        allowed = retried
    if code in allowed:
        return []
    failure = result.failure if result else None
    why = f"{failure.reason}: {failure.message}" if failure else "".join(lines[-3:])
    return [f"the pod ended with {code} after {kill}: {why[:500]}"]


def of_result(job: Job, result: PodResult | None) -> list[str]:
    """The next run says that everything is verified."""
    if result is None:
        return ["the next run has no result"]
    if result.failure is not None:
        return [f"the next run: {result.failure.reason}: {result.failure.message[:300]}"]
    if job.is_batch:
        done = result.share.succeeded if result.share else 0
        return [] if done == len(job.sources) else [f"{done} of {len(job.sources)} in the result"]
    verdict = result.verification.verdict if result.verification else None
    return [] if verdict is Verdict.VERIFIED else [f"the verdict of the next run is {verdict}"]


def done_twice(job: Job, before: Mapping[str, Seen], after: Mapping[str, Seen]) -> list[str]:
    """An artifact of this checkpoint that was in force stays in force."""
    return [
        f"{where} was published again"
        for where, seen in before.items()
        if seen.manifest.source.sha256 == job.sources[where]
        and (where not in after or after[where].etag != seen.etag)
    ]


def missing(job: Job, after: Mapping[str, Seen]) -> list[str]:
    """Each destination has the artifact of its checkpoint."""
    return [
        f"{where} has no artifact of its checkpoint"
        for where, digest in job.sources.items()
        if where not in after or after[where].manifest.source.sha256 != digest
    ]


def of_bytes(client: S3Client, job: Job, after: Mapping[str, Seen]) -> list[str]:
    """The plain names have the bytes that were verified."""
    broken = []
    for where, seen in after.items():
        for file in seen.manifest.artifact.files:
            content = client.get_object(Bucket=job.bucket, Key=where + file.name)["Body"].read()
            if hashlib.sha256(content).hexdigest() != file.sha256:
                broken.append(f"{where}{file.name} has another digest than the manifest says")
    return broken


def strays(client: S3Client, job: Job, after: Mapping[str, Seen]) -> tuple[int, list[str]]:
    """Return how many contents no manifest names, and objects that nobody promised."""
    unnamed, found = 0, []
    for where, seen in after.items():
        names = [file.name for file in seen.manifest.artifact.files]
        known = {MANIFEST_NAME, *names, *(seen.manifest.path(name) for name in names)}
        keys = list_etags(client, job.bucket, where)
        others = {key.removeprefix(where) for key in keys} - known
        unnamed += sum(map(is_content, others))
        found += [where + name for name in sorted(others) if not is_content(name)]
    marks = [key for key in list_etags(client, job.bucket, "onnx/") if key.endswith(".begun")]
    return unnamed, [*found, *marks]


def files_left(job: Job) -> list[str]:
    """Nothing of a run is left on this machine."""
    temporary = [*job.temporary.iterdir()]
    ours = [path for path in temporary if not path.name.startswith(_OF_A_USER)]
    runs = job.temporary.glob("modelexport-*/*")
    left = [*job.work_dir.iterdir(), *ours, *runs]
    return [f"file {path.relative_to(job.place)}" for path in left]
