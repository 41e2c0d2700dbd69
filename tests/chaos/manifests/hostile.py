"""Values that break parsers, templates, terminals and pods, by family. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

TYPES: tuple[Any, ...] = (
    True, False, 0, 1, 7, -1, 1.5, "", "text", "64", "true", "null", [], {}, [1], ["a"], {"a": 1},
    [[]], [{}], {"": ""}, [None], date(2026, 5, 1),
    datetime(2026, 5, 1, 12, tzinfo=UTC), b"\x00\xff",
)  # fmt: skip
EMPTY: tuple[Any, ...] = ("", [], {}, " ", "\t", [""], {"": None})
NUMBERS: tuple[Any, ...] = (
    2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1, 10**30,
    10**400, 1e30, 1e308, -1e308, 5e-324, 1e15, 1e19, -0.0, 0, -1, -64,
)  # fmt: skip
NOT_FINITE: tuple[Any, ...] = (float("nan"), float("inf"), float("-inf"))
FRACTIONS: tuple[Any, ...] = (64.0, 64.5, 1.0, 0.1, -3.0, 20.0, 1e3, 1e-7, 0.30000000000000004)
UNICODE = (
    "\x00", "a\x00b", "\x1b[2J\x1b[31m", "\x07", "a\nb", "a\r\nb", "\u202egnp.exe", "\u200b",
    "\ufeff",
    "\ud800", "\udfff\ud800", "é", "e\u0301", "\U0001f4a9" * 20, "ﬁ", "\u0661\u0662",
    "\uff21", "\u2028", "\x7f",
    "\x85", "\uffff", "\U0010ffff", "Z\u0351\u0343" * 50, "İ", "ß", "\u00a0", "n\u0430me",
)  # fmt: skip
EXPRESSIONS = (
    "n - 1", "n // 0", "n // 2", "__import__('os').system('id')", "batch - 1", "2 * batch",
    "batch*2", "batch - batch", "-batch", "batch +1", "999999999 * batch", "9999999999 * batch",
    "batch + 999999999", "batch ** 9", "(batch)", "batch;", "lambda: 0", "batch\n", " batch",
    "batch - 0", "0 * batch", "unknown", "batch - 1 - 1", "max(batch, 2)", "\u0661 * batch", "None",
)  # fmt: skip
TEMPLATES = (
    "{{7*7}}", "{name}", "{stem}", "{stem.__class__}", "{0}", "{index!r}", "{", "}", "{}",
    "{{stem}}",
    "$(metadata.name)", "$(metadata.namespace)", "$(", "$$(x)", "$(metadata.labels['a'])",
    "$(.. | x)", "${jndi:ldap://x/y}", "<script>alert(1)</script>", "%s%n", "%(name)s", "`id`",
    "$(id)", "; rm -rf /", "' OR 1=1", "{% raw %}", "#{x}", "*{x}", "$(metadata.annotations)",
    "$(metadata['" + "x" * 600 + "'])", "$(" * 200,
)  # fmt: skip
URIS = (
    "s3://AKIAIOSFODNN7EXAMPLE:secret@bucket/key.pt", "https://user:pw@host/key.pt", "file:///etc/shadow",
    "file:///proc/self/environ", "file:///dev/zero", "file://host/path", "file:/a", "file:", "s3://",
    "s3:///key", "s3://bucket", "s3://bucket/", "S3://bucket/key", "gs://b/k", "hf://org/model",
    "ftp://user:pw@h/f", "data:text/plain;base64,AAAA", "javascript:alert(1)", "http://169.254.169.254/",
    "s3://b/../../etc/passwd", "s3://b/a/../b", "file:///a/../../etc/shadow", "file:///a/%2e%2e/%2e%2e/b",
    "s3://b/%00", "file:///a%00b", "file:///%zz", "s3://b/%2F%2F", "s3://b//k", "s3://b/k?versionId=1",
    "s3://b/k#f", "s3://b/\\..\\k", "s3://b k/k", "s3://[::1]/k", "file:///" + "a/" * 1000,
    "file://./model.pt", "file://./../../x", "file://./%2e%2e/x", "s3://b/{name}/../{stem}",
    "s3://{stem}/k/", "file:///{parent}/", "s3://b/" + "{stem}/" * 200, "s3://b/a\nb", "file:///",
    "file:////a", "s3://..", "s3://../k", "s3://./k", "~/model.pt", "C:\\model.pt", "./model.pt",
)  # fmt: skip
GLOBS = (
    "s3://b/*", "s3://b/**", "s3://b/[", "s3://b/[]", "s3://b/[!a]", "s3://b/[z-a]*.pt", "s3://*/k",
    "s3://b/" + "**/" * 300, "s3://b/?", "file:///**", "s3://b/a*b?[c]", "s3://b/" + "*a" * 900,
    "s3://b/*/", "s3://b/{a,b}.pt", "s3://b/[[:alpha:]]", "s3://b/[^a]*",
)  # fmt: skip
KEYS: tuple[Any, ...] = (
    "unknown", "__proto__", "$ref", "constructor", "__class__", "", " ", "source ", "a.b", "a[0]",
    "x" * 300, "\x1b[31mred", "a\nb: c", "\u202eeman", "é", "-", "<<", "=", "a`b", "{name}",
    "metadata",
    "spec", "status", "kind", 1, 1.5, True, "\ud800",
)  # fmt: skip

_EXPORTER = "exporter"


def _exporter(**fields: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"spec": {"containers": [{"name": _EXPORTER, **fields}]}}


POD_TEMPLATES: tuple[Any, ...] = (
    {"spec": {"containers": [{"image": "x"}]}},
    {"spec": {"containers": [None]}},
    {"spec": {"containers": "x"}},
    {"spec": {"containers": {_EXPORTER: {}}}},
    {"spec": {"containers": [{"name": ["a"]}]}},
    {"spec": {"containers": [{"name": _EXPORTER}, {"name": _EXPORTER, "image": "x"}]}},
    {"spec": {"containers": []}},
    {"spec": {"volumes": [{"name": "work"}]}},
    {"spec": {"volumes": [{"name": "tmp", "emptyDir": None}]}},
    {"spec": {"volumes": [{"name": 5, "emptyDir": {}}]}},
    {"spec": {"volumes": [{"name": "x", "projected": {"sources": [None]}}]}},
    {"spec": {"volumes": [{"name": "x", "projected": None}]}},
    {"spec": {"tolerations": {"a": 1}}},
    {"spec": {"tolerations": ["x", {"key": ["a"]}]}},
    {"spec": {"nodeSelector": ["a"]}},
    {"spec": {"nodeSelector": {"gpu": True}}},
    {"spec": {"securityContext": "x"}},
    {"spec": {"securityContext": {"runAsUser": "0"}}},
    {"spec": {"securityContext": {"runAsUser": 0.0}}},
    {"spec": {"securityContext": {"seLinuxOptions": ["level"]}}},
    {"spec": {"securityContext": {"appArmorProfile": {"type": ["Unconfined"]}}}},
    {"spec": {"securityContext": {"appArmorProfile": {"type": {"a": 1}}}}},
    {"spec": {"unknownField": 1}},
    {"spec": {"hostUsers": True, "shareProcessNamespace": True}},
    {"metadata": {"labels": None, "annotations": None}},
    {"metadata": {"labels": {"a": 1}}},
    {"metadata": {"labels": ["a"]}},
    {"metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/x": ["y"]}}},
    {"metadata": {"name": "x", "finalizers": ["a"]}},
    {"metadata": "x"},
    {"spec": "x"},
    {"spec": []},
    {"containers": []},
    _exporter(securityContext=None),
    _exporter(securityContext="x"),
    _exporter(securityContext={"privileged": 1}),
    _exporter(securityContext={"privileged": "true"}),
    _exporter(securityContext={"capabilities": {"drop": ["ALL"], "add": []}}),
    _exporter(resources="x"),
    _exporter(resources={"limits": "x"}),
    _exporter(resources={"limits": {"nvidia.com/gpu": None, "memory": {"a": 1}}}),
    _exporter(resources={"limits": {"nvidia.com/gpu": -1, "cpu": "x"}}),
    _exporter(resources={"claims": "x"}),
    _exporter(env=[{"name": "A", "value": 1}]),
    _exporter(env=["A=1"]),
    _exporter(env=[{"name": {"a": 1}}]),
    _exporter(env={"A": "1"}),
    _exporter(volumeMounts=[{"mountPath": "/work", "name": "x"}]),
    _exporter(volumeMounts=[{"mountPath": ["/"], "name": "x"}]),
    _exporter(volumeMounts=[{"mountPath": "", "name": 1}]),
    _exporter(ports=[{"containerPort": 80, "hostPort": "80"}]),
    _exporter(ports=[{"hostPort": 80}]),
    _exporter(ports=[80]),
    _exporter(lifecycle={"preStop": "x"}),
    _exporter(lifecycle=["x"]),
    _exporter(livenessProbe={"httpGet": {"port": 1, "host": ["10.0.0.1"]}}),
    _exporter(image=None),
    _exporter(image=5),
    _exporter(imagePullPolicy="Sometimes"),
)
"""Templates that weaken the pod, or whose parts have types of which nobody thought."""

TEXTS: Mapping[str, tuple[str, ...]] = {
    "unicode": UNICODE,
    "expression": EXPRESSIONS,
    "template": TEMPLATES,
    "uri": URIS,
    "glob": GLOBS,
}
