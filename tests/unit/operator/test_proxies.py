"""Which proxy serves the API server."""

from __future__ import annotations

import pytest

from modelexport_operator.proxies import proxy_of

PROXY = "http://user:word@proxy.corp:3128"
SERVER = "https://10.96.0.1:443"


@pytest.mark.parametrize(
    ("url", "environment", "expected"),
    [
        (SERVER, {}, None),
        (SERVER, {"HTTPS_PROXY": PROXY}, PROXY),
        (SERVER, {"https_proxy": PROXY}, PROXY),
        (SERVER, {"HTTP_PROXY": PROXY}, None),
        ("http://10.96.0.1:8080", {"http_proxy": PROXY}, PROXY),
        (SERVER, {"HTTPS_PROXY": PROXY, "NO_PROXY": "10.96.0.1"}, None),
        (SERVER, {"HTTPS_PROXY": PROXY, "NO_PROXY": "localhost, 10.0.0.0/8"}, None),
        (SERVER, {"HTTPS_PROXY": PROXY, "NO_PROXY": "10.97.0.0/16,.svc"}, PROXY),
        (SERVER, {"HTTPS_PROXY": PROXY, "NO_PROXY": "*"}, None),
        ("https://api.corp:6443", {"HTTPS_PROXY": PROXY, "NO_PROXY": ".corp"}, None),
        ("https://api.corp:6443", {"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, PROXY),
        ("https://[fd00::1]:443", {"HTTPS_PROXY": PROXY, "NO_PROXY": "fd00::/8"}, None),
    ],
)
def test_the_proxy_of_the_api_server(
    url: str, environment: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_of(url) == expected
