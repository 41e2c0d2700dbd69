"""Zip archives: names that lead elsewhere, bombs, lies of the directory, and code in the archives
of TorchScript and torch.export; checkpoints that are links or odd directories."""

# A table reads better with one file a line.
# ruff: noqa: E501

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from chaos.hostile_files.pickles import PROTO, call, in_state, text
from chaos.hostile_files.trial import Hostile

Make = Callable[[Path, Path], Path]
STATE = in_state(b"N").replace(b"{view}", b"")
_ZEROS = bytes(1 << 20)


def _archive(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def _torch(**more: bytes) -> dict[str, bytes]:
    return {
        "model/data.pkl": STATE,
        "model/data/0": struct.pack("<8f", *range(8)),
        "model/version": b"3\n",
        **{name.replace("__", "/"): content for name, content in more.items()},
    }


def _named(name: str) -> Make:
    return lambda directory, _: _archive(
        directory / "model.pt", {**_torch(), name: b"evil", f"model/{name}": b"evil"}
    )


def _bomb(method: int, mebibytes: int, record: str = "model/data/0") -> Make:
    def make(directory: Path, _canary: Path) -> Path:
        path = _archive(directory / "model.pt", _torch())
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("model/data.pkl", STATE)
            with archive.open(record, "w", force_zip64=True) as member:
                for _ in range(mebibytes):
                    member.write(_ZEROS)
        return path

    return make


def _patched(old: bytes, new: bytes, at: int = 0, size: int = 0) -> Make:
    """Change bytes after each signature: `at` bytes after it, `size` of them."""

    def make(directory: Path, _canary: Path) -> Path:
        path = _archive(directory / "model.pt", _torch())
        content = bytearray(path.read_bytes())
        place = content.find(old)
        while place >= 0:
            content[place + at : place + at + size] = new
            place = content.find(old, place + len(old))
        path.write_bytes(content)
        return path

    return make


_LOCAL, _CENTRAL, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def _overlapping(directory: Path, _canary: Path) -> Path:
    """Let all members of the directory be the same bytes."""
    path = _archive(directory / "model.pt", _torch(model__big=bytes(1 << 20)))
    content = path.read_bytes()
    end = content.rfind(_END)
    begin = struct.unpack_from("<I", content, end + 16)[0]
    central = content[begin:end] * 500
    record = bytearray(content[end : end + 22])
    struct.pack_into("<HHII", record, 8, 0xFFFE, 0xFFFE, len(central), begin)
    path.write_bytes(content[:begin] + central + bytes(record))
    return path


def _script(code: str, constants: bytes = PROTO + b").", **more: bytes) -> Make:
    def make(directory: Path, canary: Path) -> Path:
        members = {
            "model/data.pkl": PROTO + b"c__torch__\nM\n)\x81}b.",
            "model/constants.pkl": constants,
            "model/code/__torch__.py": code.replace("CANARY", str(canary)).encode(),
            "model/version": b"3\n",
            "model/byteorder": b"little",
            **{name.replace("__", "/"): content for name, content in more.items()},
        }
        return _archive(directory / "model.pt", members)

    return make


_HEAD = "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
_FORWARD = _HEAD + "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n"


def _program(graph: object, **more: bytes) -> Make:
    def make(directory: Path, canary: Path) -> Path:
        document = json.dumps(graph).replace("CANARY", str(canary)).encode()
        members = {
            "model/archive_format": b"pt2",
            "model/archive_version": b"0",
            "model/byteorder": b"little",
            "model/models/model.json": document,
            "model/data/weights/model_weights_config.json": b'{"config": {}}',
            "model/data/constants/model_constants_config.json": b'{"config": {}}',
            **{name.replace("__", "/"): content for name, content in more.items()},
        }
        return _archive(directory / "model.pt2", members)

    return make


def _node(target: str) -> dict[str, object]:
    return {"graph_module": {"graph": {"nodes": [{"target": target, "inputs": [], "outputs": []}]}}}


def _expression(value: str) -> dict[str, object]:
    return {"range_constraints": {}, "expr_str": value, "guards_code": [value]}


def _pickled_member(canary: Path) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x/data.pkl", PROTO + call("os.system", text(f"touch {canary}")) + b".")
        archive.writestr("x/version", "3\n")
    return stream.getvalue()


def _program_with_inputs(directory: Path, canary: Path) -> Path:
    make = _program(_node("torch.ops.aten.relu.default"), model__data__sample_inputs__model_pt=b"")
    path = make(directory, canary)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model/data/sample_inputs/model.pt", _pickled_member(canary))
    return path


def _link(target: str) -> Make:
    def make(directory: Path, _canary: Path) -> Path:
        path = directory / "model.pt"
        path.symlink_to(target)
        return path

    return make


def _pipe(directory: Path, _canary: Path) -> Path:
    path = directory / "model.pt"
    os.mkfifo(path)
    return path


def _directory(members: dict[str, bytes], links: dict[str, str] | None = None) -> Make:
    def make(directory: Path, _canary: Path) -> Path:
        root = directory / "model"
        root.mkdir()
        for name, content in members.items():
            (root / name).write_bytes(content)
        for name, target in (links or {}).items():
            (root / name).symlink_to(target)
        return root

    return make


def _index(files: object) -> bytes:
    return json.dumps({"weight_map": files}).encode()


def _many_names(directory: Path, canary: Path) -> Path:
    names = {str(n): "a.safetensors" for n in range(3_000_000)}
    return _directory({_INDEX: _index(names)})(directory, canary)


_EVIL = "__import__('os').system('touch CANARY')"
_INDEX = "model.safetensors.index.json"
MAKERS: dict[str, Make] = {
    **{
        f"a member named {name!r}"[:60]: _named(name)
        for name in (
            "../../evil", "/tmp/evil", "/etc/cron.d/evil", "..\\evil", "C:\\evil", "a/../../../evil",
            "evil\0.txt", "x" * 60_000, "\u202e", "data.pkl/", ".", "//", "CON", "~/.bashrc",
        )
    },
    "a bomb, deflated": _bomb(zipfile.ZIP_DEFLATED, 300),
    "a bomb, bzip2": _bomb(zipfile.ZIP_BZIP2, 300),
    "a bomb, lzma": _bomb(zipfile.ZIP_LZMA, 300),
    "a bomb in the pickle's place": _bomb(zipfile.ZIP_DEFLATED, 300, "x/data.pkl"),
    "members that overlap": _overlapping,
    "an unknown compression": _patched(_CENTRAL, b"\x63\x00", 10, 2),
    "an unknown compression, in both places": lambda d, c: _both(d, c, 8, 10, b"\x63\x00"),
    "encrypted members": lambda d, c: _both(d, c, 6, 8, b"\x01\x00"),
    "a strange version": _patched(_CENTRAL, b"\xff\xff", 6, 2),
    "a size of 2^32 - 1": _patched(_CENTRAL, b"\xff" * 8, 20, 8),
    "an offset of 2^32 - 2": _patched(_CENTRAL, b"\xfe\xff\xff\xff", 42, 4),
    "a name of 65,535 bytes": _patched(_CENTRAL, b"\xff\xff", 28, 2),
    "an extra field of 65,535 bytes": _patched(_CENTRAL, b"\xff\xff", 30, 2),
    "a directory of 2^32 - 2 bytes": _patched(_END, b"\xfe\xff\xff\xff", 12, 4),
    "a directory beyond the end": _patched(_END, b"\xfe\xff\xff\xff", 16, 4),
    "65,534 entries": _patched(_END, b"\xfe\xff\xfe\xff", 8, 4),
    "other local headers": _patched(_LOCAL, b"\xff" * 4, 14, 4),
    "no end": _patched(_END, b"XXXX", 0, 4),
    "no data.pkl": lambda d, _: _archive(d / "model.pt", {"model/version": b"3"}),
    "two data.pkl": lambda d, _: _archive(d / "model.pt", {**_torch(), "other/data.pkl": STATE}),
    "data.pkl without bytes": lambda d, _: _archive(d / "model.pt", _torch(model__data_pkl=b"") | {"model/data.pkl": b""}),
    "another byteorder": lambda d, _: _archive(d / "model.pt", _torch(model__byteorder=b"huge")),
    "another version": lambda d, _: _archive(d / "model.pt", _torch() | {"model/version": b"9" * 5000}),
    "a jar": lambda d, _: _archive(d / "model.pt", {"META-INF/MANIFEST.MF": b"x"}),
    "a wheel": lambda d, _: _archive(d / "model.pt", {"evil/__init__.py": b"import os"}),
    "TorchScript: no code": _script(""),
    "TorchScript: Python": _script(f"import os\nos.system('touch CANARY')\n{_FORWARD}    return x\n"),
    "TorchScript: eval": _script(f"{_FORWARD}    return {_EVIL}\n"),
    "TorchScript: aten::save": _script(f"{_FORWARD}    torch.save(x, 'CANARY')\n    return x\n"),
    "TorchScript: from_file": _script(f"{_FORWARD}    return torch.from_file('CANARY', True, 8)\n"),
    "TorchScript: __setstate__": _script(f"{_HEAD}  def __setstate__(self: __torch__.M, s: Tensor) -> None:\n    y = torch.from_file('CANARY', True, 8)\n    return None\n"),
    "TorchScript: __setstate__ without end": _script(f"{_HEAD}  def __setstate__(self: __torch__.M, s: int) -> None:\n    n = 0\n    while True:\n      n = n + 1\n    return None\n"),
    "TorchScript: a class of another module": _script(f"{_FORWARD}    return __torch__.os.system('x')\n"),
    "TorchScript: deep expressions": _script(f"{_FORWARD}    return {'(' * 20000}x{')' * 20000}\n"),
    "TorchScript: deep blocks": _script(_FORWARD + "".join(f"{'  ' * (n + 2)}if True:\n" for n in range(400)) + "  " * 402 + "pass\n    return x\n"),
    "TorchScript: constants that call": _script(f"{_FORWARD}    return x\n", PROTO + call("os.system", text("touch CANARY")) + b"."),
    "TorchScript: constants without end": _script(f"{_FORWARD}    return x\n", PROTO + b"]" * 100),
    "TorchScript: version 10^9": lambda d, c: _archive(d / "model.pt", {**dict.fromkeys(("model/constants.pkl", "model/data.pkl"), PROTO + b")."), "model/code/__torch__.py": b"", "model/version": b"1000000000\n"}),
    "TorchScript: 1 MB of version": lambda d, c: _archive(d / "model.pt", {**dict.fromkeys(("model/constants.pkl", "model/data.pkl"), PROTO + b")."), "model/code/__torch__.py": b"", "model/version": b"9" * 1_000_000}),
    "ExportedProgram: a call of os.system": _program(_node("os.system")),
    "ExportedProgram: torch.load as target": _program(_node("torch.load")),
    "ExportedProgram: torch.hub.load": _program(_node("torch.hub.load")),
    "ExportedProgram: torch.ops with more dots": _program(_node("torch.ops.aten.__class__.__base__.x.y")),
    "ExportedProgram: operator.methodcaller": _program(_node("_operator.methodcaller")),
    "ExportedProgram: an expression that calls": _program(_expression(_EVIL)),
    "ExportedProgram: an expression of attributes": _program(_expression("Integer.__class__.__base__.__subclasses__()")),
    "ExportedProgram: a lambda": _program(_expression("(lambda: 1)()")),
    "ExportedProgram: 9**9**9": _program(_expression("9**9**9**9")),
    "ExportedProgram: Pow of Pow": _program(_expression("Pow(9, Pow(9, Pow(9, 9)))")),
    "ExportedProgram: a comprehension": _program(_expression("[x for x in ().__class__.__mro__]")),
    "ExportedProgram: a name that is code": _program({"name": "x); import os; (", "target": "torch.ops.aten.relu.default"}),
    "ExportedProgram: no graph": _program({}),
    "ExportedProgram: a list": _program([1, 2]),
    "ExportedProgram: deep JSON": lambda d, c: _archive(d / "model.pt2", {"model/archive_format": b"pt2", "model/models/model.json": b"[" * 200_000 + b"]" * 200_000}),
    "ExportedProgram: no JSON": lambda d, c: _archive(d / "model.pt2", {"model/archive_format": b"pt2", "model/models/model.json": b"\xff\xfe"}),
    "ExportedProgram: AOTInductor": _program(_node("torch.ops.aten.relu.default"), model__data__aotinductor__model__x_so=b"\x7fELF"),
    "ExportedProgram: opaque objects": _program(_node("torch.ops.aten.relu.default"), model__data__constants__opaque_obj_0=b"x"),
    "ExportedProgram: inputs that run code": _program_with_inputs,
    "a link to /etc/passwd": _link("/etc/passwd"),
    "a link to /dev/zero": _link("/dev/zero"),
    "a link to /dev/stdin": _link("/dev/stdin"),
    "a link to itself": _link("model.pt"),
    "a link to nothing": _link("gone"),
    "a link to a directory": _link("/etc"),
    "a named pipe": _pipe,
    "an empty directory": _directory({}),
    "an index that leads out": _directory({_INDEX: _index({"weight": "../../etc/passwd.safetensors"})}),
    "an index with an absolute name": _directory({_INDEX: _index({"weight": "/etc/passwd.bin"})}),
    "an index of itself": _directory({_INDEX: _index({"weight": _INDEX})}),
    "an index of a missing shard": _directory({_INDEX: _index({"weight": "gone.safetensors"})}),
    "an index of a list": _directory({_INDEX: _index(["x"])}),
    "an index of numbers": _directory({_INDEX: _index({"weight": 1})}),
    "an index nested deep": _directory({_INDEX: b'{"weight_map":' + b"[" * 100_000}),
    "an index of 3 million names": _many_names,
    "a shard that is a link": _directory({_INDEX: _index({"weight": "a.safetensors"})}, {"a.safetensors": "/etc/shadow"}),
    "a config that names code": _directory({"config.json": json.dumps({"model_type": "bert", "auto_map": {"AutoModel": "evil--evil.Evil"}, "architectures": ["Evil"]}).encode(), "model.safetensors": b""}),
    "a config that is no JSON": _directory({"config.json": b"\xff", "model.safetensors": b""}),
    ".metadata that runs code": _directory({".metadata": PROTO + call("os.system", text("true")) + b".", "__0_0.distcp": b""}),
    ".metadata cut off": _directory({".metadata": PROTO + b"}", "__0_0.distcp": b""}),
}  # fmt: skip


def _both(directory: Path, canary: Path, local: int, central: int, value: bytes) -> Path:
    """Change a field in the local headers and in the directory."""
    path = _patched(_CENTRAL, value, central, len(value))(directory, canary)
    content = bytearray(path.read_bytes())
    place = content.find(_LOCAL)
    while place >= 0:
        content[place + local : place + local + len(value)] = value
        place = content.find(_LOCAL, place + 4)
    path.write_bytes(content)
    return path


MAY_SUCCEED = ("a member named", "a strange version", "another byteorder", "other local")
"""Members that nobody asks for are not read."""


def hostile() -> Iterator[Hostile]:
    """Yield the archives and directories."""
    for name, make in MAKERS.items():
        yield Hostile("archives", name, make, may_succeed=name.startswith(MAY_SUCCEED))
