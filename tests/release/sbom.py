"""Bills of material: CycloneDX 1.5 of one lock.

Written here instead of by a tool, because tools read what is installed, or locks of their own
format; a lock with hashes has all that is needed. Nothing in it depends on the time or the machine.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from release.locks import Pin


def document(
    name: str,
    version: str,
    pins: Sequence[Pin],
    *,
    commit: str,
    epoch: int,
    digest: str | None = None,
) -> dict[str, Any]:
    """The bill of the image NAME, whose lock has PINS; DIGEST is that of its manifest, if built."""
    root = f"pkg:generic/{name}@{version}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # The same bill has the same number, and another one another.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, f'{root} {commit}')}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "container",
                "bom-ref": root,
                "name": name,
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                **(_image(name, digest) if digest else {}),
            },
        },
        "components": [_component(pin) for pin in pins],
        "dependencies": [{"ref": root, "dependsOn": sorted({_purl(pin) for pin in pins})}],
    }


def _image(name: str, digest: str) -> dict[str, Any]:
    """Which image the bill is of."""
    algorithm, _, content = digest.partition(":")
    return {
        "purl": f"pkg:oci/{name}@{algorithm}%3A{content}",
        "hashes": [{"alg": "SHA-256", "content": content}],
    }


def _component(pin: Pin) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": _purl(pin),
        "name": pin.name,
        "version": pin.version,
        "purl": _purl(pin),
        # Of each file that the installer may take: a component has one content, this has many.
        "externalReferences": [
            {
                "type": "distribution",
                "url": _purl(pin),
                "hashes": [{"alg": "SHA-256", "content": digest} for digest in pin.hashes],
            }
        ],
    }
    if pin.marker:
        component["properties"] = [{"name": "modelexport:marker", "value": pin.marker}]
    return component


def _purl(pin: Pin) -> str:
    return f"pkg:pypi/{pin.name}@{pin.version.replace('+', '%2B')}"
