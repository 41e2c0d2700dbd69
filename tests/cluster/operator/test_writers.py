"""The status has two writers on a real API server; neither overwrites the other's fields."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cluster.operator.world import SUCCESS, World
from modelexport_api.status import Progress, Stage
from modelexport_operator import actions, names, observe, status
from modelexport_operator.client import Api
from modelexport_operator.decisions import Event
from modelexport_operator.events import EventRecorder
from modelexport_operator.observe import Observation
from modelexport_operator.settings import ApiLimits
from modelexport_operator.transport import CONFLICT, ApiError

pytestmark = pytest.mark.control_plane
Run = Callable[[Callable[[Api], Awaitable[None]]], None]
NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def api(operator_kubeconfig: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a scenario with the operator's own client and permissions."""
    monkeypatch.setenv("KUBECONFIG", str(operator_kubeconfig))

    def run(scenario: Callable[[Api], Awaitable[None]]) -> None:
        async def main() -> None:
            found = await Api.connect(ApiLimits(), lambda *_: None)
            try:
                await scenario(found)
            finally:
                await found.close()

        asyncio.run(main())

    return run


def test_progress_is_kept_by_a_status_write_and_never_overwrites_the_end(
    world: World, api: Run
) -> None:
    body = world.create("digits")

    async def scenario(client: Api) -> None:
        meta = {key: body["metadata"][key] for key in ("namespace", "name", "uid")}
        half = Progress(stage=Stage.CONVERT, percent=50).to_wire()

        async def write_progress() -> dict[str, object]:
            return await client.apply_status(
                meta, {"progress": half}, names.PROGRESS_MANAGER, force=False
            )

        seen = Observation(observe.resource(await write_progress()))
        running = await actions.write_status(client, seen.resource, status.build_active(seen, NOW))
        assert running is not None
        assert running["status"]["progress"] == half
        seen = Observation(observe.resource(running))
        assert (
            await actions.write_status(client, seen.resource, status.build_active(seen, NOW))
            is None
        )
        done = await actions.write_status(
            client, seen.resource, status.build_succeeded(seen, SUCCESS, NOW)
        )
        assert done is not None
        assert done["status"]["progress"]["percent"] == 100
        with pytest.raises(ApiError) as refused:
            await write_progress()
        assert refused.value.status == CONFLICT

    api(scenario)


def test_a_status_for_an_old_version_is_rejected(world: World, api: Run) -> None:
    old = Observation(observe.resource(world.create("digits")))

    async def scenario(client: Api) -> None:
        await actions.write_status(client, old.resource, status.build_active(old, NOW))
        with pytest.raises(ApiError) as refused:
            await actions.write_status(
                client, old.resource, status.build_succeeded(old, SUCCESS, NOW)
            )
        assert refused.value.status == CONFLICT

    api(scenario)


def test_an_event_is_created_once_across_restarts(world: World, api: Run) -> None:
    about = observe.resource(world.create("digits"))
    event = Event("Warning", "OutOfMemory", "the kernel killed it", "end")

    async def scenario(client: Api) -> None:
        for life in ("operator-0", "operator-1"):
            await EventRecorder(client, life).record(about, (event, event))

    api(scenario)
    assert [found["reason"] for found in world.events("digits")] == ["OutOfMemory"]
