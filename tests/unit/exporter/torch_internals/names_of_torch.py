"""What must be true of the private names of tensors, operators, modules and checkpoints."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules import transformer

from unit.exporter.torch_internals.name_checks import (
    IMAGE,
    TILE,
    VOLUME,
    X,
    parameters,
    program,
    takes,
)


def sees_the_cast(mode: type) -> bool:
    seen: list[str] = []

    class Mode(mode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, _: object, args: Any, kwargs: Any = None) -> object:  # noqa: ANN401
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Mode():
        X.double()
    return seen == ["aten._to_copy.default"]


def pools(shape: tuple[int, ...], x: torch.Tensor) -> Callable[[Any], bool]:
    def check(pool: Callable[..., Any]) -> bool:
        pooled = pool(x, [2] * (x.dim() - 2))
        return all(
            part.shape == shape for part in (pooled if isinstance(pooled, tuple) else (pooled,))
        )

    return check


def has_a_version(state: str) -> bool:
    return bool(getattr(torch.nn.BatchNorm1d(1).state_dict(), state)[""]["version"] == 2)


PROPERTIES: dict[str, Callable[[Any], object]] = {
    "'_detect_is_causal_mask'": lambda name: (
        parameters(getattr(transformer, name)) == ["mask", "is_causal", "size"]
    ),
    "'_in_spec'": lambda name: getattr(program().module(), name).num_leaves == 1,
    "'_metadata'": has_a_version,
    "_allow_tf32=": lambda _: (
        torch.backends.cudnn.set_flags(_allow_tf32=torch.backends.cudnn.allow_tf32) is not None  # type: ignore[no-untyped-call]
    ),
    "_enabled=": lambda _: torch.backends.mkldnn.set_flags(_enabled=True)[0] is True,  # type: ignore[no-untyped-call]
    "module._buffers": lambda buffers: "running_mean" in buffers,
    "module._non_persistent_buffers_set": lambda names: names == set(),
    "flexible._LARGE_SPARSE_BLOCK_SIZE": lambda size: size >= 1 << 30,
    "operator._op_dk": lambda call: (
        call(torch.DispatchKey.CompositeImplicitAutograd, X, [2]).shape == (1, 2, 6)
    ),
    "operator._schema": lambda schema: (schema.name, len(schema.arguments)) == ("aten::tile", 2),
    "tensor._is_view": lambda is_view: is_view() and not torch.ones(1)._is_view(),
    "tensor._version": lambda version: version == 0 and torch.ones(1).add_(1)._version == 1,
    "torch._C._dispatch_has_kernel_for_dispatch_key": lambda has: (
        has("aten::tile", "CompositeImplicitAutograd")
        and not has("aten::relu", "CompositeImplicitAutograd")
    ),
    "torch._higher_order_ops.flex_attention.math_attention": lambda function: (
        parameters(function)[:6] == ["query", "key", "value", "score_mod", "block_mask", "scale"]
    ),
    "torch._C._jit_get_schemas_for_operator": lambda schemas: (
        "Tensor" in {schema.overload_name for schema in schemas("aten::add")}
    ),
    "torch._C._jit_resolve_packet": lambda resolve: resolve("aten::add", X, X) == "Tensor",
    "torch._C._nn.adaptive_avg_pool2d": pools((1, 1, 2, 2), IMAGE),
    "torch._C._nn.adaptive_avg_pool3d": pools((1, 1, 2, 2, 2), VOLUME),
    "torch._C._nn.adaptive_max_pool2d": pools((1, 1, 2, 2), IMAGE),
    "torch._C._nn.adaptive_max_pool3d": pools((1, 1, 2, 2, 2), VOLUME),
    "torch._C._nn.max_pool2d_with_indices": pools((1, 1, 2, 2), IMAGE),
    "torch._C._nn.max_pool3d_with_indices": pools((1, 1, 2, 2, 2), VOLUME),
    "torch._VF._pack_padded_sequence": lambda pack: (
        pack(torch.ones(3, 2, 1), torch.tensor([3, 1]), False)[1].tolist() == [2, 1, 1]
    ),
    "torch._VF._pad_packed_sequence": lambda pad: (
        pad(torch.ones(4, 1), torch.tensor([2, 1, 1]), False, 0.0, 3)[1].tolist() == [3, 1]
    ),
    "torch._higher_order_ops.scan.scan": lambda scan: takes(scan, print, [X], X, dim=0, reverse=1),
    "torch._higher_order_ops.scan.scan_op": lambda scan: takes(scan, print, [X], [X], (X,)),
    "torch.nn.modules.adaptive._ASMoutput": lambda result: (
        result(X, X)._fields == ("output", "loss")
    ),
    "torch._library.simple_registry.singleton.find": lambda find: (
        find("aten::relu").fake_impl.kernel is None
    ),
    "torch._ops.HigherOrderOperator": lambda kind: isinstance(torch.ops.higher_order.cond, kind),
    "torch._ops.OpOverload": lambda kind: isinstance(TILE, kind) and TILE.name() == "aten::tile",
    "torch._ops.OpOverloadPacket": lambda kind: (
        isinstance(TILE.overloadpacket, kind) and TILE.overloadpacket.overloads() == ["default"]
    ),
    "torch.distributed.checkpoint.filesystem._StorageInfo": lambda kind: (
        {"relative_path", "offset", "length"} <= {entry.name for entry in dataclasses.fields(kind)}
    ),
    "torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING": lambda kind: kind(0),
    "tensor._base": lambda base: base.shape == (2,),
    "torch.serialization._get_layout": lambda get: get("torch.strided") is torch.strided,
    "torch.utils._python_dispatch.TorchDispatchMode": sees_the_cast,
    "torch.utils._pytree.BUILTIN_TYPES": lambda kinds: {dict, list, tuple} <= set(kinds),
    "torch.utils._pytree.SUPPORTED_NODES": lambda nodes: nodes[list].unflatten_fn([1], None) == [1],
    "torch.utils._pytree.TreeSpec": lambda kind: all(
        hasattr(kind, name) for name in ("is_leaf", "children", "num_leaves")
    ),
    "torch.utils._pytree.tree_flatten": lambda flatten: flatten({"b": [1, None]})[0] == [1, None],
    "torch.utils._pytree.tree_leaves": lambda leaves: leaves([{"b": 1, "a": 2}, 3]) == [1, 2, 3],
    "torch.utils._pytree.tree_map": lambda map_: map_(str, (1, [2])) == ("1", ["2"]),
    "torch.utils._pytree.tree_unflatten": lambda unflatten: (
        unflatten([1, 2], torch.utils._pytree.tree_flatten(((0,), [0]))[1]) == ((1,), [2])
    ),
    "versioned._metadata": lambda versions: versions[""] == {"version": 1},
}
"""What must be true of each name. In quotes: a name that is looked up as text."""
