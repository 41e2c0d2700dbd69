"""What the filter answers, on both processors: the program, run by a small interpreter."""

from __future__ import annotations

import errno

import pytest

from modelexport_exporter.isolation.sandbox.seccomp import (
    CALLS,
    MACHINES,
    Instruction,
    Machine,
    program,
)

ALLOWED = 0
NEW_USER, THREAD = 0x1000_0000, 0x3D0F00
UNIX, INET, INET6, PACKET, NETLINK = 1, 2, 10, 17, 16
FIRST_ARGUMENT, WORDS = 4, 16


def answer(
    code: list[Instruction], machine: Machine, number: int, *arguments: int, audit: int = 0
) -> int:
    """Return the error of a system call, 0 if it is allowed."""
    data = [number, audit or machine.audit, 0, 0, *[0] * 12]
    for position, value in enumerate(arguments):
        data[FIRST_ARGUMENT + 2 * position] = value
    accumulator = position = 0
    while True:
        kind, if_true, if_false, value = code[position]
        position += 1
        if kind == 0x20:
            accumulator = data[value // 4]
        elif kind == 0x06:
            return 0 if value == 0x7FFF_0000 else value & 0xFFFF
        else:
            tests = {0x15: accumulator == value, 0x35: accumulator >= value}
            holds = tests.get(kind, bool(accumulator & value))
            position += if_true if holds else if_false


@pytest.fixture(params=[*MACHINES.values()], ids=[*MACHINES])
def machine(request: pytest.FixtureRequest) -> Machine:
    found: Machine = request.param
    return found


def test_every_call_of_the_table_is_refused(machine: Machine) -> None:
    code = program(machine, network=True)
    numbers = [number[machine.column] for number in CALLS.values()]
    answers = {answer(code, machine, number) for number in numbers if number is not None}
    assert answers == {errno.EPERM}


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize(
    ("family", "open_only"),
    [(UNIX, None), (INET, True), (INET6, True), (NETLINK, True), (PACKET, False)],
)
def test_sockets(machine: Machine, family: int, open_only: bool | None, *, network: bool) -> None:
    allowed = open_only is None or (open_only and network)
    found = answer(program(machine, network=network), machine, machine.socket, family)
    assert found == (ALLOWED if allowed else errno.EPERM)


@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        ("clone", (THREAD,), ALLOWED),
        ("clone", (THREAD | NEW_USER,), errno.EPERM),
        ("clone3", (), errno.ENOSYS),
        ("prlimit", (0,), ALLOWED),
        ("prlimit", (1,), errno.EPERM),
        ("ioctl", (0, 0x5401), ALLOWED),
        ("ioctl", (0, 0x5412), errno.EPERM),
    ],
)
def test_calls_that_depend_on_an_argument(
    machine: Machine, call: str, arguments: tuple[int, ...], expected: int
) -> None:
    code = program(machine, network=False)
    assert answer(code, machine, getattr(machine, call), *arguments) == expected


def test_ordinary_calls_are_allowed(machine: Machine) -> None:
    code = program(machine, network=False)
    special = {machine.clone, machine.socket, machine.prlimit, machine.ioctl, machine.clone3}
    refused = {numbers[machine.column] for numbers in CALLS.values()}
    ordinary = set(range(400)) - special - refused
    assert {answer(code, machine, number) for number in ordinary} == {ALLOWED}


@pytest.mark.parametrize(
    ("number", "audit", "expected"),
    [(0, 0x4000_0003, errno.EPERM), (0x4000_0000, 0, errno.ENOSYS)],
    ids=["i386", "x32"],
)
def test_other_forms_of_the_same_calls_are_refused(number: int, audit: int, expected: int) -> None:
    machine = MACHINES["x86_64"]
    found = answer(program(machine, network=True), machine, number, audit=audit)
    assert found == expected


def test_no_jump_is_too_long_for_its_byte(machine: Machine) -> None:
    code = program(machine, network=True)
    assert all(max(jump, other) < 256 for _, jump, other, _ in code)
