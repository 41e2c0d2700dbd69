"""A draw of the faults at a draw of the requests; `python -m chaos faults` applies each to each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bed.s3 import S3Server
from chaos.faults.cases import Case, Place, Target, all_cases
from chaos.faults.judge import judge
from chaos.faults.operations import Operation, Request
from chaos.faults.proxy import Proxy, proxying
from chaos.faults.rules import RULES, End
from chaos.faults.runs import PATIENT_SECONDS, Bench
from modelexport_api.reasons import Reason

pytestmark = pytest.mark.s3

_RESET = "connection reset before the request was stored"
MET_BEFORE = (
    (_RESET, Place.DESTINATION, Operation.COMPLETE_UPLOAD, True),
    ("the answer is lost: end of the stream", Place.DESTINATION, Operation.PUT_IF, True),
    ("NotImplemented", Place.DESTINATION, Operation.PUT_IF, True),
    ("TemporaryRedirect", Place.DESTINATION, Operation.COMPLETE_UPLOAD, True),
    ("OperationAborted", Place.SOURCE, Operation.LIST, False),
    ("half a header", Place.DESTINATION, Operation.GET, False),
    ("a bit flipped in what is read", Place.SOURCE, Operation.GET, False),
    ("half a body", Place.DESTINATION, Operation.GET, False),
    ("no ETag", Place.DESTINATION, Operation.UPLOAD_PART, True),
    ("a page of HTML that says 200", Place.SOURCE, Operation.LIST, True),
    ("an empty answer that says 200", Place.DESTINATION, Operation.COPY, False),
    ("the whole object for a range", Place.SOURCE, Operation.GET, True),
    ("another range", Place.SOURCE, Operation.GET, False),
    ("a Content-Length of 0", Place.SOURCE, Operation.HEAD, False),
    ("NoSuchKey: of a checkpoint that was seen", Place.SOURCE, Operation.GET, True),
)  # fmt: skip
"""Faults that once ended as an error of the product, or for good where another run helps."""
DRAWN = 3


@pytest.fixture
def proxy(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    with proxying(s3.endpoint) as proxy:
        yield proxy


@pytest.fixture
def bench(s3: S3Server, bucket: str, proxy: Proxy, tmp_path: Path) -> Bench:
    """A destination with an artifact; `proxy.seen` has the requests of a run that replaces one."""
    bench = Bench(s3, bucket, tmp_path / "work")
    proxy.read = bench.stored
    for seed in range(2):
        expected = bench.put_checkpoint(seed)
        proxy.seen.clear()
        result, _ = bench.run(proxy.endpoint, PATIENT_SECONDS)
        assert result.failure is None
        assert bench.published() == expected
        assert bench.left() == []
    return bench


@pytest.mark.parametrize("part", range(4))
def test_faults_that_ended_otherwise_before(bench: Bench, proxy: Proxy, part: int) -> None:
    rules = {rule.name: rule for rule in RULES}
    for number, (name, place, operation, stays) in enumerate(MET_BEFORE[part::4]):
        case = Case(rules[name], Target(place, operation), stays, skipped=0)
        verdict = judge(case, bench, proxy, number + 10)
        assert case.met, case.name
        assert verdict.held, verdict


@pytest.mark.parametrize("seed", range(4))
def test_a_draw_of_faults(bench: Bench, proxy: Proxy, seed: int) -> None:
    cases = all_cases(proxy.seen, seed=0)
    assert len({case.rule.name for case in cases}) == len(RULES), "each fault meets a request"
    for number, case in enumerate(random.Random(seed).sample(cases, DRAWN)):
        verdict = judge(case, bench, proxy, number + 100)
        assert verdict.held, verdict


@pytest.mark.parametrize(
    "endpoint",
    ["http://no-such-host.invalid", "https://{proxy}", "http://127.0.0.1:1", "http://127.0.0.1:0"],
    ids=["no such name", "no TLS", "nobody listens", "no such port"],
)
def test_a_store_that_cannot_be_reached(bench: Bench, proxy: Proxy, endpoint: str) -> None:
    earlier = bench.published()
    result, clock = bench.run(endpoint.format(proxy=proxy.endpoint.removeprefix("http://")))
    assert result.failure is not None
    assert result.failure.reason in {Reason.STORE_UNAVAILABLE, Reason.INVALID_MANIFEST}
    assert clock.seconds < 120
    assert bench.published() == earlier


def test_a_wrong_end_is_noticed(bench: Bench, proxy: Proxy) -> None:
    """A refusal that stays, by a rule that allows no run to fail."""
    rule = next(rule for rule in RULES if rule.name == "AccessDenied")
    strict = replace(rule, stays=frozenset((End.RIGHT,)), exceptions={})
    target = Target(Place.DESTINATION, Operation.PUT_IF)
    assert judge(Case(strict, target, stays=True, skipped=0), bench, proxy, 5).wrong


@pytest.mark.parametrize(
    ("method", "path", "headers", "operation"),
    [
        ("GET", "/b?list-type=2&prefix=out%2F", {}, Operation.LIST),
        ("GET", "/b?uploads", {}, Operation.LIST_UPLOADS),
        ("GET", "/b/key", {}, Operation.GET),
        ("PUT", "/b/key", {}, Operation.PUT),
        ("PUT", "/b/key", {"if-none-match": "*"}, Operation.PUT_IF),
        ("PUT", "/b/key", {"x-amz-copy-source": "b/x"}, Operation.COPY),
        ("PUT", "/b/key?partNumber=1&uploadId=u", {}, Operation.UPLOAD_PART),
        ("POST", "/b/key?uploads", {}, Operation.CREATE_UPLOAD),
        ("POST", "/b/key?uploadId=u", {}, Operation.COMPLETE_UPLOAD),
        ("DELETE", "/b/key?uploadId=u", {}, Operation.ABORT_UPLOAD),
        ("DELETE", "/b/key", {}, Operation.DELETE),
        ("OPTIONS", "/b/key", {}, Operation.OTHER),
    ],
)
def test_operations_of_requests(
    method: str, path: str, headers: dict[str, str], operation: Operation
) -> None:
    assert Request(method, path, headers, b"").operation is operation
