"""Files of safetensors whose header lies, and files of other formats under its name."""

# A table reads better with one file a line.
# ruff: noqa: E501

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from chaos.hostile_files.honest import safetensors
from chaos.hostile_files.trial import Hostile

WEIGHT: dict[str, Any] = {"dtype": "F32", "shape": [2, 4], "data_offsets": [0, 32]}
BIAS: dict[str, Any] = {"dtype": "F32", "shape": [2], "data_offsets": [32, 40]}


def _file(
    weight: object = WEIGHT,
    bias: object = BIAS,
    data: int = 40,
    more: Mapping[str, object] = MappingProxyType({}),
) -> bytes:
    header = {"weight": weight, "bias": bias, **more}
    return safetensors(json.dumps(header).encode(), bytes(data))


def _offsets(begin: object, end: object, data: int = 40) -> bytes:
    return _file({**WEIGHT, "data_offsets": [begin, end]}, data=data)


def _shape(*shape: object) -> bytes:
    return _file({**WEIGHT, "shape": list(shape)})


def _many(count: int) -> bytes:
    entry = b'{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
    names = b",".join(b'"%d":%s' % (number, entry) for number in range(count))
    return safetensors(b"{" + names + b"}", b"")


def _npz() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        head = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
        archive.writestr("weight.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    return stream.getvalue()


_LONG = "x" * (1 << 20)
LIES: dict[str, bytes] = {
    "overlapping tensors": _offsets(16, 48, 48),
    "a hole between tensors": _file({**WEIGHT, "data_offsets": [0, 32]}, {**BIAS, "data_offsets": [40, 48]}, 48),
    "offsets beyond the end": _offsets(1 << 40, (1 << 40) + 32),
    "offsets at 2^63": _offsets((1 << 63) - 32, 1 << 63),
    "offsets at 2^64": _offsets((1 << 64) - 32, 1 << 64),
    "offsets of 100 digits": _offsets(0, 10**100),
    "negative offsets": _offsets(-32, 0),
    "end before begin": _offsets(32, 0),
    "offsets that are fractions": _offsets(0.5, 32.5),
    "offsets that are texts": _offsets("0", "32"),
    "offsets that are lists": _offsets([0], [32]),
    "offsets that are true": _offsets(False, True),
    "no offsets": _file({"dtype": "F32", "shape": [2, 4]}),
    "one offset": _file({**WEIGHT, "data_offsets": [32]}),
    "three offsets": _file({**WEIGHT, "data_offsets": [0, 32, 64]}),
    "offsets null": _file({**WEIGHT, "data_offsets": None}),
    "a shape of 2^62": _shape(1 << 62, 1 << 62),
    "a shape of 2^32 by 2^32": _shape(1 << 32, 1 << 32),
    "a negative shape": _shape(-2, -4),
    "a shape of fractions": _shape(2.5, 4),
    "a shape of texts": _shape("2", "4"),
    "a shape of a million dims": _file({**WEIGHT, "shape": [1] * 1_000_000}),
    "a shape of another size": _shape(3, 5),
    "no shape": _file({"dtype": "F32", "data_offsets": [0, 32]}),
    "a shape null": _file({**WEIGHT, "shape": None}),
    "an unknown dtype": _file({**WEIGHT, "dtype": "F33"}),
    "a dtype of 1 MiB": _file({**WEIGHT, "dtype": _LONG}),
    "a dtype null": _file({**WEIGHT, "dtype": None}),
    "a dtype of another size": _file({**WEIGHT, "dtype": "F64"}),
    "a dtype of half a byte": _file({**WEIGHT, "dtype": "F4"}),
    "a tensor that is a list": _file([1, 2, 3]),
    "a tensor that is a text": _file("weight"),
    "a tensor that is null": _file(None),
    "a tensor of more fields": _file({**WEIGHT, "more": [_LONG]}),
    "metadata of numbers": _file(more={"__metadata__": {"a": 1}}),
    "metadata that is a list": _file(more={"__metadata__": [1]}),
    "metadata of 8 MiB": _file(more={"__metadata__": {"a": _LONG * 8}}),
    "a name of 1 MiB": _file(more={_LONG: {**BIAS, "shape": [0], "data_offsets": [40, 40]}}),
    "a name with a NUL": _file(more={"a\0b": {**BIAS, "shape": [0], "data_offsets": [40, 40]}}),
    "a name with half of a surrogate": safetensors(b'{"\\ud800":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', bytes(4)),
    "the same name twice": safetensors(b'{"weight":%s,"weight":%s}' % (json.dumps(WEIGHT).encode(), json.dumps({**WEIGHT, "data_offsets": [32, 64]}).encode()), bytes(64)),
    "200,000 tensors": _many(200_000),
    "1,000,000 tensors": _many(1_000_000),
    "a header of no bytes": safetensors(b"", b""),
    "a header of 2^64 - 1 bytes": safetensors(b"{}", b"", (1 << 64) - 1),
    "a header of 2^63 bytes": safetensors(b"{}", b"", 1 << 63),
    "a header longer than the file": safetensors(b"{}", b"", 1000),
    "a header shorter than its text": safetensors(json.dumps({"weight": WEIGHT}).encode(), bytes(32), 10),
    "an empty header": safetensors(b"{}", b""),
    "an empty header and data": safetensors(b"{}", bytes(100)),
    "a header that is a list": safetensors(b"[1,2,3]", b""),
    "a header that is a number": safetensors(b"12345678", b""),
    "a header that is not UTF-8": safetensors(b'{"\xff\xfe":1}', b""),
    "a header in UTF-16": safetensors("{}".encode("utf-16"), b""),
    "a header of NaN": safetensors(b'{"weight":NaN}', b""),
    "a header nested 100,000 deep": safetensors(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b""),
    "lists nested 100,000 deep": safetensors(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", b""),
    "a million empty lists": safetensors(b'{"a":[' + b"[]," * 1_000_000 + b"[]]}", b""),
    "a number of 1,000,000 digits": safetensors(b'{"a":' + b"9" * 1_000_000 + b"}", b""),
    "text behind the header": safetensors(b'{"weight":{}} more', b""),
    "bytes behind the data": _file(data=41),
    "a byte too few": _file(data=39),
    "eight bytes": bytes(8),
    "seven bytes": b"\x10" * 7,
    "nothing": b"",
    "GGUF": b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1 << 60),
    "npz of objects": _npz(),
    "npy of objects": b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '|O'}",
    "gzip": gzip.compress(_file()),
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(100),
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "a page of HTML": b"<!DOCTYPE html><title>Sign in</title>",
    "an XML bomb": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "a"><!ENTITY b "&a;&a;">]><a>&b;</a>',
    "an ELF program": b"\x7fELF" + bytes(100),
    "a script": b"#!/bin/sh\ntouch /dev/shm/canary\n",
}  # fmt: skip

HARMLESS = frozenset(("a tensor of more fields", "metadata of 8 MiB"))


def hostile() -> Iterator[Hostile]:
    """Yield the files."""
    for name, content in LIES.items():

        def make(directory: Path, _canary: Path, content: bytes = content) -> Path:
            path = directory / "model.safetensors"
            path.write_bytes(content)
            return path

        yield Hostile("tensors", name, make, may_succeed=name in HARMLESS)
