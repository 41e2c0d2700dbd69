"""A listing continues after an object that cannot be read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any, cast

from modelexport_operator.cache import Cache
from modelexport_operator.client import EXPORTS, Api, Page
from modelexport_operator.queue import WorkQueue
from modelexport_operator.resync import Resync
from unit.operator.objects import UID, export_body


class Lists:
    """Lists one export that cannot be read, and a valid one."""

    async def pages(
        self, root: str, namespace: str | None, plural: str, selector: str = ""
    ) -> AsyncIterator[Page]:
        broken: dict[str, Any] = {"metadata": {"uid": "broken", "name": "broken"}}
        yield Page([broken, export_body()] if root == EXPORTS else [], "10")


def test_an_unreadable_object_does_not_block_the_others() -> None:
    cache, queue = Cache(), WorkQueue(time.monotonic)
    asyncio.run(Resync(cast("Api", Lists()), cache, queue, [], 300).first())
    assert cache.live() == [UID]
    assert queue.depth() == 1
