"""Random numbers and clocks in forward: the file has one draw, or one time, as a constant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind

_TORCH = {
    f"torch.{name}"
    for name in (
        "rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm",
        "bernoulli", "multinomial", "normal", "poisson",
    )
}  # fmt: skip
_CLOCKS = (
    "time.time", "time.perf_counter", "time.monotonic", "time.process_time", "datetime.",
    "os.urandom", "os.getpid", "uuid.uuid", "secrets.",
)  # fmt: skip
_METHODS = {"normal_", "uniform_", "random_", "bernoulli_", "exponential_", "bernoulli"}
_DROPOUTS = {"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_dropout"}


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield calls that draw random numbers, also in eval mode, or read a clock."""
    for call in code.walk(ast.Call):
        name = code.dotted(call.func)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        on_tensor = method in _METHODS and code.names.kind_of(call.func.value) is Kind.TENSOR
        if on_tensor or name in _TORCH or name.startswith(("numpy.random.", "random.")):
            yield _drawn(code, call)
        elif name.startswith(_CLOCKS):
            yield _read(code, call)
        elif _is_dropout(name) and not _follows_mode(call):
            yield Pitfall(
                PitfallKind.RANDOM,
                f"`{code.text(call)}` drops values in eval mode too",
                code.place(call),
                "Pass training=self.training, or use nn.Dropout.",
            )


def _is_dropout(name: str) -> bool:
    return name.rpartition(".")[2] in _DROPOUTS and "torch" in name


def _follows_mode(call: ast.Call) -> bool:
    """Return whether dropout is off when the model is in eval mode."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "training"]
    third = 2
    given += call.args[third : third + 1]
    return bool(given) and not (isinstance(given[0], ast.Constant) and given[0].value is True)


def _drawn(code: ForwardCode, call: ast.Call) -> Pitfall:
    return Pitfall(
        PitfallKind.RANDOM,
        f"`{code.text(call)}` draws random numbers in forward: no two runs agree, and a trace "
        "keeps what it drew",
        code.place(call),
        "Take the noise as an input of forward, or make it once in __init__ with register_buffer.",
    )


def _read(code: ForwardCode, call: ast.Call) -> Pitfall:
    return Pitfall(
        PitfallKind.RANDOM,
        f"`{code.text(call)}` returns another value in each call: the file keeps one of them",
        code.place(call),
        "Take the value as an input of forward.",
    )
