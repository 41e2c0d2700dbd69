"""The proxy for the API server, read once from the environment: HTTPS_PROXY, HTTP_PROXY, NO_PROXY.

aiohttp can do it, but a thread of it then reads the environment and a .netrc file for each request.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass


def proxy_of(url: str) -> str | None:
    """Return the URL of the proxy for requests to this URL; None if there is none.

    NO_PROXY may have networks as well, as in Go's clients: the API server is known by its address.
    """
    address, proxies = urlsplit(url), getproxies()
    excepted = proxies.get("no", "")
    if proxy_bypass(address.netloc) or _is_in(address.hostname or "", excepted.split(",")):
        return None
    return proxies.get(address.scheme)


def _is_in(host: str, excepted: list[str]) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in map(_network, excepted) if network is not None)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        return None
