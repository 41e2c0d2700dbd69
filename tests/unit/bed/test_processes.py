"""Ports of the test bed."""

from __future__ import annotations

import socket

from bed.processes import PORTS, free_port


def test_a_preferred_port_is_returned_while_it_is_free() -> None:
    port = free_port()
    assert port in PORTS
    assert free_port(preferred=port) == port


def test_a_port_that_another_address_listens_on_is_not_free() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.2", free_port()))
        server.listen()
        taken = server.getsockname()[1]
        assert free_port(preferred=taken) != taken
