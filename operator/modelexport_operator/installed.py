"""`python -m modelexport_operator.installed --config FILE`: what `helm test` runs.

With the operator's own account and settings: the kinds are served, the operator may list them
where it watches, and a leader renews its Lease.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from modelexport_api import PLURAL
from modelexport_api.trigger import TRIGGER_PLURAL
from modelexport_operator.client import EXPORTS, Api
from modelexport_operator.settings import Settings, load
from modelexport_operator.transport import ApiError

SECONDS = 60.0
_PAUSE = 1.0


async def problems(api: Api, settings: Settings, namespace: str, seconds: float) -> list[str]:
    """Return a sentence for each problem."""
    found = [problem async for problem in _unreadable(api, settings)]
    if not await _is_led(api, settings, namespace, seconds):
        lease = f"the Lease {namespace}/{settings.lease.name}"
        found.append(
            f"{lease} was not renewed within {seconds:.0f} s: no replica leads; read its log"
        )
    return found


async def _unreadable(api: Api, settings: Settings) -> AsyncIterator[str]:
    for plural in (PLURAL, TRIGGER_PLURAL):
        for namespace in settings.watch_namespaces or (None,):
            try:
                await anext(api.pages(EXPORTS, namespace, plural, limit=1))
            except ApiError as error:
                yield f"cannot list {plural} in {namespace or 'all namespaces'}: {error}"


async def _is_led(api: Api, settings: Settings, namespace: str, seconds: float) -> bool:
    """Return whether somebody holds the Lease and renews it: its version changes."""
    ends = time.monotonic() + seconds
    seen = None
    while time.monotonic() < ends:
        try:
            lease = await api.get_lease(namespace, settings.lease.name)
        except ApiError:
            seen = None
        else:
            version = lease["metadata"]["resourceVersion"]
            if seen not in (None, version) and (lease.get("spec") or {}).get("holderIdentity"):
                return True
            seen = version
        await asyncio.sleep(_PAUSE)
    return False


async def _run(settings: Settings, seconds: float) -> int:
    api = await Api.connect(settings.api, lambda *_: None)
    try:
        namespace = os.environ.get("POD_NAMESPACE") or "default"
        found = await problems(api, settings, namespace, seconds)
    finally:
        await api.close()
    sys.stdout.write("\n".join(found or ["ModelExports are served, and a replica leads"]) + "\n")
    return 1 if found else 0


def main(arguments: list[str] | None = None) -> int:
    """Check the installation; return 0 if it works, otherwise 1."""
    parser = argparse.ArgumentParser(prog="modelexport-installed", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="the operator's YAML file")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="wait for a leader")
    chosen = parser.parse_args(arguments)
    return asyncio.run(_run(load(chosen.config), chosen.seconds))


if __name__ == "__main__":
    sys.exit(main())
