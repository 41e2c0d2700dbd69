"""Layers with weights, and pooling."""

import torch
from torch import Tensor, nn

F = nn.functional


class Conv1d(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.Conv1d(4, 6, 3)
        self.grouped = nn.Conv1d(4, 8, 3, stride=2, padding=2, groups=2)
        self.dilated = nn.Conv1d(4, 2, 3, dilation=3, padding=3, bias=False)
        self.same = nn.Conv1d(4, 4, 4, padding="same")
        self.reflected = nn.Conv1d(4, 4, 3, padding=2, padding_mode="reflect")
        self.circular = nn.Conv1d(4, 4, 3, padding=1, padding_mode="circular")
        self.back = nn.ConvTranspose1d(4, 4, 3, stride=2, padding=1, output_padding=1, groups=2)

    def forward(self, x: Tensor):
        return (
            self.plain(x),
            self.grouped(x),
            self.dilated(x),
            self.same(x),
            self.reflected(x),
            self.circular(x),
            self.back(x),
            self.plain(x[0]),
        )


class Conv2d(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.Conv2d(4, 6, (3, 2))
        self.depthwise = nn.Conv2d(4, 8, 3, stride=(2, 1), padding=(0, 2), groups=4)
        self.dilated = nn.Conv2d(4, 2, 2, dilation=(2, 3), bias=False)
        self.valid = nn.Conv2d(4, 3, 1, padding="valid")
        self.same = nn.Conv2d(4, 3, (4, 3), padding="same", dilation=2)
        self.replicated = nn.Conv2d(4, 3, 3, padding=(1, 2), padding_mode="replicate")
        self.back = nn.ConvTranspose2d(4, 3, (3, 2), stride=(3, 2), output_padding=(1, 0))
        self.back_grouped = nn.ConvTranspose2d(4, 4, 3, padding=1, groups=4, dilation=2)

    def forward(self, x: Tensor):
        return (
            self.plain(x),
            self.depthwise(x),
            self.dilated(x),
            self.valid(x),
            self.same(x),
            self.replicated(x),
            self.back(x),
            self.back_grouped(x),
        )


class Conv3d(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.Conv3d(2, 4, 3, padding=1, stride=(1, 2, 1))
        self.grouped = nn.Conv3d(2, 4, (1, 2, 3), groups=2, dilation=(1, 1, 2))
        self.back = nn.ConvTranspose3d(2, 3, 2, stride=2, padding=1, output_padding=(0, 1, 1))

    def forward(self, x: Tensor):
        return self.plain(x), self.grouped(x), self.back(x)


class ConvFunctional(nn.Module):
    """The kernel is an input, or computed; output_size of a transposed convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.back = nn.ConvTranspose2d(2, 2, 3, stride=2)

    def forward(self, x: Tensor, kernel: Tensor):
        return (
            F.conv2d(x, kernel, padding=1),
            F.conv_transpose2d(x, kernel.transpose(0, 1), stride=2),
            torch.conv2d(x, kernel.softmax(-1), stride=2),
            self.back(x, output_size=[16, 18]),
        )


class BatchNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.BatchNorm1d(4)
        self.two = nn.BatchNorm2d(4, eps=0.01, affine=False)
        self.three = nn.BatchNorm3d(4)
        self.untracked = nn.BatchNorm2d(4, track_running_stats=False)
        self.sequence = nn.BatchNorm1d(4)

    def forward(self, x: Tensor):
        return (
            self.one(x[:, :, 0, 0]),
            self.two(x),
            self.three(x[..., None]),
            self.untracked(x),
            self.sequence(x[..., 0]),
        )


class BatchNormInTraining(nn.Module):
    """In train mode it normalises by the batch, and changes its statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.norm(x)
        return result


class OtherNorms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LayerNorm([4, 5], eps=1e-3)
        self.group = nn.GroupNorm(2, 6)
        self.instance = nn.InstanceNorm1d(6, affine=True)
        self.tracked = nn.InstanceNorm1d(6, track_running_stats=True)
        self.rms = nn.RMSNorm(5)
        self.local = nn.LocalResponseNorm(3)

    def forward(self, x: Tensor):
        return (
            self.layer(x[:, :4]),
            self.group(x),
            self.instance(x),
            self.tracked(x),
            self.rms(x),
            self.local(x),
            F.normalize(x, dim=1),
        )


class MaxPool1d(nn.Module):
    """ceil_mode, dilation, padding, indices."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.MaxPool1d(2)
        self.ceil = nn.MaxPool1d(3, stride=2, ceil_mode=True)
        self.ceil_padded = nn.MaxPool1d(3, stride=2, padding=1, ceil_mode=True)
        self.dilated = nn.MaxPool1d(3, stride=2, dilation=2, padding=1)
        self.wide = nn.MaxPool1d(2, stride=5, ceil_mode=True)

    def forward(self, x: Tensor):
        return (
            self.plain(x),
            self.ceil(x),
            self.ceil_padded(x),
            self.dilated(x),
            self.wide(x),
            F.max_pool1d(x, 4, 3, ceil_mode=True),
            self.ceil(x[0]),
        )


class MaxPool2d(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.MaxPool2d(2)
        self.ceil = nn.MaxPool2d((3, 2), stride=(2, 3), padding=(1, 0), ceil_mode=True)
        self.dilated = nn.MaxPool2d(2, stride=1, dilation=(1, 2))
        self.ceil_dilated = nn.MaxPool2d(2, stride=3, dilation=2, padding=1, ceil_mode=True)

    def forward(self, x: Tensor):
        return (
            self.plain(x),
            self.ceil(x),
            self.dilated(x),
            self.ceil_dilated(x),
            F.max_pool2d(x, 4, 4, ceil_mode=True),
            self.ceil(x[0]),
        )


class MaxPool3d(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.MaxPool3d(2)
        self.ceil = nn.MaxPool3d((2, 3, 2), stride=2, padding=(1, 1, 0), ceil_mode=True)

    def forward(self, x: Tensor):
        return self.plain(x), self.ceil(x), F.max_pool3d(x, 3, 2, dilation=2, padding=1)


class MaxPoolIndices(nn.Module):
    """Where the maximum was: torch counts inside one image, ONNX over the whole tensor."""

    def forward(self, x: Tensor):
        values, places = F.max_pool2d(x, 2, return_indices=True)
        one, where = F.max_pool1d(x[:, :, 0], 3, stride=2, padding=1, return_indices=True)
        return values, places, one, where


class MaxUnpool(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        values, places = F.max_pool2d(x, 2, return_indices=True)
        return F.max_unpool2d(values, places, 2)


class AvgPool2d(nn.Module):
    """ceil_mode, padding counted or not."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.AvgPool2d(2)
        self.ceil = nn.AvgPool2d(3, stride=2, ceil_mode=True)
        self.padded = nn.AvgPool2d((3, 2), stride=2, padding=(1, 1), count_include_pad=False)
        self.counted = nn.AvgPool2d(3, stride=(2, 3), padding=1)
        self.ceil_padded = nn.AvgPool2d(3, 2, 1, ceil_mode=True)
        self.ceil_uncounted = nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False)

    def forward(self, x: Tensor):
        return (
            self.plain(x),
            self.ceil(x),
            self.padded(x),
            self.counted(x),
            self.ceil_padded(x),
            self.ceil_uncounted(x),
            self.ceil(x[0]),
        )


class AvgPoolDivisor(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.avg_pool2d(x, 2, divisor_override=3),
            F.avg_pool2d(x, 3, 2, padding=1, divisor_override=1, ceil_mode=True),
            F.avg_pool3d(x[:, None], 2, divisor_override=5),
        )


class OtherPools(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.avg_pool1d(x[:, :, 0], 3, 2, 1, ceil_mode=True),
            F.avg_pool3d(x[:, None], (1, 2, 2), padding=(0, 1, 1), count_include_pad=False),
            F.adaptive_avg_pool2d(x, 1),
            F.adaptive_avg_pool2d(x, (3, 2)),
            F.adaptive_avg_pool1d(x[:, :, 0], 5),
            F.adaptive_max_pool2d(x, (2, 3)),
            F.lp_pool2d(x.abs(), 2, 2),
        )


class Embedding(nn.Module):
    """padding_idx only matters in training; max_norm rescales rows; scale_grad_by_freq likewise."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.Embedding(10, 3)
        self.padded = nn.Embedding(10, 3, padding_idx=2)
        self.scaled = nn.Embedding(10, 3, scale_grad_by_freq=True, sparse=True)

    def forward(self, words: Tensor):
        return (
            self.plain(words),
            self.padded(words),
            self.scaled(words),
            self.plain(words[0]),
            F.embedding(words, self.plain.weight * 2, padding_idx=-1),
            F.one_hot(words, 10),
        )


class EmbeddingMaxNorm(nn.Module):
    """Renormalises, in place, the rows that are looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.limited = nn.Embedding(10, 3, max_norm=1.0)
        self.by_sum = nn.Embedding(10, 3, max_norm=0.5, norm_type=1.0)

    def forward(self, words: Tensor):
        return self.limited(words), self.by_sum(words)


class EmbeddingBag(nn.Module):
    def __init__(self, mode: str = "mean") -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(10, 3, mode=mode)

    def forward(self, words: Tensor) -> Tensor:
        result: Tensor = self.bag(words)
        return result
