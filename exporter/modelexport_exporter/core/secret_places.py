"""Where credentials are on this machine: no worker may read them, and no URI may name them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from modelexport_exporter.core.mounts import mount_info, mounts_in

CREDENTIAL_FILES = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".oci", ".kube", ".docker", ".config/containers"),
    *(".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".config/gh"),
    *(".config/gcloud", ".config/doctl", ".config/rclone", ".config/helm", ".config/sops"),
    *(".boto", ".s3cfg", ".mc", ".pypirc", ".npmrc", ".cargo/credentials.toml", ".vault-token"),
    *(".terraform.d/credentials.tfrc.json", ".databrickscfg", ".kaggle", ".pgpass", ".my.cnf"),
    *(".password-store", ".local/share/keyrings", ".mozilla", ".config/google-chrome"),
    *(".config/chromium", ".bash_history", ".zsh_history", ".python_history"),
    *(".cache/huggingface/token", ".cache/huggingface/stored_tokens"),
)
"""Below the home directory."""

SYSTEM_SECRETS = (
    *("/run/secrets", "/run/user", "/run/credentials", "/var/lib/kubelet", "/etc/kubernetes"),
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssh", "/etc/sudoers"),
    *("/sys/kernel/debug", "/sys/kernel/tracing", "/sys/kernel/security"),
)

CREDENTIAL_VARIABLES = (
    *("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    *("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AZURE_FEDERATED_TOKEN_FILE", "KUBECONFIG"),
    *("GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "DOCKER_CONFIG", "NETRC"),
    *("HF_TOKEN_PATH", "MODELEXPORT_SIGNING_KEY_FILE"),
)
"""Environment variables with paths of credentials, several of them separated by colons."""

_KEPT_CURRENT = "..data"
"""A link in the volumes that the kubelet keeps current."""


def secret_places() -> frozenset[Path]:
    """Return the files and directories with credentials, without links."""
    try:
        home = Path.home()
    except RuntimeError:  # no variable and no user names one
        home = Path("/")
    named = credentials(os.environ, home)
    return frozenset(without_links([*named, *secret_volumes(mount_info(), _is_kept_current)]))


def without_links(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the real paths, and of a volume that is kept current the whole directory."""
    for path in paths:
        with contextlib.suppress(OSError, RuntimeError):
            yield path.resolve()
            if _is_kept_current(path.parent):
                yield path.parent.resolve()


def _is_kept_current(directory: Path) -> bool:
    try:
        return (directory / _KEPT_CURRENT).is_symlink()
    except PermissionError:  # a mount of another user: nothing below it can be named
        return False


def credentials(environment: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Return where credentials may be on this machine."""
    named = (
        Path(path)
        for name in CREDENTIAL_VARIABLES
        for path in environment.get(name, "").split(":")
        if path.startswith("/")
    )
    hugging_face = environment.get("HF_HOME")
    tokens = [Path(hugging_face, name) for name in ("token", "stored_tokens") if hugging_face]
    below_home = (home / name for name in CREDENTIAL_FILES)
    return (*map(Path, SYSTEM_SECRETS), *below_home, *named, *tokens)


def secret_volumes(mount_info: str, is_kept_current: Callable[[Path], bool]) -> tuple[Path, ...]:
    """Return where Kubernetes mounted Secrets and tokens, whatever the paths are.

    `mount_info`: the content of /proc/self/mountinfo. `is_kept_current`: whether the kubelet
    replaces the content of a directory in one step, as it does for these volumes.
    """
    found = []
    for mount in mounts_in(mount_info):
        # One file of such a volume is mounted from the directory of its present content.
        path = Path(mount.point)
        if mount.kind == "tmpfs" and (mount.root.startswith("/..") or is_kept_current(path)):
            found.append(path)
    return tuple(found)
