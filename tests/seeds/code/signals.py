"""Signals as users treat them: peaks, slopes, transforms, frames."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class SamplesOf16Bits(nn.Module):
    """Peak, clipped samples and loudness of two channels of PCM."""

    def forward(self, pcm: Tensor) -> tuple[Tensor, ...]:
        wide = pcm.float() / 32768
        clipped = ((pcm == 32767) | (pcm == -32768)).sum(1)
        louder = torch.maximum(pcm[:, 0], pcm[:, 1])
        return pcm.amax(2), pcm.argmin(2), clipped, louder, wide.square().mean((1, 2)).sqrt()


class Deltas(nn.Module):
    """The slope of each signal by a convolution with a group for each, as torchaudio does."""

    def forward(self, x: Tensor) -> Tensor:
        b, c, t = x.shape
        signals = F.pad(x.reshape(1, -1, t), (2, 2), mode="replicate")
        kernel = torch.arange(-2.0, 3.0).repeat(b * c, 1, 1)
        return (F.conv1d(signals, kernel, groups=b * c) / 10).view(b, c, t)


class FastConvolution(nn.Module):
    """A long kernel by transforms of the next power of two, found in two ways."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(9))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        n = x.shape[-1]
        length = 2 ** math.ceil(math.log2(n + 8))
        spectrum = torch.fft.rfft(x, n=length) * torch.fft.rfft(self.kernel, n=length)
        y = torch.fft.irfft(spectrum, n=length)[..., :n]
        padded = F.pad(x, (0, (1 << (n - 1).bit_length()) - n))
        smooth = torch.fft.irfft(torch.fft.rfft(x) / (1 + torch.arange(n // 2 + 1)), n=n)
        return y, padded, smooth, torch.fft.fft(x).abs() + int(math.log2(n))


class Framed(nn.Module):
    """A Hamming window over frames, and products of all pairs of bands."""

    def forward(self, x: Tensor) -> Tensor:
        frames = F.pad(x, (0, 16)).unfold(-1, 16, 8) * torch.hamming_window(16)
        bands = torch.fft.rfft(frames).abs()[..., :5].mean((0, 1))
        return torch.combinations(bands, 2).prod(1) + torch.vander(bands[:3], 3).sum()


class FilteredField(nn.Module):
    """A layer of a Fourier neural operator: weights for the lowest waves of a field of any size."""

    def __init__(self) -> None:
        super().__init__()
        self.low = nn.Parameter(torch.randn(2, 2, 3, 3, 2) * 0.3)
        self.high = nn.Parameter(torch.randn(2, 2, 3, 3, 2) * 0.3)

    def forward(self, x: Tensor) -> Tensor:
        waves = torch.fft.rfft2(x, norm="ortho")
        kept = torch.zeros_like(waves)
        low, high = torch.view_as_complex(self.low), torch.view_as_complex(self.high)
        kept[..., :3, :3] = torch.einsum("nihw,iohw->nohw", waves[..., :3, :3], low)
        kept[..., -3:, :3] = torch.einsum("nihw,iohw->nohw", waves[..., -3:, :3], high)
        return torch.fft.irfft2(kept, s=x.shape[-2:], norm="ortho")


class Denoised(nn.Module):
    """Spectra of 30 samples, no power of two; a signal restored from its frames to its length."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))

    def forward(self, x: Tensor, heads: Tensor) -> tuple[Tensor, ...]:
        options = {"n_fft": 16, "hop_length": 6, "window": self.window}
        frames = torch.stft(x, return_complex=True, **options)
        kept = frames * torch.sigmoid(frames.abs() - frames.abs().mean((1, 2), keepdim=True))
        spectrum = torch.fft.rfft(heads)
        return (
            torch.istft(kept, length=x.shape[-1], **options),
            torch.fft.irfft(spectrum * 0.5, n=30),
            torch.fft.fft2(heads).abs(),
        )


class Streamed(nn.Module):
    """A convolution of an audio codec: padded so that its last window is full, mirrored at ends.

    What is shorter than the mirror is filled with zeros first, and cut again.
    """

    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Conv1d(1, 4, 8, stride=4)

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[-1]
        windows = math.ceil((n - 8 + 4) / 4 + 1)
        missing = (windows - 1) * 4 + 4 - n
        short = 0
        if n <= max(4, missing):
            short = max(4, missing) - n + 1
            x = F.pad(x, (0, short))
        padded = F.pad(x, (4, missing), mode="reflect")
        return F.elu(self.filter(padded[..., : padded.shape[-1] - short]))


class Resampled(nn.Module):
    """The next length that all layers accept, found as Demucs does, at twice the rate."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv1d(1, 4, 8, 4)
        self.up = nn.ConvTranspose1d(4, 1, 8, 4)

    def accepted(self, length: int) -> int:
        length = math.ceil(length * 2)
        windows = max(math.ceil((length - 8) / 4) + 1, 1)
        return math.ceil(((windows - 1) * 4 + 8) / 2)

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[-1]
        x = F.pad(x, (0, self.accepted(n) - n))
        x = F.interpolate(x, scale_factor=2, mode="linear")
        return self.up(F.relu(self.down(x)))[..., ::2][..., :n]


class FewKeys(nn.Module):
    """Attention to as many keys as the logarithm of their number, scaled by it, as Informer has."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        n = x.shape[1]
        scores = x @ x.transpose(1, 2) * (math.log(n, 16) / 2)
        count = int(2 * math.log1p(n))
        top = scores.amax(1).topk(min(count, n), -1).values
        kept = np.ceil(np.log(n)).astype("int").item()
        return top.softmax(-1), x[:, : kept + 1].mean(1), scores / (1 + math.log(n))
