"""Which programs are computed with pairs, and which are left as they are."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from modelexport_exporter.decompositions.complex.programs import complex_as_pairs
from modelexport_exporter.torch_internals.export_flags import set_onnx_export_flags

X = torch.randn(3, 4)


class Filter(torch.nn.Module):
    """Weighs frequencies, through operators of complex tensors that consist of others."""

    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.fft.rfft(x)
        weighed = torch.einsum("bi,ij->bj", spectrum, 1j * torch.ones(3, 3))
        weighed[:, :1] = 2 * spectrum[:, None, 1].real.to(torch.complex64)
        result: Tensor = torch.fft.irfft(weighed, n=4)
        return result


class Real(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.stft(x, 4, return_complex=True).abs() + x.sum()


def operators(program: torch.export.ExportedProgram) -> set[str]:
    return {str(node.target) for node in program.graph.nodes if node.op == "call_function"}


def test_a_program_computes_with_pairs_what_it_computed() -> None:
    program = torch.export.export(Filter(), (X,))
    rewritten = complex_as_pairs(program, ())
    assert operators(program) & {"aten.einsum.default", "aten.unsqueeze.default"}
    assert "aten.einsum.default" not in operators(rewritten)
    torch.testing.assert_close(rewritten.module()(X), Filter()(X))


def test_what_torch_onnx_translates_itself_is_left() -> None:
    program = torch.export.export(Real(), (X,))
    assert complex_as_pairs(program, ()) is program


@pytest.mark.parametrize("disabled", ["*", "aten::select"])
def test_a_disabled_operator_is_left(disabled: str) -> None:
    class Chosen(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.view_as_real(torch.fft.rfft(x).select(1, 1))

    program = torch.export.export(Chosen(), (X,))
    assert complex_as_pairs(program, [disabled]) is program
    assert complex_as_pairs(program, ()) is not program


def test_a_number_made_of_sizes_stays_symbolic() -> None:
    class Mean(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            mean: Tensor = torch.fft.fft(x) / x.shape[-1]
            return mean.abs()

    dims = ({1: torch.export.Dim("t", min=2, max=64)},)
    program = torch.export.export(Mean(), (X,), dynamic_shapes=dims)
    rewritten = complex_as_pairs(program, ())
    longer = torch.randn(3, 9)
    torch.testing.assert_close(rewritten.module()(longer), Mean()(longer))


@torch.no_grad()
def test_a_recurrent_layer_beside_them_keeps_its_length_open() -> None:
    class Voice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.GRU(4, 3, batch_first=True)

        def forward(self, x: Tensor) -> Tensor:
            states: Tensor = self.layer(x)[0]
            return torch.cat([states, torch.fft.ifft(1j * torch.fft.fft(x)).real], -1)

    frames, longer = torch.randn(2, 5, 4), torch.randn(2, 9, 4)
    model = Voice().eval()
    with set_onnx_export_flags(dynamic=True):
        # After some other tests torch excludes one length (7) from t: AUTO permits that.
        sizes = ({1: torch.export.Dim.AUTO},)
        program = torch.export.export(model, (frames,), dynamic_shapes=sizes)
    rewritten = complex_as_pairs(program, ())
    assert rewritten is not program
    torch.testing.assert_close(rewritten.module()(longer), model(longer))
