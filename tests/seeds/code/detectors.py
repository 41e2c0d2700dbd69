"""Models of vision and of microphones: scales made of sizes, learned offsets, beams."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchvision.ops import deform_conv2d


class SampledLevels(nn.Module):
    """Reads two levels of features at learned places, as Deformable DETR does."""

    def __init__(self) -> None:
        super().__init__()
        self.large = nn.Conv2d(3, 4, 3, 2, 1)
        self.small = nn.Conv2d(4, 4, 3, 2, 1)
        self.offsets, self.weights = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        first = self.large(x)
        levels = [first, self.small(F.relu(first))]
        shapes = [(level.shape[2], level.shape[3]) for level in levels]
        spatial_shapes = torch.as_tensor(shapes, dtype=torch.long, device=x.device)
        flat = torch.cat([level.flatten(2).transpose(1, 2) for level in levels], 1)
        shares = flat.new_tensor([height * width for height, width in shapes]) / flat.shape[1]
        scale = torch.stack([spatial_shapes[:, 1], spatial_shapes[:, 0]], -1)
        places = self.offsets(flat).tanh().view(*flat.shape[:2], 2, 2) / scale
        weights = self.weights(flat).softmax(-1) * shares
        pieces = flat.split([height * width for height, width in shapes], 1)
        total = torch.zeros_like(flat)
        for level, (height, width) in enumerate(shapes):
            picture = pieces[level].transpose(1, 2).reshape(-1, 4, height, width)
            read = F.grid_sample(picture, places[:, :, None, level], align_corners=False)
            total = total + read[..., 0].transpose(1, 2) * weights[..., level, None]
        return total


class DeformableConvolution(nn.Module):
    """Learns where its kernel looks: torchvision's own kernel, which no number but NaN disturbs."""

    def __init__(self) -> None:
        super().__init__()
        self.offsets = nn.Conv2d(4, 27, 3, padding=1)
        self.weight = nn.Parameter(torch.randn(5, 4, 3, 3) / 6)

    def forward(self, x: Tensor) -> Tensor:
        rows, columns, mask = self.offsets(x).chunk(3, 1)
        offsets = torch.cat([rows, columns], 1).clamp(-3, 3)
        return deform_conv2d(x, offsets, self.weight, padding=(1, 1), mask=mask.sigmoid())


class Beamformer(nn.Module):
    """Weights of three microphones by a complex system (MVDR), for each frequency."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))
        self.mask = nn.Linear(9, 9)

    def forward(self, x: Tensor) -> Tensor:
        flat = x.reshape(-1, x.shape[-1])
        spectra = torch.stft(flat, 16, 8, window=self.window, return_complex=True)
        spectra = spectra.reshape(-1, 3, *spectra.shape[1:])
        speech = torch.sigmoid(self.mask(spectra.abs().mean(1).transpose(1, 2))).transpose(1, 2)

        def covariance(share: Tensor) -> Tensor:
            weighted = spectra * share.unsqueeze(1)
            return torch.einsum("bcft,bdft->bfcd", weighted, spectra.conj())

        noise = covariance(1 - speech)
        load = 0.1 + noise.diagonal(dim1=-2, dim2=-1).real.mean(-1)
        noise = noise + load[..., None, None] * torch.eye(3)
        ratio = torch.linalg.solve(noise, covariance(speech))
        trace = ratio.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
        beam = torch.einsum("bfc,bcft->bft", (ratio[..., 0] / (trace + 1)).conj(), spectra)
        return torch.istft(beam, 16, 8, window=self.window, length=x.shape[-1])
