from __future__ import annotations

import json

import pytest

from modelexport_cli.cluster.request import (
    CORE,
    Access,
    Refusal,
    Request,
    explain,
    read_refusal,
    unreachable,
)

ACCESS = Access("dev", "team", "https://k8s.example.com")
CREATE = Request("create", "modelexports", "team")
GET = Request("get", "modelexports", "team", "digits")
LOG = Request("get", "pods", "team", "digits-x", root=CORE, suffix="/log")


@pytest.mark.parametrize(
    ("request_", "refusal", "message", "hint", "code"),
    [
        (
            CREATE,
            Refusal(401, "Unauthorized", "Unauthorized"),
            "the cluster of context dev does not accept your credentials: Unauthorized",
            "kubectl auth whoami",
            2,
        ),
        (
            CREATE,
            Refusal(403, "Forbidden", 'User "x" cannot create'),
            "you may not create modelexports.modelexport.dev in namespace team: User",
            "kubectl auth can-i create modelexports.modelexport.dev -n team",
            2,
        ),
        (
            LOG,
            Refusal(403, "Forbidden", "no"),
            "you may not get pods/log in namespace team: no",
            "kubectl auth can-i get pods/log -n team",
            2,
        ),
        (
            CREATE,
            Refusal(404, "", "404 page not found"),
            "the CRD modelexports.modelexport.dev is not installed",
            "Install the chart",
            2,
        ),
        (
            CREATE,
            Refusal(404, "NotFound", 'namespaces "team" not found', "namespaces"),
            "the cluster of context dev has no namespace team",
            "kubectl create namespace team",
            2,
        ),
        (
            GET,
            Refusal(404, "NotFound", "not found", "modelexports"),
            "modelexports/digits not found in namespace team",
            "",
            2,
        ),
        (
            CREATE,
            Refusal(422, "Invalid", "spec.inputs: Required value"),
            "rejects modelexports: spec.inputs: Required value",
            "",
            10,
        ),
        (
            CREATE,
            Refusal(400, "BadRequest", 'unknown field "spec.x"'),
            'unknown field "spec.x"',
            "",
            10,
        ),
        (GET, Refusal(410, "Expired", "too old"), "could not get modelexports/digits", "again", 75),
        (GET, Refusal(429, "TooManyRequests", "slow"), "could not get", "again", 75),
        (GET, Refusal(503, "", "no endpoints"), "no endpoints", "again", 75),
    ],
)
def test_a_refusal_is_a_sentence_with_an_exit_code(
    request_: Request, refusal: Refusal, message: str, hint: str, code: int
) -> None:
    error = explain(request_, refusal, ACCESS)
    assert message in error.message
    assert hint in error.hint
    assert error.exit_code == code
    assert error.reason == refusal.reason


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"404 page not found\n", Refusal(404, "", "404 page not found")),
        (b'["Status"]', Refusal(404, "", '["Status"]')),
        (
            json.dumps(
                {
                    "kind": "Status",
                    "reason": "NotFound",
                    "message": "m",
                    "details": {"kind": "namespaces"},
                }
            ).encode(),
            Refusal(404, "NotFound", "m", "namespaces"),
        ),
    ],
)
def test_only_a_status_has_a_reason(data: bytes, expected: Refusal) -> None:
    assert read_refusal(404, data) == expected


def test_an_unreachable_server_is_named_and_temporary() -> None:
    error = unreachable(ACCESS, "refused")
    assert error.exit_code == 75
    assert "context dev (https://k8s.example.com) does not answer: refused" in error.message
    assert "this pod's cluster does not" in unreachable(Access("", "team"), "refused").message


@pytest.mark.parametrize(
    ("request_", "method", "path"),
    [
        (CREATE, "POST", "/apis/modelexport.dev/v1alpha1/namespaces/team/modelexports"),
        (GET, "GET", "/apis/modelexport.dev/v1alpha1/namespaces/team/modelexports/digits"),
        (LOG, "GET", "/api/v1/namespaces/team/pods/digits-x/log"),
        (
            Request("delete", "modelexports", "a", "b"),
            "DELETE",
            "/apis/modelexport.dev/v1alpha1/namespaces/a/modelexports/b",
        ),
    ],
)
def test_paths(request_: Request, method: str, path: str) -> None:
    assert (request_.method, request_.path) == (method, path)
