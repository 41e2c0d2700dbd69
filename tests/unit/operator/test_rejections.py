"""The cause of a rejected request, from messages of a real API server."""

from __future__ import annotations

import pytest

from modelexport_operator.rejections import Cause, Rejection, cause_of, is_refusal


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
        (
            'jobs.batch "digits" is forbidden: not yet ready to handle request',
            Cause.SERVER_STARTING,
        ),
        ('pods "digits" is forbidden: violates PodSecurity "restricted:latest"', Cause.OTHER),
    ],
)
def test_cause_of(message: str, cause: Cause) -> None:
    assert cause_of(message) is cause


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        ('pods "d-x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot', True),
        ('pods "d-x" is forbidden: error looking up service account ml/sa: not found', True),
        ('Pod "d-x" is invalid: spec.priority: Forbidden: must not be set', True),
        ('admission webhook "pods.example.com" denied the request: no team label', True),
        ('pods "d-x" is forbidden: exceeded quota: pods, requested: pods=1', False),
        ('pods "d-x" is forbidden: not yet ready to handle request', False),
        ('pods is forbidden: User "job-controller" cannot create resource "pods"', False),
        ('Post "https://127.0.0.1:19860/api/v1/namespaces/ml/pods": unexpected EOF', False),
        ('Post "https://10.96.0.1/api/v1/namespaces/ml/pods": connection refused', False),
        ('Internal error occurred: failed calling webhook "pods.example.com"', False),
        ("etcdserver: request timed out", False),
        ("Operation cannot be fulfilled on resourcequotas: the object has been modified", False),
        ("the server is currently unable to handle the request (post pods)", False),
        ("client rate limiter Wait returned an error: context deadline exceeded", False),
    ],
)
def test_only_an_answer_that_will_not_change_is_a_refusal(message: str, refused: bool) -> None:
    """Why the Job controller could not create a pod; the Event also names lost connections."""
    text = f"Error creating: {message}"
    assert is_refusal(Rejection(text, cause_of(text))) == refused
