"""Test images without a registry: a bootstrapped Debian base, and the project's own on top of it.

The base carries this machine's certificate authorities and package-index settings, so the project's
Dockerfile needs to know nothing about where it is built. Images are cached as archives under the
digest of everything that goes into them, and buildah's layers make a change of code cheap.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from bed import debian, places, processes, versions

Target = Literal["operator", "exporter"]

BASE_PACKAGES = ("ca-certificates", "python3", "python3-pip", "python3-venv")

_CONTEXT = (
    *("Dockerfile", ".dockerignore", "pyproject.toml", "README.md", "LICENSE"),
    *("requirements", "api", "operator", "exporter", "cli"),
)
"""What of the repository goes into an image."""

_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
_INSTALLER_SETTINGS = ("PIP_", "UV_")
_BUNDLE_SETTINGS = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT")
_PROXY_SETTINGS = ("http_proxy", "https_proxy", "no_proxy")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def base_image() -> Path:
    """The base as an OCI archive, named `base_name()` when imported. Bootstrapped once."""
    archive = _archive("base", _base_digest())
    with places.locked("images"):
        if not archive.exists():
            _build_base()
            _push(base_name(), archive)
    return archive


def base_name() -> str:
    return f"localhost/modelexport-bed-base:{_base_digest()}"


def base_exists() -> bool:
    """Whether `base_image()` has nothing left to do."""
    return _archive("base", _base_digest()).exists()


def build(target: Target, tag: str) -> Path:
    """Build TARGET of the project's Dockerfile and return it as an archive of the image TAG."""
    base_image()
    source = places.repository()
    digest = files_digest(source, _CONTEXT, salt=f"{target} {tag} {_base_digest()}")
    archive = _archive(target, digest)
    with places.locked("images"):
        if archive.exists():
            return archive
        _buildah(
            *("build", "--layers", "--isolation", "chroot", "--format", "oci"),
            *("--build-arg", f"BASE={base_name()}", "--target", target),
            *("--tag", tag, "--file", source / "Dockerfile", source),
        )
        for outdated in archive.parent.glob(f"{target}-*.tar"):
            outdated.unlink()
        _push(tag, archive)
    return archive


def files_digest(root: Path, names: Iterable[str], *, salt: str = "") -> str:
    """A digest over the paths and contents of the files NAMES (or below them) in ROOT."""
    digest = hashlib.sha256(salt.encode())
    for name in names:
        for path in sorted([root / name, *(root / name).rglob("*")]):
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
    for name, value in environment.items():
        index_setting = name.startswith(_INSTALLER_SETTINGS) and not value.startswith(("/", "~"))
        if index_setting or name.lower() in _PROXY_SETTINGS:
            settings[name] = value
    return settings


def _base_digest() -> str:
    """Names the base: what it is made of, without making it."""
    settings = installer_settings(os.environ)
    parts = [versions.DEBIAN_RELEASE, *BASE_PACKAGES, json.dumps(settings, sort_keys=True)]
    bundle = Path(_BUNDLE)
    content = bundle.read_bytes() if bundle.exists() else b""
    return hashlib.sha256(" ".join(parts).encode() + content).hexdigest()[:12]


def _build_base() -> None:
    """Bootstrap Debian and commit it as an image."""
    with tempfile.TemporaryDirectory(prefix="modelexport-bed-base-", dir=_storage()) as work:
        root = Path(work) / "root"
        debian.bootstrap(root, versions.DEBIAN_RELEASE, BASE_PACKAGES)
        shutil.copy(_BUNDLE, root / _BUNDLE[1:])
        container = _buildah("from", "scratch").strip()
        try:
            _buildah("add", "--quiet", container, root, "/")
            settings = {"PATH": _PATH, **installer_settings(os.environ)}
            variables = [f"--env={name}={value}" for name, value in settings.items()]
            _buildah("config", *variables, container)
            _buildah("commit", "--quiet", container, base_name())
        finally:
            _buildah("rm", container)


def _push(name: str, archive: Path) -> None:
    """Write image NAME to ARCHIVE, which appears complete or not at all."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    _buildah("push", "--quiet", name, f"oci-archive:{unfinished}:{name}")
    unfinished.rename(archive)


def _archive(kind: str, digest: str) -> Path:
    return places.cache() / "images" / f"{kind}-{digest}.tar"


def _storage() -> Path:
    path = places.cache() / "buildah"
    path.mkdir(parents=True, exist_ok=True)
    return path


def _buildah(*arguments: str | Path) -> str:
    command, *rest = arguments
    storage: list[str | Path] = ["--root", _storage() / "storage", "--runroot", _storage() / "run"]
    return processes.call(["buildah", *storage, "--storage-driver", "overlay", command, *rest])
