"""Models of points, scanners and processes, as their authors write them."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class BallQuery(nn.Module):
    """PointNet++: features of up to five neighbours of the first points; itself is always one.

    Where a point's distance to itself is rounded above the radius, there is none.
    """

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Linear(3, 8)

    def forward(self, points: Tensor) -> Tensor:
        count = points.shape[1]
        centres = points[:, :4]
        squares = -2 * centres @ points.mT
        squares += (centres**2).sum(-1)[:, :, None]
        squares += (points**2).sum(-1)[:, None, :]
        places = torch.arange(count).repeat(*squares.shape[:2], 1)
        places[squares > 1.2**2] = count
        places = places.sort(-1)[0][..., :5]
        places = torch.where(places == count, places[..., :1], places)
        rows = torch.arange(points.shape[0])[:, None, None]
        near = points[rows, places] - centres[:, :, None]
        found: Tensor = self.features(near).amax(2).clamp(-1e10, 1e10)
        return found


class Scanner(nn.Module):
    """fastMRI: a network on pictures padded to multiples of four, between two spectra."""

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.Conv2d(2, 2, 3, padding=1)

    def padded(self, picture: Tensor) -> Tensor:
        height, width = picture.shape[-2:]
        tall, wide = ((height - 1) | 3) + 1, ((width - 1) | 3) + 1
        top, left = (tall - height) // 2, (wide - width) // 2
        sides = [left, wide - width - left, top, tall - height - top]
        result = self.network(F.pad(picture, sides))
        return result[..., top : top + height, left : left + width]

    def forward(self, spectrum: Tensor) -> Tensor:
        picture = torch.fft.ifftshift(torch.view_as_complex(spectrum), dim=(-2, -1))
        picture = torch.fft.fftshift(torch.fft.ifft2(picture, norm="ortho"), dim=(-2, -1))
        parts = self.padded(torch.view_as_real(picture).permute(0, 3, 1, 2))
        changed = torch.view_as_complex(parts.permute(0, 2, 3, 1).contiguous())
        return torch.view_as_real(changed.flip(-1) + picture)


class GaussianProcess(nn.Module):
    """The posterior at other places, and the likelihood of what was seen at any number of them."""

    def __init__(self) -> None:
        super().__init__()
        self.scales = nn.Parameter(torch.tensor([0.5, 2.0]))

    def kernel(self, one: Tensor, other: Tensor) -> Tensor:
        return torch.exp(-0.5 * torch.cdist(one / self.scales, other / self.scales) ** 2)

    def forward(self, x: Tensor, y: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        covariance = self.kernel(x, x) + 0.1 * torch.eye(x.shape[0])
        factor = torch.linalg.cholesky(covariance)
        weights = torch.cholesky_solve(y[:, None], factor)[:, 0]
        apart = torch.linalg.solve_triangular(factor, self.kernel(x, at), upper=False)
        likelihood = -0.5 * y @ weights - factor.diagonal().log().sum()
        likelihood = likelihood - 0.5 * x.shape[0] * math.log(2 * math.pi)
        return self.kernel(at, x) @ weights, 1 - (apart**2).sum(0), likelihood


class Turned(nn.Module):
    """Each picture at each angle, and the volume of the turn in double precision."""

    def forward(self, pictures: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
        turns = torch.zeros(angles.shape[0], 2, 3)
        turns[:, 0, 0] = turns[:, 1, 1] = angles.cos()
        turns[:, 0, 1], turns[:, 1, 0] = -angles.sin(), angles.sin()
        size = [angles.shape[0], 1, *pictures.shape[-2:]]
        grid = F.affine_grid(turns, size, align_corners=True).repeat(pictures.shape[0], 1, 1, 1)
        each = pictures.repeat_interleave(angles.shape[0], dim=0)
        volume = torch.linalg.det(turns[:, :, :2].double() * 3)
        return F.grid_sample(each, grid, align_corners=True), volume
