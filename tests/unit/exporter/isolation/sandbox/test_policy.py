"""What a kernel enforces, what a manifest opens, and which limits follow."""

from __future__ import annotations

import pytest

from modelexport_api.isolation import Isolation, Network
from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.isolation.sandbox.landlock import Right, handled, rights_of
from modelexport_exporter.isolation.sandbox.limits import Limits, limits_for
from modelexport_exporter.isolation.sandbox.places import Access
from modelexport_exporter.isolation.sandbox.policy import Kernel, check, describe, network_of

GIB = 1 << 30


@pytest.mark.parametrize(
    ("kernel", "missing"),
    [
        (Kernel(7, seccomp=True), []),
        (Kernel(6, seccomp=True), []),
        (Kernel(4, seccomp=True), ["signals and abstract sockets"]),
        (Kernel(2, seccomp=True), ["truncation", "signals and abstract sockets"]),
        (Kernel(0, seccomp=True), ["files, signals"]),
        (Kernel(6, seccomp=False), ["system calls and the network"]),
    ],
)
def test_what_is_missing_is_named_and_fails_where_it_is_required(
    kernel: Kernel, missing: list[str]
) -> None:
    found = describe(kernel, Network.CLOSED)
    assert len(found.missing) == len(missing)
    assert all(map(str.startswith, found.missing, missing))
    check(Isolation.PREFERRED, found)
    if not missing:
        check(Isolation.REQUIRED, found)
        return
    with pytest.raises(ExportFailure) as caught:
        check(Isolation.REQUIRED, found)
    assert caught.value.reason is Reason.ISOLATION_UNAVAILABLE
    assert missing[0] in caught.value.message


@pytest.mark.parametrize(
    ("seccomp", "asked", "told"),
    [
        (True, Network.CLOSED, Network.CLOSED),
        (True, Network.OPEN, Network.OPEN),
        (False, Network.CLOSED, Network.OPEN),
    ],
)
def test_the_network_is_reported_as_it_was(seccomp: bool, asked: Network, told: Network) -> None:
    assert describe(Kernel(7, seccomp), asked).network is told


@pytest.mark.parametrize(
    ("model", "in_pod", "expected"),
    [
        (None, True, Network.CLOSED),
        (None, False, Network.OPEN),
        ({}, True, Network.CLOSED),
        ({"network": "Open"}, True, Network.OPEN),
        ({"network": "Closed"}, False, Network.CLOSED),
    ],
)
def test_the_manifest_decides_on_the_network(
    model: dict[str, str] | None, expected: Network, *, in_pod: bool
) -> None:
    spec = ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///x.pt"},
            "inputs": [{"name": "x", "dtype": "float32", "shape": [1]}],
            "destination": {"uri": "file:///out/"},
            **({"model": {"factory": "net:build", **model}} if model is not None else {}),
        }
    )
    assert network_of(spec, in_pod=in_pod) is expected


@pytest.mark.parametrize(
    ("abi", "last"),
    [(1, Right.MAKE_SYM), (2, Right.REFER), (3, Right.TRUNCATE), (5, Right.IOCTL_DEV)],
)
def test_a_version_is_asked_for_the_rights_that_it_knows(abi: int, last: Right) -> None:
    assert last in handled(abi)
    assert handled(abi) < last << 1


def test_a_rule_of_a_file_has_rights_of_files_only() -> None:
    assert rights_of(Access.LIST, 7, directory=False) == 0
    assert Right.READ_DIR not in rights_of(Access.READ, 7, directory=False)
    assert Right.MAKE_CHAR not in rights_of(Access.OWN, 7, directory=True)
    assert Right.IOCTL_DEV not in rights_of(Access.DEVICE, 4, directory=False)


@pytest.mark.parametrize(
    ("free", "tasks", "in_pod", "expected"),
    [
        (100 * GIB, 200, False, Limits(99 * GIB, 4296)),
        (100 * GIB, 200, True, Limits(99 * GIB, None)),
        (GIB, 0, True, Limits(GIB - GIB // 20, None)),
        (0, 0, True, Limits(0, None)),
    ],
)
def test_limits(free: int, tasks: int, expected: Limits, *, in_pod: bool) -> None:
    assert limits_for(free, tasks, in_pod=in_pod) == expected
