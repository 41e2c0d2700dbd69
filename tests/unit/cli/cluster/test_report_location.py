from __future__ import annotations

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.spec import Storage
from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.report_location import absent, hint, page_of, storage_of
from unit.cli.cluster.objects import complete, export, failed


@pytest.mark.parametrize(
    ("uri", "page"),
    [
        ("s3://b/onnx/report.json", "s3://b/onnx/report.html"),
        ("s3://b/onnx/index.html", "s3://b/onnx/index.html"),
        ("file:///mnt/report.json", "file:///mnt/report.html"),
    ],
)
def test_the_page_is_next_to_the_report(uri: str, page: str) -> None:
    assert page_of(complete({"reportUri": uri})) == page


def test_a_missing_report_is_explained() -> None:
    with pytest.raises(ClusterError, match="no report yet"):
        page_of(export({"phase": "Running"}))
    with pytest.raises(ClusterError, match="failed before one was published") as caught:
        page_of(failed())
    assert caught.value.hint == "do so"


def test_the_store_is_reached_as_the_spec_says_but_not_with_its_secret() -> None:
    spec = {"storage": {"endpoint": "http://minio:9000", "secretName": "s3", "region": "r"}}
    assert storage_of(spec, None) == Storage(endpoint="http://minio:9000", region="r")
    assert storage_of(spec, "http://localhost:1").endpoint == "http://localhost:1"
    assert storage_of({}, None) == Storage()
    with pytest.raises(ClusterError, match="--endpoint"):
        storage_of({}, "localhost:1")


@pytest.mark.parametrize(
    ("reason", "uri", "endpoint", "words"),
    [
        (Reason.SOURCE_NOT_FOUND, "file:///mnt/r.html", None, "at the same path"),
        (Reason.SOURCE_NOT_FOUND, "pvc://c/out/r.html", None, "Copy out/r.html from a pod"),
        (Reason.ACCESS_DENIED, "s3://b/r.html", None, "AWS_PROFILE"),
        (Reason.SOURCE_NOT_FOUND, "s3://b/r.html", None, "deleted or moved"),
        (Reason.STORE_UNAVAILABLE, "s3://b/r.html", "http://minio:9000", "port-forward"),
        (Reason.STORE_UNAVAILABLE, "s3://b/r.html", "http://minio.s3.svc:80", "port-forward"),
        (Reason.STORE_UNAVAILABLE, "s3://b/r.html", "https://s3.example.com", "network"),
        (Reason.STORE_UNAVAILABLE, "s3://b/r.html", "http://localhost:9000", "network"),
    ],
)
def test_what_to_check(reason: Reason, uri: str, endpoint: str | None, words: str) -> None:
    assert words in hint(reason, uri, Storage(endpoint=endpoint))


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("s3://b/r.html", "s3://b/r.html not found"),
        ("pvc://c/out/r.html", "in a volume of the cluster"),
        ("file:///mnt/r.html", "in a volume of the cluster"),
    ],
)
def test_where_a_page_is_that_this_machine_does_not_find(uri: str, words: str) -> None:
    assert words in absent(uri)
