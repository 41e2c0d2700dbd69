"""The faults, what requests they are applied to, and how a run may end that meets them.

A fault that passes has to end right, one that stays has to end typed: worth another run, or refused
for good. A refusal is believed at once: a run may fail for good if the store refuses once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from chaos.faults import actions
from chaos.faults.operations import Operation, Request
from chaos.faults.proxy import Action


class End(StrEnum):
    """How a run ends."""

    RIGHT = "right"
    AGAIN = "failed, worth another run"
    REFUSED = "failed for good"


RIGHT, AGAIN, REFUSED = End
ALL = frozenset(Operation) - {Operation.OTHER}
LISTINGS = frozenset((Operation.LIST, Operation.LIST_UPLOADS))
WITH_BODY_DOWN = LISTINGS | {
    Operation.GET,
    Operation.COPY,
    Operation.CREATE_UPLOAD,
    Operation.COMPLETE_UPLOAD,
}
WITH_BODY_UP = frozenset((Operation.PUT, Operation.PUT_IF, Operation.UPLOAD_PART))
MULTIPART = frozenset((Operation.UPLOAD_PART, Operation.COMPLETE_UPLOAD))
READS = frozenset((Operation.HEAD, Operation.GET))
CONDITIONAL = frozenset((Operation.PUT_IF,))
WRITES = ALL - READS - LISTINGS
TIDYING = frozenset((Operation.DELETE, Operation.ABORT_UPLOAD, *LISTINGS))
"""A run that cannot tidy up reports it, and ends right."""


@dataclass(frozen=True)
class Rule:
    """A fault."""

    name: str
    action: Action | Callable[[], Action]
    operations: frozenset[Operation] = ALL
    once: frozenset[End] = frozenset((RIGHT,))
    stays: frozenset[End] = frozenset((AGAIN,))
    where: Callable[[Request], bool] = lambda _request: True
    made: bool = False
    """Whether `action` makes the action of each case."""
    silent: bool = False
    """Whether the client waits for its whole timeout each time."""
    exceptions: Mapping[Operation, frozenset[End]] = field(default_factory=dict)
    """Other ends, of one operation."""

    def new_action(self) -> Action:
        """Return the action of one case."""
        return self.action() if self.made else self.action  # type: ignore[call-arg,return-value]

    def allowed(self, operation: Operation, *, stays: bool, tidying: bool) -> frozenset[End]:
        """Return how a run may end; `tidying`: whether its artifact was published before."""
        ends = (self.stays if stays else self.once) | self.exceptions.get(operation, frozenset())
        return ends | {RIGHT} if tidying or operation in TIDYING else ends


def _ends(*ends: End) -> frozenset[End]:
    return frozenset(ends)


def _of_source(request: Request) -> bool:
    return "/source/" in request.key


def _with_condition(request: Request) -> bool:
    return "if-match" in request.headers


def _refusals() -> list[Rule]:
    """Return answers of S3 that another try does not change."""
    answers = [
        ("400 without a body", actions.refuse(400)),
        ("403 without a body", actions.refuse(403)),
        ("AccessDenied", actions.refuse(403, "AccessDenied")),
        ("ExpiredToken", actions.refuse(400, "ExpiredToken")),
        ("RequestTimeTooSkewed", actions.refuse(403, "RequestTimeTooSkewed")),
        ("InvalidAccessKeyId", actions.refuse(403, "InvalidAccessKeyId")),
        ("SignatureDoesNotMatch", actions.refuse(403, "SignatureDoesNotMatch")),
        ("AccessDenied, compressed", actions.refuse_by_gzip(403, "AccessDenied")),
        ("403 with a page of HTML", actions.refuse_with(403, actions.PAGE, actions.HTML)),
        ("NoSuchBucket", actions.refuse(404, "NoSuchBucket")),
        ("MethodNotAllowed", actions.refuse(405, "MethodNotAllowed")),
        ("MissingContentLength", actions.refuse(411, "MissingContentLength")),
        ("InvalidRange", actions.refuse(416, "InvalidRange")),
        ("NotImplemented", actions.refuse(501, "NotImplemented")),
        (
            "AuthorizationHeaderMalformed",
            actions.refuse(400, "AuthorizationHeaderMalformed"),
        ),
        (
            "PermanentRedirect to another region",
            actions.refuse(301, "PermanentRedirect", ("x-amz-bucket-region", "eu-west-9")),
        ),
        ("an error of a billion entities", actions.refuse_with(403, _bomb(), actions.XML)),
    ]
    believed, stays = _ends(RIGHT, REFUSED), _ends(REFUSED)
    # Without a body and from HEAD, they are answered by a GET; an object that may not be looked at
    # may be read.
    to_head = {Operation.HEAD: _ends(RIGHT, AGAIN, REFUSED)}
    return [
        Rule(name, action, once=believed, stays=stays, exceptions=to_head)
        for name, action in answers
    ]


def _bomb() -> bytes:
    return actions.BOMB % actions.ENTITIES


def _busy() -> list[Rule]:
    """Return answers that pass."""
    answers = [
        ("408", actions.refuse(408)),
        ("RequestTimeout", actions.refuse(400, "RequestTimeout")),
        ("OperationAborted", actions.refuse(409, "OperationAborted")),
        ("425", actions.refuse(425)),
        ("429", actions.refuse(429)),
        ("InternalError", actions.refuse(500, "InternalError")),
        ("500 without a body", actions.refuse(500)),
        ("502 with a page of HTML", actions.refuse_with(502, actions.PAGE, actions.HTML)),
        ("SlowDown", actions.refuse(503, "SlowDown")),
        ("SlowDown, compressed", actions.refuse_by_gzip(503, "SlowDown")),
        ("503 with a page of HTML", actions.refuse_with(503, actions.PAGE, actions.HTML)),
        ("504 without a body", actions.refuse(504)),
        ("a page of HTML that says 200", actions.refuse_with(200, actions.PAGE, actions.HTML)),
    ]
    rules = [Rule(name, action) for name, action in answers]
    moved = actions.refuse(307, "TemporaryRedirect", ("Location", "http://elsewhere.invalid/"))
    html = rules.pop()
    # HEAD and DELETE have no body that could be wrong, and what is read is compared with its ETag.
    harmless = {
        Operation.HEAD: _ends(RIGHT, AGAIN, REFUSED),
        Operation.DELETE: _ends(RIGHT),
        Operation.ABORT_UPLOAD: _ends(RIGHT),
    }
    return [
        *rules,
        Rule("TemporaryRedirect", moved),
        Rule(html.name, html.action, exceptions=harmless, once=_ends(RIGHT, AGAIN)),
        Rule(
            "an empty answer that says 200",
            actions.refuse_with(200, b""),
            once=_ends(RIGHT, AGAIN, REFUSED),
            stays=_ends(RIGHT, AGAIN, REFUSED),
        ),
        Rule(
            "an error that says 200",
            actions.refuse_with(200, actions.error("InternalError"), actions.XML),
            frozenset((Operation.COMPLETE_UPLOAD, Operation.COPY)),
        ),
    ]


def _connections() -> list[Rule]:
    """Return faults of the network and of servers in between."""
    return [
        Rule("connection reset before the request was stored", actions.reset),
        Rule("the answer is lost: RST", actions.refuse_after(actions.reset)),
        Rule("the answer is lost: end of the stream", actions.refuse_after(actions.hang_up)),
        Rule("the answer is lost: 500", actions.refuse_after(actions.refuse(500, "InternalError"))),
        Rule("the answer is lost: 503", actions.refuse_after(actions.refuse(503))),
        Rule("the answer is lost: silence", actions.silence_after, silent=True),
        Rule("no answer", actions.silence, silent=True),
        Rule("half a status line", actions.half_a_status_line),
        Rule("half a header", actions.half_a_header),
        Rule("an answer that is no HTTP", actions.no_http),
        Rule("a header of 128 KiB", actions.endless_header),
        Rule("a head byte by byte", actions.slow_header, stays=_ends(RIGHT)),
        Rule("half a body", actions.half_a_body, WITH_BODY_DOWN),
        Rule("half a body, then RST", actions.half_a_body_reset, WITH_BODY_DOWN),
        Rule("half a body, then silence", actions.stalled_body, WITH_BODY_DOWN, silent=True),
        Rule("chunks without an end", actions.broken_chunks, WITH_BODY_DOWN),
        Rule(
            "a body byte by byte", actions.dripping_body, frozenset((Operation.GET,)), silent=True
        ),
        Rule("half of a request's body", actions.short_up, WITH_BODY_UP),
        Rule("each request twice", actions.twice, stays=_ends(RIGHT)),
        Rule("each request twice, first answer", actions.twice_first_answer, stays=_ends(RIGHT)),
    ]


def _damages() -> list[Rule]:
    """Return bytes and headers that change on their way."""
    get = frozenset((Operation.GET,))
    ranged = frozenset((Operation.GET,))
    some = _ends(RIGHT, AGAIN, REFUSED)
    return [
        Rule(
            "a bit flipped in what is read", actions.flipped_down, get, stays=_ends(AGAIN, REFUSED)
        ),
        Rule("a bit flipped in what is sent", actions.flipped_up, WITH_BODY_UP),
        Rule("BadDigest", actions.refuse(400, "BadDigest"), WITH_BODY_UP),
        Rule("IncompleteBody", actions.refuse(400, "IncompleteBody"), WITH_BODY_UP),
        Rule(
            "XAmzContentSHA256Mismatch",
            actions.refuse(400, "XAmzContentSHA256Mismatch"),
            WITH_BODY_UP,
        ),
        Rule("another ETag", actions.other_etag, READS, once=some, stays=some),
        Rule("another ETag of what was written", actions.other_etag, WRITES, some, some),
        Rule(
            "no ETag", actions.without("ETag"), once=_ends(RIGHT, AGAIN), stays=_ends(RIGHT, AGAIN)
        ),
        Rule(
            "no Last-Modified",
            actions.without("Last-Modified"),
            READS,
            once=_ends(RIGHT, AGAIN),
            stays=_ends(RIGHT, AGAIN),
        ),
        Rule(
            "a Content-Length of 0",
            actions.without("Content-Length"),
            frozenset((Operation.HEAD,)),
            once=_ends(RIGHT, AGAIN),
            stays=_ends(RIGHT, AGAIN),
        ),
        Rule("no checksums and metadata", actions.without_metadata, READS, stays=_ends(RIGHT)),
        Rule(
            "the whole object for a range",
            actions.whole_instead_of_range,
            ranged,
            stays=_ends(AGAIN, REFUSED),
            where=lambda request: "range" in request.headers,
        ),
        Rule(
            "another range",
            actions.another_range,
            ranged,
            stays=_ends(AGAIN, REFUSED),
            where=lambda request: (
                "range" in request.headers and not request.headers["range"].startswith("bytes=0-")
            ),
        ),
    ]


def _states() -> list[Rule]:
    """Return answers about another state of the bucket than the one that it has."""
    some = _ends(RIGHT, AGAIN, REFUSED)
    gone = actions.refuse(404, "NoSuchKey")
    failed = actions.refuse(412, "PreconditionFailed")
    conflict = actions.refuse(409, "ConditionalRequestConflict")
    return [
        Rule("NoSuchKey: of what is there", gone, READS, once=some, stays=some),
        Rule(
            "NoSuchKey: of a checkpoint that was seen",
            gone,
            frozenset((Operation.GET,)),
            once=_ends(RIGHT, AGAIN),
            where=lambda request: _of_source(request) and _with_condition(request),
        ),
        Rule("NoSuchUpload in the middle", actions.refuse(404, "NoSuchUpload"), MULTIPART),
        Rule("PreconditionFailed", failed, CONDITIONAL, once=some, stays=some),
        Rule("ConditionalRequestConflict", conflict, CONDITIONAL, stays=_ends(AGAIN, REFUSED)),
        Rule(
            "PreconditionFailed by our own write",
            actions.refuse_after(failed),
            CONDITIONAL,
            stays=_ends(RIGHT),
        ),
        Rule(
            "ConditionalRequestConflict by our own write",
            actions.refuse_after(conflict),
            CONDITIONAL,
            stays=_ends(RIGHT),
        ),
        Rule(
            "PreconditionFailed: a checkpoint that changed",
            failed,
            frozenset((Operation.GET,)),
            once=_ends(AGAIN),
            where=lambda request: _of_source(request) and _with_condition(request),
        ),
        Rule("an answer of yesterday", actions.Stale, READS | LISTINGS, some, some, made=True),
        Rule("a listing without entries", actions.empty_listing, LISTINGS, once=some, stays=some),
        Rule(
            "the same page again and again",
            actions.same_page_again,
            LISTINGS,
            once=_ends(RIGHT, AGAIN),
        ),
    ]


RULES: tuple[Rule, ...] = (
    *_refusals(),
    *_busy(),
    *_connections(),
    *_damages(),
    *_states(),
)
