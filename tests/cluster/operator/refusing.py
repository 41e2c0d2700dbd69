"""A cluster whose admission policy refuses some ModelExports: what only the API server knows."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

from bed.control_plane import ControlPlane
from bed.processes import BedError
from cluster.operator.world import SPEC, eventually

LABEL = "refused"


@contextlib.contextmanager
def refusing(plane: ControlPlane, namespace: str) -> Iterator[None]:
    """Refuse ModelExports with the label `refused` in one namespace while the block runs."""
    name = f"refuses-{namespace}"
    group = "admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": ["modelexport.dev"],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["modelexports"],
    }
    holds = f"!has(object.metadata.labels) || !('{LABEL}' in object.metadata.labels)"
    policy = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": holds, "message": "not in this cluster"}],
        },
    }
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    binding = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": selector},
        },
    }
    plane.apply(policy, binding)
    try:
        eventually(lambda: _refuses(plane, namespace), "the policy refuses a ModelExport")
        yield
    finally:
        kinds = "validatingadmissionpolicybinding,validatingadmissionpolicy"
        plane.kubectl("delete", kinds, name)


def _refuses(plane: ControlPlane, namespace: str) -> bool:
    probe = {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "probe", "namespace": namespace, "labels": {LABEL: "yes"}},
        "spec": SPEC,
    }
    try:
        plane.kubectl("create", "--dry-run=server", "--filename=-", stdin=json.dumps(probe))
    except BedError:
        return True
    return False
