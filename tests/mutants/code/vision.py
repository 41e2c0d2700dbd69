"""Networks on images, as people write them."""

import torch
from torch import Tensor, nn

F = nn.functional


class Block(nn.Module):
    """Pre-activation: BatchNorm comes before the convolution and cannot be folded into it."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(inner)
        self.first = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.middle = nn.BatchNorm2d(outer, eps=1e-3)
        self.second = nn.Conv2d(outer, outer, 3, 1, 1)
        self.short = nn.Conv2d(inner, outer, 1, stride) if inner != outer else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.norm(x))
        return self.second(torch.relu(self.middle(self.first(y)))) + self.short(x)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1)
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 12, 2))
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.head = nn.Linear(12, 5)

    def forward(self, image: Tensor) -> Tensor:
        y = self.blocks(self.pool(self.stem(image)))
        return self.head(y.mean((2, 3)))


class Depthwise(nn.Module):
    """A MobileNet block: expand, depthwise and dilated, squeeze-and-excite, project."""

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Conv2d(3, 16, 1)
        self.deep = nn.Conv2d(16, 16, 3, padding=2, dilation=2, groups=16)
        self.norm = nn.BatchNorm2d(16)
        self.squeeze = nn.Conv2d(16, 4, 1)
        self.excite = nn.Conv2d(4, 16, 1)
        self.project = nn.Conv2d(16, 6, 1)
        self.act = nn.Hardswish()

    def forward(self, image: Tensor) -> Tensor:
        y = F.relu6(self.expand(image) * 2)
        y = self.act(self.norm(self.deep(y)))
        weight = F.adaptive_avg_pool2d(y, 1)
        weight = F.hardsigmoid(self.excite(F.relu(self.squeeze(weight))))
        return self.project(y * weight)


class Segmentation(nn.Module):
    """A small U-Net: pool, upsample to the size of the skip, concatenate, classify each pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 6, 3, padding=1)
        self.deep = nn.Conv2d(6, 8, 3, padding=1, padding_mode="reflect")
        self.up = nn.Conv2d(14, 4, 3, padding=1)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        skip = F.leaky_relu(self.down(image), 0.1)
        low = F.avg_pool2d(skip, 3, 2, 1, count_include_pad=False)
        low = F.silu(self.deep(low))
        wide = F.interpolate(low, size=skip.shape[2:], mode="bilinear", align_corners=False)
        scores = self.up(torch.cat([skip, wide], 1))
        return F.softmax(scores, 1), scores.argmax(1)


class Upscaler(nn.Module):
    """Twice the size: a learnt pixel shuffle on top of bicubic upsampling."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 8, 5, padding=2)
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.slope = nn.PReLU(8)

    def forward(self, image: Tensor) -> Tensor:
        learnt = F.pixel_shuffle(self.second(self.slope(self.first(image))), 2)
        plain = F.interpolate(image, scale_factor=2, mode="bicubic", align_corners=False)
        near = F.interpolate(image, scale_factor=2.0, mode="nearest")
        return (plain + learnt + 0.1 * near).clamp(-2.0, 2.5)


class Autoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Conv2d(1, 6, 4, 2, 1)
        self.norm = nn.GroupNorm(3, 6)
        self.deeper = nn.Conv2d(6, 8, 4, 2, 1)
        self.narrow = nn.Linear(8 * 4 * 4, 6)
        self.back = nn.Linear(6, 8 * 4 * 4)
        self.up = nn.ConvTranspose2d(8, 6, 4, 2, 1)
        self.out = nn.ConvTranspose2d(6, 1, 4, 2, 1)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        y = F.elu(self.norm(self.encode(image)), 0.7)
        code = torch.tanh(self.narrow(F.elu(self.deeper(y)).flatten(1)))
        y = F.softplus(self.back(code)).view(-1, 8, 4, 4)
        return torch.sigmoid(self.out(F.relu(self.up(y)))), code


class Norms(nn.Module):
    """Instance, group and layer norm, and an RMS norm by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.instance = nn.InstanceNorm2d(4, affine=True, eps=1e-4)
        self.group = nn.GroupNorm(2, 4)
        self.layer = nn.LayerNorm(6)
        self.gain = nn.Parameter(torch.rand(6) + 0.5)
        self.mix = nn.Conv2d(4, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.mix(self.instance(x)) + self.group(x)
        y = self.layer(y)
        rms = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * self.gain
        return rms + x.std(dim=(2, 3), keepdim=True, unbiased=False)


class Detector(nn.Module):
    """Boxes against anchors, decoded, clipped to the image, the best kept by NMS."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 8, 3, 2, 1)
        self.boxes = nn.Conv2d(8, 4, 1)
        self.scores = nn.Conv2d(8, 3, 1)
        rows, columns = torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
        self.register_buffer("centres", torch.stack([columns, rows], -1).view(-1, 2) * 2 + 1)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        from torchvision.ops import nms

        y = torch.relu(self.features(image))
        moved = self.boxes(y)[0].flatten(1).t()
        scores, kinds = self.scores(y)[0].flatten(1).t().sigmoid().max(1)
        centres = self.centres + moved[:, :2].tanh() * 2
        half = torch.exp(moved[:, 2:].clamp(-1, 1)) * 1.5
        corners = torch.cat([centres - half, centres + half], 1).clamp(0, 15)
        kept = nms(corners, scores, 0.4)[:20]
        return corners[kept], scores[kept], kinds[kept]


class Pooled(nn.Module):
    """Pools with every option, and padding of every mode."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, (2, 1), (1, 2), dilation=(1, 2))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y = self.conv(F.pad(x, (1, 2, 0, 1), mode="replicate"))
        best = F.max_pool2d(y, 3, 2, 1, ceil_mode=True)
        mean = F.avg_pool2d(y, 3, 2, 1, count_include_pad=True)
        power = F.lp_pool2d(y.abs() + 0.1, 2, 2)
        return F.pad(best, (2, 1, 1, 1), mode="reflect"), mean, power.amax((2, 3))
