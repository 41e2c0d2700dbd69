"""The storage of an export: the manifest's, and the operator's where the manifest names none.

A manifest with an endpoint of its own takes nothing from the operator: region and Secret belong to
the operator's endpoint, and keys must not be sent to another server.
"""

from __future__ import annotations

from modelexport_api.source import AddressingStyle, Storage


def resolve(stated: Storage, default: Storage) -> Storage:
    """Return the storage that the pod uses."""
    if stated.endpoint is not None:
        return stated
    automatic = stated.addressing_style is AddressingStyle.AUTO
    return Storage(
        endpoint=default.endpoint,
        region=stated.region or default.region,
        addressing_style=default.addressing_style if automatic else stated.addressing_style,
        secret_name=stated.secret_name or default.secret_name,
    )
