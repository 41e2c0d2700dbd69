"""The installed product: images on the node, the Helm release, and a user's commands."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bed import processes
from bed.node import NodeCluster
from models.catalog import RealModel

RELEASE = "modelexport"
SYSTEM = "modelexport-system"
SECRET = "s3-credentials"
CHART = Path(__file__).resolve().parents[2] / "charts" / "modelexport"
VALUES = {
    "operator": {
        "resources": {"requests": {"cpu": "20m", "memory": "64Mi"}},
        "podStartGraceSeconds": 20,
    },
    "exporter": {
        "resources": {
            "requests": {"cpu": "200m", "memory": "512Mi"},
            "limits": {"memory": "5Gi"},
        },
        "workVolume": {"sizeLimit": "8Gi"},
    },
}


@dataclass(frozen=True)
class Ended:
    """A finished ModelExport."""

    name: str
    resource: dict[str, Any]

    @property
    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = self.resource["status"]
        return status

    @property
    def failure(self) -> dict[str, Any]:
        failure: dict[str, Any] = self.status["failure"]
        return failure

    def condition(self, kind: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = [c for c in self.status["conditions"] if c["type"] == kind]
        return found[0] if found else {}


@dataclass(frozen=True)
class User:
    """A user with a namespace, a bucket and kubectl."""

    cluster: NodeCluster
    namespace: str
    bucket: str

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        return self.cluster.kubectl("--namespace", self.namespace, *arguments, stdin=stdin)

    def create_secret(
        self, name: str = SECRET, *, access_key: str = "", secret_key: str = ""
    ) -> None:
        """Store the keys of the S3 server, or others."""
        server = self.cluster.s3
        self.kubectl(
            *("create", "secret", "generic", name),
            f"--from-literal=AWS_ACCESS_KEY_ID={access_key or server.access_key}",
            f"--from-literal=AWS_SECRET_ACCESS_KEY={secret_key or server.secret_key}",
        )

    def upload(self, model: RealModel, *, checkpoint: Path | None = None) -> None:
        """Put checkpoint and code of a model where `manifest` looks for them."""
        client = self.cluster.s3.client()
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch)
            source = checkpoint or model.checkpoint(directory)
            client.upload_file(str(source), self.bucket, f"{model.name}/{model.checkpoint_name}")
            code = model.zip_code(directory / "code.zip")
            client.upload_file(str(code), self.bucket, f"{model.name}/code.zip")

    def manifest(self, model: RealModel, **spec: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the ModelExport of an uploaded model."""
        below = f"s3://{self.bucket}/{model.name}"
        server = self.cluster.s3
        storage = {
            "endpoint": server.endpoint,
            "region": server.region,
            "secretName": SECRET,
        }
        return model.manifest(
            f"{below}/{model.checkpoint_name}",
            f"{below}/code.zip",
            f"{below}/onnx/",
            **{"storage": storage, **spec},
        )

    def apply(self, manifest: dict[str, Any]) -> str:
        """`kubectl apply` a manifest; return the resource's name."""
        self.kubectl("apply", "--filename", "-", stdin=json.dumps(manifest))
        name: str = manifest["metadata"]["name"]
        return name

    def modelexport(self, *arguments: str | Path) -> str:
        """Run the command with the user's kubeconfig and keys; return what it printed."""
        keys = [f"{name}={value}" for name, value in self.cluster.s3.environment().items()]
        return processes.call(
            [
                *("env", *keys, f"KUBECONFIG={self.cluster.kubeconfig}"),
                *(sys.executable, "-m", "modelexport_cli.main", *arguments),
                *("--namespace", self.namespace),
            ]
        )

    def get(self, name: str) -> dict[str, Any]:
        return self.cluster.get("modelexport", name, "--namespace", self.namespace)

    def wait(self, name: str, condition: str, seconds: int = 300) -> Ended:
        """`kubectl wait`; a failure contains the state of the export and its pods."""
        try:
            self.kubectl(
                *("wait", f"modelexport/{name}"),
                *(f"--for=condition={condition}", f"--timeout={seconds}s"),
            )
        except processes.BedError as error:
            raise AssertionError(f"{error}\n{self.describe(name)}") from None
        return Ended(name, self.get(name))

    def describe(self, name: str) -> str:
        """Return the state of an export, its pods and the operator, for error messages."""
        pods = ("--selector", f"modelexport.dev/name={name}")
        return "\n".join(
            [
                self.kubectl("get", "modelexport", name, "--output", "yaml"),
                self.kubectl("get", "pods", *pods, "--output", "yaml")[-4000:],
                self.kubectl("logs", *pods, "--tail", "30", "--prefix"),
                self.cluster.kubectl(
                    *("logs", "--namespace", SYSTEM, "--tail", "40"),
                    *("--selector", "app.kubernetes.io/component=operator"),
                ),
            ]
        )

    def pods(self, name: str) -> list[dict[str, Any]]:
        selector = f"modelexport.dev/name={name}"
        found = self.cluster.get("pods", "--namespace", self.namespace, "--selector", selector)
        items: list[dict[str, Any]] = found["items"]
        return items

    def admitted_pods(self, name: str) -> list[dict[str, Any]]:
        """Return the pods without those that the kubelet rejected (OutOfnvidia.com/gpu).

        The scheduler may learn of a node's new resource before the kubelet; the Job then creates
        another pod.
        """
        return [
            pod
            for pod in self.pods(name)
            if not pod["status"].get("reason", "").startswith("OutOf")
        ]

    def jobs(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.cluster.get("jobs", "--namespace", self.namespace)[
            "items"
        ]
        return items

    def keys(self, prefix: str) -> set[str]:
        """Return the keys below a prefix of the bucket, without it."""
        found = self.cluster.s3.client().list_objects_v2(Bucket=self.bucket, Prefix=prefix)
        return {item["Key"].removeprefix(prefix) for item in found.get("Contents", [])}

    def put(self, key: str, content: bytes) -> None:
        self.cluster.s3.client().put_object(Bucket=self.bucket, Key=key, Body=content)

    def etag(self, key: str) -> str:
        """Return what changes when an object is written again."""
        found = self.cluster.s3.client().head_object(Bucket=self.bucket, Key=key)
        return f"{found['ETag']} {found['LastModified']}"

    def read(self, key: str) -> bytes:
        body: bytes = (
            self.cluster.s3.client().get_object(Bucket=self.bucket, Key=key)["Body"].read()
        )
        return body

    def download(self, prefix: str, directory: Path) -> Path:
        """Fetch everything below a prefix into a directory."""
        for name in self.keys(prefix):
            target = directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.read(prefix + name))
        return directory


def install(cluster: NodeCluster, helm: Path, operator_image: str, exporter_image: str) -> None:
    """`helm install` the chart, and wait until the operator is ready."""
    values = json.loads(json.dumps(VALUES))
    values["operator"]["image"] = _image(operator_image)
    values["exporter"]["image"] = _image(exporter_image)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "values.yaml"
        file.write_text(json.dumps(values))
        processes.call(
            [
                *(helm, "install", RELEASE, CHART, "--kubeconfig", cluster.kubeconfig),
                *("--namespace", SYSTEM, "--create-namespace", "--values", file),
                *("--wait", "--timeout", "120s"),
            ]
        )


def uninstall(cluster: NodeCluster, helm: Path) -> None:
    """`helm uninstall` the release; the CRDs and their resources are kept."""
    processes.call(
        [
            *(helm, "uninstall", RELEASE, "--kubeconfig", cluster.kubeconfig),
            *("--namespace", SYSTEM, "--wait"),
        ]
    )


def scale_operator(cluster: NodeCluster, replicas: int) -> None:
    """Scale the operator down or up, and wait until it is done."""
    deployment = f"deployment/{RELEASE}"
    cluster.kubectl("--namespace", SYSTEM, "scale", deployment, f"--replicas={replicas}")
    cluster.kubectl("--namespace", SYSTEM, "rollout", "status", deployment, "--timeout=90s")
    if not replicas:
        cluster.kubectl(
            *("--namespace", SYSTEM, "wait", "pod", "--for=delete", "--timeout=60s"),
            *("--selector", "app.kubernetes.io/component=operator"),
        )


def _image(name: str) -> dict[str, str]:
    repository, _, tag = name.rpartition(":")
    return {"repository": repository, "tag": tag, "pullPolicy": "Never"}
