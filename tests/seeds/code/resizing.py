"""Resizing images: every mode of interpolate."""

from torch import Tensor, nn

F = nn.functional


class ToFixedSize(nn.Module):
    """What once could not be exported at all."""

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(x, (480, 640), mode="bilinear", align_corners=True)


class UpsamplingBilinear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.UpsamplingBilinear2d(scale_factor=2)
        self.down = nn.Upsample((5, 4), mode="bilinear", align_corners=True)

    def forward(self, x: Tensor):
        return (
            self.up(x),
            self.down(x),
            F.interpolate(x, (1, 13), mode="bilinear", align_corners=True),
        )


class Bilinear(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.interpolate(x, (11, 5), mode="bilinear"),
            F.interpolate(x, scale_factor=2, mode="bilinear"),
            F.interpolate(x, scale_factor=(0.5, 1.7), mode="bilinear", align_corners=False),
            F.interpolate(x, scale_factor=1.5, mode="bilinear", recompute_scale_factor=True),
            F.interpolate(x, scale_factor=(3, 2), mode="bilinear", align_corners=True),
        )


class Nearest(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.interpolate(x, (11, 5)),
            F.interpolate(x, scale_factor=2),
            F.interpolate(x, scale_factor=(1.6, 0.7), mode="nearest"),
            nn.UpsamplingNearest2d(scale_factor=3)(x),
            F.interpolate(x[:, :, 0], 13),
            F.interpolate(x[:, None], (2, 7, 8)),
        )


class NearestExact(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.interpolate(x, (11, 5), mode="nearest-exact"),
            F.interpolate(x, scale_factor=2, mode="nearest-exact"),
            F.interpolate(x, scale_factor=0.7, mode="nearest-exact"),
        )


class Bicubic(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.interpolate(x, (11, 5), mode="bicubic"),
            F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=True),
            F.interpolate(x, scale_factor=1.3, mode="bicubic", align_corners=False),
        )


class LinearAndTrilinear(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.interpolate(x[:, :, 0], 13, mode="linear"),
            F.interpolate(x[:, :, 0], scale_factor=2, mode="linear", align_corners=True),
            F.interpolate(x[:, None], (2, 9, 4), mode="trilinear"),
            F.interpolate(x[:, None], scale_factor=2, mode="trilinear", align_corners=True),
        )


class Area(nn.Module):
    def forward(self, x: Tensor):
        return F.interpolate(x, (3, 4), mode="area"), F.interpolate(
            x, scale_factor=0.5, mode="area"
        )


class Antialiased(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.interpolate(x, (4, 3), mode="bilinear", antialias=True),
            F.interpolate(x, (13, 4), mode="bicubic", antialias=True),
        )


class ToSizeOfOther(nn.Module):
    """The size is another input's, as in feature pyramids."""

    def forward(self, x: Tensor, other: Tensor):
        size = other.shape[-2:]
        return (
            F.interpolate(x, size, mode="bilinear", align_corners=True),
            F.interpolate(x, size=size) + other,
        )


class Shuffle(nn.Module):
    def forward(self, x: Tensor):
        return F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 3), F.channel_shuffle(x, 2)


class Sample(nn.Module):
    def forward(self, x: Tensor, grid: Tensor):
        return (
            F.grid_sample(x, grid, align_corners=True),
            F.grid_sample(x, grid, mode="nearest", padding_mode="border", align_corners=False),
            F.grid_sample(x, grid, padding_mode="reflection", align_corners=True),
        )
