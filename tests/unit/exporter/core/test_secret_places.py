"""Where credentials are, by variables and mounts that are a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_exporter.core import secret_places
from modelexport_exporter.core.secret_places import credentials, secret_volumes

HOME = Path("/home/ada")


@pytest.mark.parametrize(
    ("variable", "value", "hidden"),
    [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/tokens/aws", "/tokens/aws"),
        ("KUBECONFIG", "/a/one:/b/two", "/b/two"),
        ("HF_HOME", "/models", "/models/token"),
        ("MODELEXPORT_SIGNING_KEY_FILE", "/keys/key.pem", "/keys/key.pem"),
        ("PATH", "/usr/bin", "/run/secrets"),
    ],
)
def test_credentials_are_where_their_variables_say(variable: str, value: str, hidden: str) -> None:
    assert Path(hidden) in credentials({variable: value}, HOME)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("50 40 0:51 / /keys rw shared:1 - tmpfs tmpfs rw", True),
        ("50 40 0:51 /..2026_11/key /etc/key.pem ro - tmpfs tmpfs rw", True),
        ("50 40 0:51 / /scratch rw - tmpfs tmpfs rw", False),
        ("50 40 8:1 / /keys rw - ext4 /dev/sda rw", False),
        ("", False),
    ],
)
def test_volumes_with_secrets_are_found_wherever_they_are(line: str, *, found: bool) -> None:
    volumes = secret_volumes(line, lambda path: path == Path("/keys"))
    assert bool(volumes) is found


def test_a_mount_of_another_user_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of containers are, on a machine that runs some."""
    mount = "50 40 0:51 / /run/containerd/shm rw - tmpfs tmpfs rw"

    def is_denied(_: Path) -> bool:
        raise PermissionError

    monkeypatch.setattr(secret_places, "mount_info", lambda: mount)
    monkeypatch.setattr(Path, "is_symlink", is_denied)
    assert Path("/run/containerd/shm") not in secret_places.secret_places()
