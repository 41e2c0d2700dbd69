"""Test images without a registry: a bootstrapped Debian base, and the project's own on top of it.

The base carries this machine's certificate authorities and package-index settings, so the project's
Dockerfile needs to know nothing about where it is built. An image is kept in buildah's storage, and
next to it the digest of everything that went into it; layers make a change of code cheap.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal

from bed import debian, places, processes, versions
from bed.registry import Registry

Target = Literal["operator", "exporter", "exporter-cpu"]

BASE_PACKAGES = ("ca-certificates", "python3", "python3-venv")

_CONTEXT = (
    *("Dockerfile", ".dockerignore", "pyproject.toml", "README.md", "LICENSE"),
    *("requirements", "api", "operator", "exporter", "cli", "docs/reasons.md"),
)
"""What of the repository goes into an image."""

_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
_BUNDLE_SETTINGS = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT")
_INSTALLER_SETTINGS = ("PIP_", "UV_")
_PROXY_SETTINGS = ("http_proxy", "https_proxy", "no_proxy")
_COMPRESSION = ("--compression-format", "zstd", "--compression-level", "1")
"""Smaller than gzip and written faster."""
_DEPENDENCIES = ("Dockerfile", "requirements")
"""What the large layers of an image are made of."""
_UNITS = {"B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3}
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def base_image() -> str:
    """The name of the base, which is bootstrapped once."""
    return _kept("base", base_name(), _base_digest(), _build_base)


def base_name() -> str:
    return f"localhost/modelexport-bed-base:{_base_digest()}"


def base_exists() -> bool:
    """Whether `base_image()` has nothing left to do."""
    return _kept_digest("base") == _base_digest()


def build(target: Target) -> str:
    """Build TARGET of the project's Dockerfile and return the image's name."""
    base_image()
    return _kept(target, name(target), _target_digest(), lambda: _build_target(target))


def name(target: Target) -> str:
    """What the image of TARGET is called on the node."""
    return f"localhost/modelexport-{target}:test"


def built(target: Target) -> bool:
    """Whether `build` has nothing left to do."""
    return _kept_digest(target) == _target_digest()


def run(target: Target, *command: str) -> str:
    """Run a command in the image of TARGET, without a cluster; return what it writes."""
    container = buildah("from", "--pull-never", build(target)).strip()
    try:
        return buildah("run", "--isolation", "chroot", container, "--", *command)
    finally:
        buildah("rm", container)


def push(image: str, registry: Registry) -> None:
    """Copy an image to the registry; layers that are there already are not read again."""
    words = ("push", "--quiet", "--tls-verify=false", *_COMPRESSION)
    buildah(*words, image, f"docker://{registry.reference(image)}")


def write_layout(image: str, directory: Path) -> None:
    """Write IMAGE to DIRECTORY as an OCI image layout."""
    buildah("push", "--quiet", "--format", "oci", image, f"oci:{directory}:test")


def dependencies_digest() -> str:
    """Names what the large layers of the project's images are made of."""
    return files_digest(places.repository(), _DEPENDENCIES, salt=_base_digest())


def size_bytes(target: Target) -> int:
    """The size of the image of TARGET, unpacked, to the three digits that buildah prints."""
    build(target)
    (image,) = json.loads(buildah("images", "--json", name(target)))
    return bytes_of(image["size"])


def bytes_of(size: str) -> int:
    """The number of bytes in a size for people, such as `240 MB`."""
    number, unit = size.split()
    return round(float(number) * _UNITS[unit])


def files_digest(root: Path, names: Iterable[str], *, salt: str = "") -> str:
    """A digest over the paths and contents of the files NAMES (or below them) in ROOT."""
    digest = hashlib.sha256(salt.encode())
    for included in names:
        for path in sorted([root / included, *(root / included).rglob("*")]):
            if path.is_file() and "__pycache__" not in path.parts:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{path.relative_to(root)} {content}\n".encode())
    return digest.hexdigest()[:16]


def installer_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The part of ENVIRONMENT that makes pip and uv work on this network, as an image needs it.

    A path of this machine means nothing in an image, but for the certificate bundle, which the
    base gets a copy of.
    """
    settings = dict.fromkeys(_BUNDLE_SETTINGS, _BUNDLE)
    for variable, value in environment.items():
        for_installer = variable.startswith(_INSTALLER_SETTINGS)
        if variable.lower() in _PROXY_SETTINGS or (for_installer and not value.startswith("/")):
            settings[variable] = value
    return settings


def _kept(kind: str, image: str, digest: str, build_image: Callable[[], None]) -> str:
    """The name of IMAGE, built anew unless what it was made of still has DIGEST."""
    with places.locked("images"):
        if _kept_digest(kind) != digest:
            _marker(kind).unlink(missing_ok=True)
            build_image()
            _marker(kind).write_text(digest)
    return image


def _kept_digest(kind: str) -> str | None:
    marker = _marker(kind)
    return marker.read_text() if marker.exists() else None


def _marker(kind: str) -> Path:
    return _images() / f"{kind}.digest"


def _target_digest() -> str:
    """Names what the project's images are made of; both targets share their sources."""
    return files_digest(places.repository(), _CONTEXT, salt=_base_digest())


def _base_digest() -> str:
    """Names the base: what it is made of, without making it."""
    settings = installer_settings(os.environ)
    parts = [
        versions.DEBIAN_RELEASE,
        *BASE_PACKAGES,
        *debian.UNWANTED,
        json.dumps(settings, sort_keys=True),
    ]
    bundle = Path(_BUNDLE)
    content = bundle.read_bytes() if bundle.exists() else b""
    return hashlib.sha256(" ".join(parts).encode() + content).hexdigest()[:12]


def _build_base() -> None:
    """Bootstrap Debian and commit it as an image."""
    with tempfile.TemporaryDirectory(prefix="modelexport-bed-base-", dir=_storage()) as work:
        root = Path(work) / "root"
        debian.bootstrap(root, versions.DEBIAN_RELEASE, BASE_PACKAGES)
        shutil.copy(_BUNDLE, root / _BUNDLE[1:])
        container = buildah("from", "scratch").strip()
        try:
            buildah("add", "--quiet", container, root, "/")
            settings = {"PATH": _PATH, **installer_settings(os.environ)}
            variables = [f"--env={variable}={value}" for variable, value in settings.items()]
            buildah("config", *variables, container)
            buildah("commit", "--quiet", container, base_name())
        finally:
            buildah("rm", container)


def _build_target(target: Target) -> None:
    source = places.repository()
    buildah(
        *("build", "--layers", "--force-rm", "--isolation", "chroot", "--format", "oci"),
        *("--build-arg", f"BASE={base_name()}", "--target", target),
        *("--tag", name(target), "--file", source / "Dockerfile", source),
    )
    # What the name meant before: each change of code would keep 4 GB on the disk. An image that a
    # container still uses stays, with an error, until the next build.
    with contextlib.suppress(processes.BedError):
        buildah("rmi", "--prune")


def _images() -> Path:
    path = places.cache() / "images"
    path.mkdir(parents=True, exist_ok=True)
    return path


def _storage() -> Path:
    path = places.cache() / "buildah"
    path.mkdir(parents=True, exist_ok=True)
    return path


def buildah(*arguments: str | Path) -> str:
    command, *rest = arguments
    storage: list[str | Path] = ["--root", _storage() / "storage", "--runroot", _storage() / "run"]
    return processes.call(["buildah", *storage, "--storage-driver", "overlay", command, *rest])
