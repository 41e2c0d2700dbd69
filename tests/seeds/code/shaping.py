"""Operators that join, cut and rearrange tensors: one output a form."""

import torch
from torch import Tensor, nn


class Cat(nn.Module):
    def forward(self, x: Tensor, y: Tensor, count: Tensor):
        return (
            torch.cat([x, y], 0),
            torch.cat((x, x, x), dim=-1),
            torch.concat([x, y]),
            torch.concatenate([y, x], dim=0),
            torch.cat([x, count], 1),
            torch.stack([x, x], dim=1),
            torch.hstack([x, x]),
            torch.vstack([x, y]),
            torch.cat([x, x.new_zeros(0, 4)], 0),
            torch.cat([x[:0], y]),
        )


class Transposes(nn.Module):
    def forward(self, x: Tensor, cube: Tensor):
        return (
            x.t(),
            torch.t(x[0]),
            x.T,
            cube.transpose(1, 2),
            torch.transpose(cube, -1, 0),
            cube.permute(2, 0, 1),
            torch.permute(cube, (0, -1, 1)),
            cube.mT,
            cube.swapaxes(0, 1),
            torch.movedim(cube, 0, -1),
            cube.transpose(0, 1).contiguous().view(cube.size(1), -1),
            cube.permute(*range(cube.dim() - 1, -1, -1)),
            x.clone().t_() + 1,
        )


class Expand(nn.Module):
    """Not only before an operator that broadcasts."""

    def forward(self, row: Tensor, x: Tensor):
        return (
            row.expand(x.size(0), 4),
            row.expand_as(x),
            row.expand(3, -1, -1),
            row.expand(x.shape),
            torch.broadcast_to(row, (2, x.shape[0], 4)),
            x[:, :1].expand(-1, 6),
            row.expand(x.size(0), -1) + x,
            x.unsqueeze(1).expand(-1, 5, -1).reshape(-1, 4),
            x.repeat(2, 3),
            x[:, None].repeat_interleave(2, 1),
            torch.tile(row, (x.size(0), 1)),
            row[0].expand(4),
        )


class View(nn.Module):
    def forward(self, x: Tensor):
        n, c = x.size(0), x.size(1)
        return (
            x.view(-1),
            x.view(n, -1),
            x.view(n, c * 4),
            x.view(n * c, 4),
            x.view(n, 2, -1, 4),
            x.view(*x.shape[:2], 2, 2),
            x.view(x.shape),
            x.reshape(-1, 2),
            x.flatten(1),
            torch.flatten(x),
            x.unflatten(1, (2, 3)),
            x.view(2, -1),
            x.view_as(x),
            x.reshape((n, c, 1, 4)),
            torch.ravel(x),
            x.view(n, c, 4)[:, 0],
        )


class ViewOfNothing(nn.Module):
    """Right without rows, too: there a 0 in ONNX's Reshape is a size, and not `copy it`."""

    def forward(self, x: Tensor):
        n, c = x.size(0), x.size(1)
        return (
            x.view(-1),
            x.view(n, c * 4),
            x.view(n * c, 4),
            x.reshape(-1, c * 4),
            x.flatten(1),
            x.transpose(0, 1).reshape(n, c * 4),
            x.permute(1, 2, 0).reshape(2, n, 12),
            x.view(x.shape).sum(0),
        )


class Split(nn.Module):
    def forward(self, x: Tensor, wide: Tensor):
        a, b, c = wide.split([1, 4, 2], dim=1)
        d, e = torch.split(wide, 4, 1)
        f, g, h = wide.chunk(3, -1)
        i, j = x.unbind(1)
        left, right = torch.tensor_split(wide, 2, dim=1)
        return a, b, c, d, e, f, g, h, i, j, left, right, sum(wide.split(3, dim=1)[:2])


class SplitOfDynamic(nn.Module):
    """The dynamic dim itself is split in two."""

    def forward(self, x: Tensor):
        half = x.size(0) // 2
        a, b = x.split([half, x.size(0) - half], dim=0)
        return a, b, a.sum(0) - b.sum(0)


class Squeeze(nn.Module):
    def forward(self, x: Tensor):
        return (
            x.squeeze(1),
            torch.squeeze(x, -1),
            x.squeeze((1, 3)),
            x.unsqueeze(0),
            torch.unsqueeze(x, -1),
            x.squeeze(2),
            x.clone().squeeze_(1),
        )


class SqueezeAll(nn.Module):
    """Without a dim: which ones go depends on the sizes."""

    def forward(self, x: Tensor):
        return x.squeeze(), torch.squeeze(x) * 2


class Unfold(nn.Module):
    def forward(self, x: Tensor):
        return (
            x.unfold(2, 3, 1),
            x.unfold(-1, 2, 2),
            x.unfold(2, 5, 4).sum(-1),
            x.unfold(2, 6, 3),
            x.unfold(1, 2, 1),
        )


class UnfoldDynamic(nn.Module):
    def forward(self, x: Tensor):
        return x.unfold(1, 4, 2), x.unfold(1, 3, 1).mean(-1)


class Im2Col(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.columns = nn.Unfold((2, 3), dilation=(1, 2), padding=1, stride=(2, 1))
        self.plain = nn.Unfold(2)

    def forward(self, x: Tensor):
        return self.columns(x), self.plain(x)


class Col2Im(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fold = nn.Fold((6, 7), 2, stride=1)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.fold(nn.functional.unfold(x, 2))
        return result


class IndexSelect(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("order", torch.tensor([2, 0, 2]))

    def forward(self, x: Tensor, places: Tensor):
        return (
            x.index_select(1, self.order),
            torch.index_select(x, 2, places),
            torch.index_select(x, -1, self.order),
            x.index_select(0, torch.zeros_like(places)),
            torch.gather(x, 1, places[None, :, None].expand(x.size(0), -1, x.size(2))),
            torch.take(x, places),
            torch.narrow(x, 1, 1, 2),
            x.select(2, -1),
        )


class ConstantPad(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.ConstantPad1d((2, 1), 3.5)
        self.two = nn.ConstantPad2d((1, 2, 3, 0), -1.0)
        self.three = nn.ConstantPad3d(1, 0.25)
        self.zero = nn.ZeroPad2d((0, 1, 2, 3))

    def forward(self, x: Tensor, count: Tensor):
        pad = nn.functional.pad
        return (
            self.one(x[:, 0]),
            self.two(x),
            self.three(x[:, None]),
            self.zero(x),
            pad(x, (1, 1)),
            pad(x, (-1, 2, 1, -1), value=9),
            pad(count, (0, 2), value=7),
            pad(x, (0, 0, 0, 0, 1, 1)),
            torch.constant_pad_nd(x, (1, 0), 2),
            pad(x > 0, (1, 1), value=True),
        )


class OtherPads(nn.Module):
    def forward(self, x: Tensor):
        pad = nn.functional.pad
        return (
            pad(x, (1, 2, 1, 0), mode="reflect"),
            pad(x, (2, 1, 0, 1), mode="replicate"),
            pad(x, (1, 2, 2, 1), mode="circular"),
            nn.ReflectionPad1d(2)(x[:, 0]),
        )


class Flip(nn.Module):
    def forward(self, x: Tensor):
        return (
            x.flip(0),
            x.flip(1, 2),
            torch.roll(x, 1, 1),
            x.roll((1, -2), (0, 2)),
            x.tril(),
            x.triu(1),
        )
