"""The owner of the Lease, from what the API server says about the process's user."""

from __future__ import annotations

import pytest

from modelexport_operator.lease_owner import owner_from

ACCOUNT = "system:serviceaccount:system:operator"


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ({"username": ACCOUNT, "uid": "u"}, "operator"),
        ({"username": ACCOUNT}, None),
        ({"username": "system:serviceaccount:other:operator", "uid": "u"}, None),
        ({"username": "admin", "uid": "u"}, None),
        ({}, None),
    ],
    ids=["own account", "no uid", "another namespace", "a person", "nobody"],
)
def test_owner_from(user: dict[str, str], name: str | None) -> None:
    owner = owner_from({"status": {"userInfo": user}}, "system")
    assert (owner["name"] if owner else None) == name
    if owner:
        assert (owner["kind"], owner["uid"]) == ("ServiceAccount", "u")
