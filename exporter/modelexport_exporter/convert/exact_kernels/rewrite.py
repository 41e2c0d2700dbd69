"""Replace the nodes of a graph whose kernel differs from torch; docs/onnxruntime.md lists them.

One pass for every route. Where integers are provably small, and no size depends on values, the
nodes stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels import (
    emptiness,
    floats,
    infinite_steps,
    integers,
    long_norms,
    long_sums,
    nan_in_layers,
    narrow_integers,
    not_a_number,
    places,
    scaled_products,
    signs_of_zeros,
    transforms,
    vector_products,
)
from modelexport_exporter.convert.exact_kernels.declared import Declared
from modelexport_exporter.convert.exact_kernels.emptiness import (
    REDUCTIONS,
    count_axes_from_start,
)
from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.rankings import sort_values
from modelexport_exporter.convert.exact_kernels.writer import Writer

Rewrite = Callable[[ir.Node, Magnitudes, Writer], ir.Value | tuple[ir.Value, ...] | None]
OF_INTEGERS: Mapping[str, Rewrite] = {
    "ReduceSum": integers.reduce_sum,
    "ReduceProd": integers.reduce_prod,
    "ReduceMax": integers.reduce_extreme,
    "ReduceMin": integers.reduce_extreme,
    "Max": integers.extreme,
    "Min": integers.extreme,
    "Clip": integers.clip,
    "Sign": integers.sign,
    "Mod": integers.modulo,
    "Pow": integers.power,
}
OF_BOOLEANS: Mapping[str, Rewrite] = {
    "ReduceMax": emptiness.any_of,
    "CumSum": narrow_integers.count_booleans,
}
"""Written as integers, or not at all."""
OF_FLOATS: Mapping[str, Rewrite] = {
    "ReduceLogSumExp": floats.log_sum_exp,
    "ReduceMean": emptiness.mean,
    "Sigmoid": floats.sigmoid,
    "Tanh": floats.tanh,
    "Pow": floats.square_root,
    "DFT": transforms.inverse_in_double,
    "ReduceL2": floats.norm_of_one,
    "Clip": floats.one_bound,
    "GridSample": places.far_places,
    "ReduceMax": not_a_number.reduce_extreme,
    "ReduceMin": not_a_number.reduce_extreme,
    "ArgMax": not_a_number.place_of_extreme,
    "ArgMin": not_a_number.place_of_extreme,
    "TopK": not_a_number.rank,
    **dict.fromkeys(("ScatterElements", "ScatterND"), floats.scatter_halves),
}
OF_SIGNS: Mapping[str, Rewrite] = dict.fromkeys(
    ("ReduceSum", "ReduceMean"), signs_of_zeros.sum_or_mean
)
OF_NARROW_INTEGERS: Mapping[str, Rewrite] = dict.fromkeys(
    narrow_integers.LACKING, narrow_integers.compute_as_int32
)
OF_FLOATS_WITH_NAN: Mapping[str, Rewrite] = {
    "RNN": nan_in_layers.recurrent,
    "GRU": nan_in_layers.recurrent,
    "LSTM": nan_in_layers.recurrent,
    "MaxPool": nan_in_layers.max_pool,
    "GlobalMaxPool": nan_in_layers.global_max_pool,
    "ScatterElements": not_a_number.scatter_extreme,
}
"""Where an input may hold NaN."""
WHERE_NAN_IS_LOOKED_FOR: Mapping[str, Rewrite] = {
    **dict.fromkeys(("RNN", "GRU", "LSTM"), infinite_steps.recurrent),
    "MaxPool": nan_in_layers.max_pool_of_images,
}
"""Where an input may hold NaN, and the model looks for it: these cost more."""
OF_LONG_SUMS: Mapping[str, Rewrite] = {
    **dict.fromkeys(long_sums.FURTHER_STAGES, long_sums.reduce_in_stages),
    "GlobalAveragePool": long_sums.average_of_images,
    "InstanceNormalization": long_norms.instance,
    "LayerNormalization": long_norms.layer,
    "CumSum": long_sums.running_sum,
}
OF_INFINITY: Mapping[str, Rewrite] = {"MaxPool": nan_in_layers.max_pool_of_infinity}
"""Where the model itself writes -inf, as masks do."""
LOOK_FOR_NAN = frozenset({"IsNaN", "IsInf"})
OLDEST_OPSET = 10
"""Mod of integers is part of ONNX since."""


def avoid_inexact_kernels(model: ir.Model, declared: Declared) -> ir.Model:
    """Return the model without nodes that onnxruntime computes otherwise than torch."""
    opset = model.graph.opset_imports.get("", 0)
    if opset < OLDEST_OPSET:
        return model
    for node in list(model.graph.all_nodes()):
        sort_values(node)
        if node.op_type in REDUCTIONS and not node.domain and node.graph is not None:
            write = Writer(node, opset, "axes")
            if count_axes_from_start(node, declared.never_empty, write):
                node.graph.insert_before(node, write.nodes)
    nodes = list(model.graph.all_nodes())
    tables = _tables(nodes, model, declared)
    concerned = [(node, found) for node in nodes if (found := _rewrites(node, tables))]
    if not concerned:
        return model
    sizes = Magnitudes(model, declared)
    for node, rewrites in concerned:
        for rewrite in rewrites:
            write = Writer(node, opset)
            result = rewrite(node, sizes, write)
            if result is not None and node.graph is not None:
                results = result if isinstance(result, tuple) else (result,)
                for old, new in zip(node.outputs, results, strict=True):
                    sizes.keep(old, new)
                ir.convenience.replace_nodes_and_values(
                    node.graph, node, [node], write.nodes, node.outputs, results
                )
                break
    return model


def _tables(
    nodes: Sequence[ir.Node], model: ir.Model, declared: Declared
) -> list[Mapping[str, Rewrite]]:
    """Return what replaces nodes of any dtype in this model."""
    tables = [OF_LONG_SUMS]
    if declared.takes_nan:
        if any(node.op_type in LOOK_FOR_NAN for node in nodes):
            tables.append(WHERE_NAN_IS_LOOKED_FOR)
        tables.append(OF_FLOATS_WITH_NAN)
    return [*tables, OF_INFINITY] if _writes_infinity(nodes, model) else tables


def _writes_infinity(nodes: Sequence[ir.Node], model: ir.Model) -> bool:
    """Return whether a constant of the model is -inf."""
    values = [*model.graph.initializers.values()]
    values += [node.outputs[0] for node in nodes if node.op_type == "Constant"]
    tensors = (ir.convenience.get_const_tensor(value) for value in values)
    return any(
        tensor is not None
        and tensor.size == 1
        and tensor.dtype.is_floating_point()
        and float(tensor.numpy().reshape(())) == -math.inf
        for tensor in tensors
    )


def _rewrites(node: ir.Node, of_any: Sequence[Mapping[str, Rewrite]]) -> list[Rewrite]:
    """Return what may replace the node: of its dtype, or of both kinds where that is not known."""
    if node.domain:
        return []
    dtype = node.inputs[0].dtype if node.inputs and node.inputs[0] is not None else None
    floats_only = dtype is not None and dtype.is_floating_point()
    tables = [OF_FLOATS]
    if not floats_only:
        tables = [OF_NARROW_INTEGERS, OF_BOOLEANS, OF_INTEGERS, OF_FLOATS]
    found = [table[node.op_type] for table in (*tables, OF_SIGNS, *of_any) if node.op_type in table]
    if scaled_products.place_of_factor(node) is not None:
        found.append(scaled_products.keep_factor)
    if vector_products.is_of_vector(node):
        found.append(vector_products.product_of_vector)
    return found
