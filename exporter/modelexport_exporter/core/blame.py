"""The result of the search for the node to blame: plain values, without torch."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Base64Bytes

REPRO_NAME = "repro"
"""The directory next to the report of a failure."""
REPRO_NAMES = ("model.onnx", "inputs.npz", "expected.npz", "repro.py")
REPRO_FILES = tuple(f"{REPRO_NAME}/{name}" for name in REPRO_NAMES)


@dataclass(frozen=True)
class ReproFile:
    """A file of the repro."""

    name: str
    content: Base64Bytes


@dataclass(frozen=True)
class Blame:
    """The first node of the file that differs from eager PyTorch.

    If no node could be named, only `why_not` is set.
    """

    node: str = ""
    op: str = ""
    """The node's operator, `Conv` or `domain::Op`."""
    aten: str = ""
    """The corresponding ATen op, `aten.convolution.default`."""
    plugin: str = ""
    """The user's plugin that translated the op; empty if torch.onnx or this exporter did."""
    module: str = ""
    """The path of the nn.Module; empty for the root module."""
    source: str = ""
    """`file.py:17` in the user's code, or in the library that the model comes from."""
    error_before: float | None = None
    """The largest error of the node's inputs, relative to the peak of eager's values."""
    error_after: float | None = None
    """The relative error of its output; None if nothing in eager corresponds to it."""
    proven: bool = False
    """Whether the rest of the file matches with eager's value in place of the node's."""
    among: tuple[str, ...] = ()
    """All candidate nodes in the file's order, if the search ended at several."""
    optimization: str = ""
    """The level of onnxruntime's graph optimizations that causes the difference; else empty."""
    repro: tuple[ReproFile, ...] = ()
    no_repro: str = ""
    """Why there is no repro."""
    why_not: str = ""

    @property
    def is_of_a_plugin(self) -> bool:
        """Return whether the translation of a plugin is proven wrong, which no rung can avoid."""
        return bool(self.plugin) and self.proven

    def sentence(self) -> str:
        """Return the part of a failure's message after "It"; empty if nothing was found."""
        only = f"only after onnxruntime's {self.optimization} graph optimizations"
        if not self.node:
            return f"differs {only}" if self.optimization else ""
        words = f"first differs at node {self.op} ({self.node})"
        if self.aten:
            words += f", {self.aten}"
        if self.plugin:
            words += f", which the plugin {self.plugin} translates"
        if self.module:
            words += f"{',' * bool(self.plugin)} in {self.module}"
        if self.source:
            words += f", {self.source}"
        if self.error_after is not None:
            before = f"{self.error_before:.1g} before, " if self.error_before is not None else ""
            words += f": relative error {before}{self.error_after:.2g} after"
        if len(self.among) > 1:
            words += f" (one of {len(self.among)} nodes that eager computes in one op)"
        if self.optimization:
            words += f"; {only}"
        return words
