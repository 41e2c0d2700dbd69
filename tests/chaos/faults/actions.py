"""What the proxy does to a request instead of passing it on: each action is one fault."""

from __future__ import annotations

import gzip
import threading
import time
from dataclasses import replace

from chaos.faults.proxy import Action, Answer, Exchange

XML = ("Content-Type", "application/xml")
HTML = ("Content-Type", "text/html")
PAGE = b"<!DOCTYPE html><html><head><title>Bad gateway</title><body><h1>nginx</h1></html>"
SLOW_SECONDS = 0.02
"""Between two bytes of what is slow."""
ENTITIES = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 9))
BOMB = b'<?xml version="1.0"?><!DOCTYPE e [<!ENTITY l0 "lol">%s]><Error><Code>&l8;</Code></Error>'


def error(code: str) -> bytes:
    """Return the body of an error of S3."""
    return f"<Error><Code>{code}</Code><Message>a fault</Message></Error>".encode()


def refuse(status: int, code: str = "", *headers: tuple[str, str]) -> Action:
    """Answer with a status, and an error of S3 if there is a code."""
    return refuse_with(status, error(code) if code else b"", XML, *headers)


def refuse_with(status: int, content: bytes, *headers: tuple[str, str]) -> Action:
    """Answer with a status and a content."""
    return lambda exchange: exchange.send(Answer(status, headers, content))


def refuse_by_gzip(status: int, code: str) -> Action:
    """Answer with an error of S3 that is compressed, which nobody asked for."""
    return refuse_with(status, gzip.compress(error(code)), XML, ("Content-Encoding", "gzip"))


def refuse_after(then: Action) -> Action:
    """Let the server do it, and answer something else."""

    def action(exchange: Exchange) -> None:
        exchange.forward()
        then(exchange)

    return action


def reset(exchange: Exchange) -> None:
    """Close the connection before the server has the request."""
    exchange.reset()


def hang_up(exchange: Exchange) -> None:
    """Close the connection without an answer."""
    exchange.close()


def half_a_status_line(exchange: Exchange) -> None:
    """Close the connection in the middle of the status line."""
    exchange.raw(b"HTTP/1.1 20")
    exchange.close()


def half_a_header(exchange: Exchange) -> None:
    """Close the connection in the middle of the ETag, before the length and the checksum."""
    answer = exchange.forward()
    etag = answer.header("ETag") or ""
    head = Answer(answer.status, (("ETag", etag),), answer.content).head()
    exchange.raw(head[: head.index(b"ETag: ") + len(b"ETag: ") + len(etag) // 2])
    exchange.close()


def no_http(exchange: Exchange) -> None:
    """Answer as an SSH server."""
    exchange.raw(b"SSH-2.0-OpenSSH_9.2\r\n")
    exchange.close()


def endless_header(exchange: Exchange) -> None:
    """Answer with a header that is longer than any client takes."""
    exchange.raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * (1 << 17) + b"\r\n\r\n")
    exchange.close()


def slow_header(exchange: Exchange) -> None:
    """Send the head byte by byte."""
    answer = exchange.forward()
    for byte in answer.head():
        exchange.raw(bytes([byte]))
        exchange.wait(0.001)
    if exchange.request.method != "HEAD":
        exchange.raw(answer.content)


def half_a_body(exchange: Exchange) -> None:
    """State the right length, send half of it and close the connection."""
    answer = exchange.forward()
    exchange.raw(answer.head() + answer.content[: len(answer.content) // 2])
    exchange.close()


def half_a_body_reset(exchange: Exchange) -> None:
    """State the right length, send half of it and reset the connection."""
    answer = exchange.forward()
    exchange.raw(answer.head() + answer.content[: len(answer.content) // 2])
    exchange.wait(0.02)
    exchange.reset()


def stalled_body(exchange: Exchange) -> None:
    """Send half of the body, and then nothing."""
    answer = exchange.forward()
    exchange.raw(answer.head() + answer.content[: len(answer.content) // 2])
    exchange.wait(3)
    exchange.close()


def dripping_body(exchange: Exchange) -> None:
    """Send the body byte by byte: the socket's timeout never passes."""
    answer = exchange.forward()
    exchange.raw(answer.head())
    end = time.monotonic() + 3
    for byte in answer.content:
        if time.monotonic() > end:
            break
        exchange.raw(bytes([byte]))
        exchange.wait(SLOW_SECONDS)
    exchange.close()


def broken_chunks(exchange: Exchange) -> None:
    """Send the body in chunks, the last of which is missing."""
    answer = exchange.forward().without("Content-Length")
    lines = answer.head().split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith(b"content-length")]
    half = answer.content[: len(answer.content) // 2]
    exchange.raw(b"\r\n".join([*kept[:-2], b"Transfer-Encoding: chunked", b"", b""]))
    exchange.raw(b"%x\r\n%s\r\n" % (len(half) + 10, half))
    exchange.close()


def silence(exchange: Exchange) -> None:
    """Take the request, and say nothing."""
    exchange.wait(3)
    exchange.close()


def silence_after(exchange: Exchange) -> None:
    """Let the server do it, and say nothing."""
    exchange.forward()
    silence(exchange)


def flipped_down(exchange: Exchange) -> None:
    """Flip one bit of the answer's body."""
    answer = exchange.forward()
    exchange.send(replace(answer, content=flip(answer.content)))


def flipped_up(exchange: Exchange) -> None:
    """Flip one bit of the request's body."""
    sent = replace(exchange.request, body=flip(exchange.request.body))
    exchange.send(exchange.forward(sent))


def flip(content: bytes) -> bytes:
    """Return bytes with one bit in the middle that differs."""
    changed = bytearray(content)
    if changed:
        changed[len(changed) // 2] ^= 4
    return bytes(changed)


def short_up(exchange: Exchange) -> None:
    """Let the server have half of the request's body, as a proxy that was stopped."""
    body = exchange.request.body
    headers = {**exchange.request.headers, "content-length": str(len(body) // 2)}
    exchange.send(
        exchange.forward(replace(exchange.request, body=body[: len(body) // 2], headers=headers))
    )


def twice(exchange: Exchange) -> None:
    """Let the server have the request twice, and pass on the second answer."""
    exchange.forward()
    exchange.send(exchange.forward())


def twice_first_answer(exchange: Exchange) -> None:
    """Let the server have the request twice, and pass on the first answer."""
    first = exchange.forward()
    exchange.forward()
    exchange.send(first)


def other_etag(exchange: Exchange) -> None:
    """Pass on another ETag than the server's."""
    answer = exchange.forward().without("ETag")
    headers = (*answer.headers, ("ETag", '"00000000000000000000000000000000"'))
    exchange.send(replace(answer, headers=headers))


def without(name: str) -> Action:
    """Leave out a header of the answer."""
    return lambda exchange: exchange.send(exchange.forward().without(name))


def without_metadata(exchange: Exchange) -> None:
    """Leave out checksums and metadata of the answer, as older servers."""
    answer = exchange.forward()
    kept = [
        entry
        for entry in answer.headers
        if not entry[0].lower().startswith(("x-amz-meta-", "x-amz-checksum-"))
    ]
    exchange.send(replace(answer, headers=tuple(kept)))


def whole_instead_of_range(exchange: Exchange) -> None:
    """Ignore the range that was asked for, as a cache may."""
    exchange.send(Answer(200, (), exchange.stored()))


def another_range(exchange: Exchange) -> None:
    """Answer with the bytes of the object's beginning, whatever range was asked for."""
    content = exchange.stored()
    begin, _, end = exchange.request.headers.get("range", "=0-0").partition("=")[2].partition("-")
    length = min(int(end) - int(begin) + 1, len(content))
    named = ("Content-Range", f"bytes 0-{length - 1}/{len(content)}")
    exchange.send(Answer(206, (named,), content[:length]))


def empty_listing(exchange: Exchange) -> None:
    """Answer a listing without any entry."""
    answer = exchange.forward()
    uploads = b"<ListMultipartUploadsResult" in answer.content
    tag = b"ListMultipartUploadsResult" if uploads else b"ListBucketResult"
    content = b"<%s><IsTruncated>false</IsTruncated></%s>" % (tag, tag)
    exchange.send(replace(answer, content=content))


def same_page_again(exchange: Exchange) -> None:
    """Say after each page that there is a next one, with the same entries."""
    answer = exchange.forward()
    content = answer.content.replace(
        b"<IsTruncated>false</IsTruncated>",
        b"<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>"
        b"<NextKeyMarker>again</NextKeyMarker><NextUploadIdMarker>again</NextUploadIdMarker>",
    )
    exchange.send(replace(answer, content=content))


class Stale:
    """Answers a GET with what it was when it was asked for first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._first: dict[str, Answer] = {}

    def __call__(self, exchange: Exchange) -> None:
        """Answer."""
        with self._lock:
            key = exchange.request.path + exchange.request.headers.get("range", "")
            if key not in self._first:
                self._first[key] = exchange.forward()
            exchange.send(self._first[key])
