"""Log lines of a pod, as the operator and a log collector read them."""

from __future__ import annotations

import io
import json

from modelexport_api.pod import parse_log_line
from modelexport_api.status import Progress, Stage
from modelexport_exporter.core.log import JsonLog


def test_every_line_has_the_identity_of_its_model_export() -> None:
    stream = io.StringIO()
    log = JsonLog(stream)
    log.log("info", "before the manifest was read")
    log.identify("ml", "digits", "u-1")
    log.log("warning", "slow", seconds=3)
    log.progress(Progress(stage=Stage.FETCH, percent=5, message="downloading"))
    first, *others = stream.getvalue().splitlines()
    assert "name" not in json.loads(first)
    for line in others:
        assert (
            json.loads(line).items() >= {"namespace": "ml", "name": "digits", "uid": "u-1"}.items()
        )
    parsed = parse_log_line(others[-1])
    assert parsed is not None
    assert parsed.progress is not None
