"""Mutations of the text: what a tree cannot say, such as tags and broken bytes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

TextMutation = Callable[[Random, bytes], bytes]
_TAGS = (
    b"!!python/object/apply:os.system [id]", b"!!python/name:os.system", b"!!python/object:x.Y {}",
    b"!!binary AAAA", b"!!set {a, b}", b"!!omap [a: 1]", b"!!str 5", b"!!int '5'", b"!!float '1.5'",
    b"!!bool 'yes'", b"!!null ''", b"!!timestamp 2026-05-01", b"!own {a: 1}", b"!!merge '<<'",
    b"!!int 'x'", b"!!float x", b"!!seq {a: 1}", b"!!map [a]",
)  # fmt: skip
_PLAIN = (
    b"010", b"0o17", b"0x1F", b"0b11", b"1_000", b"1:30", b"190:20:30", b"yes", b"no", b"on", b"y",
    b"n", b"~", b"2026-05-01", b"1e5", b"1e-5", b"+1", b".5", b"5.", b".inf", b"-.INF", b".NaN",
    b"9" * 5000, b"1e999", b"0b2", b"08", b"- - - 1", b"? a", b"[1, 2", b"{a: 1", b"'x", b'"x',
    b'"\\x"', b'"\\u12"', b'"\\ud800"', b"*x", b"&a [*a]", b"&a {b: *a}", b"%x", b"@x", b"`x`",
    b"|", b">-",
    b"a: b: c", b"<<", b"=", b"!!", b"&", b"#", b"--- x", b"[" * 50, b"[" * 3000, b"{a: " * 3000,
)  # fmt: skip


_BROKEN = (
    b"\x00", b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\x1b[2J", b"\xef\xbb\xbf", b"\t", b"\r",
    b"\x85", b"\xe2\x80\xa8", b"\x7f",
)  # fmt: skip


def _bomb(draw: Random, data: bytes) -> bytes:
    width, levels = draw.choice([(9, 9), (2, 30), (50, 3), (10, 6)])
    lines = [b"x0: &x0 [" + b",".join([b"lol"] * width) + b"]"]
    lines += [
        b"x%d: &x%d [" % (n, n) + b",".join([b"*x%d" % (n - 1)] * width) + b"]"
        for n in range(1, levels)
    ]
    return b"\n".join([*lines, data])


def _self_reference(draw: Random, data: bytes) -> bytes:
    return data + draw.choice([b"\nx: &x [*x]\n", b"\nx: &x {y: *x}\n", b"\nx: &x\n  - {<<: *x}\n"])


def _merge(draw: Random, data: bytes) -> bytes:
    return (
        b"base: &base {a: 1}\n"
        + data
        + draw.choice([b"\n<<: *base\n", b"\n<<: [*base, 5]\n", b"\n<<: x\n"])
    )


def _twice(draw: Random, data: bytes) -> bytes:
    """A line twice: a key that occurs twice, where it is one."""
    lines = data.splitlines()
    at = draw.randrange(len(lines))
    return b"\n".join([*lines[: at + 1], lines[at], *lines[at + 1 :]]) + b"\n"


def _value(values: tuple[bytes, ...]) -> TextMutation:
    def mutate(draw: Random, data: bytes) -> bytes:
        lines = data.splitlines()
        keyed = [number for number, line in enumerate(lines) if b": " in line]
        if not keyed:
            return data + draw.choice(values)
        at = draw.choice(keyed)
        lines[at] = lines[at].partition(b": ")[0] + b": " + draw.choice(values)
        return b"\n".join(lines) + b"\n"

    return mutate


def _cut(draw: Random, data: bytes) -> bytes:
    return data[: draw.randrange(len(data))]


def _bytes(draw: Random, data: bytes) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice(_BROKEN) + data[at:]


def _encoded(draw: Random, data: bytes) -> bytes:
    text = data.decode("utf-8", errors="replace")
    return text.encode(draw.choice(["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7"]))


def _documents(draw: Random, data: bytes) -> bytes:
    before = (b"---\n", b"%YAML 1.1\n---\n", b"%FOO\n---\n", b"# only a comment\n")
    after = (b"---\n", b"---\n" + data, b"...\n", data, b"\n\n")
    as_entry = b"- " + data.replace(b"\n", b"\n  ")
    others = (
        as_entry,
        b"",
        b"\n\n",
        b"x",
        data.replace(b"\n", b"\r\n"),
        data.replace(b"  ", b"\t"),
    )
    return draw.choice(
        [*(text + data for text in before), *(data + text for text in after), *others]
    )


def _swollen(draw: Random, data: bytes) -> bytes:
    return draw.choice(
        [data + b"#" + b"x" * 2_000_000, data + b"x: " + b"y" * 3_200_000, data + b"\n" * 500_000,
         b"x: [" + b"1," * 200_000 + b"1]\n" + data, b" " * 100_000 + data]
    )  # fmt: skip


TEXT_KINDS: Mapping[str, TextMutation] = {
    "aliases that multiply": _bomb,
    "an alias of itself": _self_reference,
    "a merge key": _merge,
    "a line twice": _twice,
    "a tag": _value(_TAGS),
    "another scalar": _value(_PLAIN),
    "cut off": _cut,
    "bytes": _bytes,
    "another encoding": _encoded,
    "other documents": _documents,
    "a swollen file": _swollen,
}
