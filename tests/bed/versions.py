"""Every pinned version of the test bed, in one place.

Go's checksum database vouches for the content behind a module version, so a version is a full pin.
"""

from __future__ import annotations

ETCD = "3.6.8"
KUBERNETES = "1.36.3"
HELM = "4.3.1"
VERSITYGW = "1.8.0"
REGISTRY = "3.0.0"
CEL = "0.26.1"
"""The version in Flux."""
LUA = "1.1.2"
ARGO_EVENTS = "1.9.11"
PAUSE = "1"
GITOPS = "1"
"""Of the source in tests/bed/gitops; higher after each change."""

DEBIAN_RELEASE = "bookworm"
"""The release that test images are bootstrapped from."""
