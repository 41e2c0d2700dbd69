"""The basis of all tests of this level: a real S3 server and a real control plane."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest
from botocore.exceptions import ClientError

from bed import processes
from bed.control_plane import ControlPlane
from bed.s3 import S3Server


@pytest.mark.s3
def test_s3_rejects_a_conditional_put_over_an_object(s3: S3Server, bucket: str) -> None:
    client = s3.client()
    client.put_object(Bucket=bucket, Key="manifest.json", Body=b"first", IfNoneMatch="*")
    with pytest.raises(ClientError) as refusal:
        client.put_object(Bucket=bucket, Key="manifest.json", Body=b"second", IfNoneMatch="*")
    assert refusal.value.response["Error"]["Code"] == "PreconditionFailed"
    assert client.get_object(Bucket=bucket, Key="manifest.json")["Body"].read() == b"first"


@pytest.mark.s3
def test_s3_rejects_an_anonymous_reader(s3: S3Server, bucket: str) -> None:
    s3.client().put_object(Bucket=bucket, Key="model.safetensors", Body=b"weights")
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(f"{s3.endpoint}/{bucket}/model.safetensors")
    assert refusal.value.code == 403


@pytest.mark.s3
def test_s3_deletes_a_bucket_with_versions_and_uploads(s3: S3Server) -> None:
    bucket, client = s3.bucket(versioned=True), s3.client()
    for body in (b"old", b"new"):
        client.put_object(Bucket=bucket, Key="a/b", Body=body)
    client.create_multipart_upload(Bucket=bucket, Key="unfinished")
    s3.delete_bucket(bucket)
    assert bucket not in [found["Name"] for found in client.list_buckets()["Buckets"]]


@pytest.mark.control_plane
def test_a_namespace_gets_a_service_account(control_plane: ControlPlane, namespace: str) -> None:
    found = control_plane.get("serviceaccounts", "--namespace", namespace)
    assert [account["metadata"]["name"] for account in found["items"]] == ["default"]


@pytest.mark.control_plane
def test_a_job_gets_its_pods(control_plane: ControlPlane, namespace: str) -> None:
    container = {"name": "main", "image": "none", "imagePullPolicy": "Never"}
    pod = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    control_plane.apply(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "export", "namespace": namespace},
            "spec": {"parallelism": 2, "completions": 2, "template": pod},
        }
    )
    of_job = ("pods", "--namespace", namespace, "--selector", "job-name=export")
    processes.wait_until(
        lambda: len(control_plane.get(*of_job)["items"]) == 2, "the Job's two pods", seconds=20
    )


@pytest.mark.control_plane
def test_pod_security_is_enforced(control_plane: ControlPlane, namespace: str) -> None:
    label = "pod-security.kubernetes.io/enforce=restricted"
    control_plane.kubectl("label", "namespace", namespace, label)
    with pytest.raises(processes.BedError, match="violates PodSecurity"):
        control_plane.kubectl("run", "root", "--image=none", "--namespace", namespace)
