from __future__ import annotations

import errno

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.storage.errors import from_os_error
from modelexport_exporter.storage.store import Role


@pytest.mark.parametrize(
    ("number", "role", "reason"),
    [
        (errno.ENOENT, Role.SOURCE, Reason.SOURCE_NOT_FOUND),
        (errno.ENOENT, Role.CODE, Reason.CODE_INVALID),
        (errno.EACCES, Role.SOURCE, Reason.ACCESS_DENIED),
        (errno.EACCES, Role.DESTINATION, Reason.DESTINATION_DENIED),
        (errno.EROFS, Role.DESTINATION, Reason.DESTINATION_DENIED),
        (errno.ENOTDIR, Role.DESTINATION, Reason.DESTINATION_DENIED),
        (errno.ENOSPC, Role.SOURCE, Reason.DISK_FULL),
        (errno.ENOSPC, Role.DESTINATION, Reason.DISK_FULL),
        (errno.EDQUOT, Role.DESTINATION, Reason.DISK_FULL),
        (errno.EIO, Role.SOURCE, Reason.STORE_UNAVAILABLE),
    ],
)
def test_errors_of_the_file_system(number: int, role: Role, reason: Reason) -> None:
    failure = from_os_error(OSError(number, "why", "/x"), role, "/data/x")
    assert failure.reason is reason
    assert "/data/x" in failure.message
    assert failure.hint
