"""Every pinned version of the test bed, in one place.

Go's checksum database vouches for the content behind a module version, so a version is a full pin.
"""

from __future__ import annotations

ETCD = "3.6.8"
KUBERNETES = "1.36.3"
HELM = "4.3.1"
VERSITYGW = "1.8.0"
REGISTRY = "3.0.0"
PAUSE = "1"

DEBIAN_RELEASE = "bookworm"
"""The release that test images are bootstrapped from."""
