"""The cause of a rejected request, from messages of a real API server."""

from __future__ import annotations

import pytest

from modelexport_operator.rejections import Cause, cause_of


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (
            'jobs.batch "digits" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1',
            Cause.QUOTA,
        ),
        (
            'jobs.batch "digits" is forbidden: unable to create new content in namespace ml '
            "because it is being terminated",
            Cause.NAMESPACE_TERMINATING,
        ),
        (
            'jobs.batch is forbidden: User "operator" cannot create resource "jobs" in API group '
            '"batch" in the namespace "ml"',
            Cause.MISSING_PERMISSION,
        ),
        (
            'jobs.batch "digits" is forbidden: status unknown for quota: jobs, resources: '
            "count/jobs.batch",
            Cause.QUOTA,
        ),
        (
            'Internal error occurred: failed calling webhook "jobs.example.com": failed to call '
            "webhook: Post ...: dial tcp 127.0.0.1:1: connect: connection refused",
            Cause.WEBHOOK,
        ),
        ('pods "digits" is forbidden: violates PodSecurity "restricted:latest"', Cause.OTHER),
    ],
)
def test_cause_of(message: str, cause: Cause) -> None:
    assert cause_of(message) is cause
