"""Why some operators of the database are not exported: the last column of docs/operators.md."""

from __future__ import annotations

from collections.abc import Mapping

_SIGNS = "LAPACK chooses the signs of the vectors"
_PIVOTS = "LAPACK's packed form of Bunch and Kaufman's pivots"
_GENERAL = "eigenvalues of a matrix that is not symmetric: LAPACK's iterations and order"
_EQUAL = "the variance of two numbers that are nearly equal is a matter of rounding"
_COLUMNS = "more than 32 columns are not unrolled"
WHY: Mapping[str, str] = {
    **dict.fromkeys(("linalg.eigh", "linalg.svd", "svd", "svd_lowrank", "pca_lowrank"), _SIGNS),
    **dict.fromkeys(("linalg.ldl_factor", "linalg.ldl_factor_ex", "linalg.ldl_solve"), _PIVOTS),
    **dict.fromkeys(("linalg.qr", "qr", "geqrf", "linalg.householder_product"), _COLUMNS),
    **dict.fromkeys(("linalg.eig", "linalg.eigvals"), _GENERAL),
    **dict.fromkeys(("_native_batch_norm_legit", "_batch_norm_with_update"), _EQUAL),
    "chalf": "returns complex numbers of half precision",
    "hash_tensor": "reads the bits of numbers, which ONNX cannot",
    "linalg.pinv.singular": "without full rank, up to 16 rows only",
    "masked_select": "a selection from a single number",
    "mode": "which of equal numbers is returned depends on a sort that is not stable",
    "nn.functional.ctc_loss": "a loss of training",
    "nn.functional.grid_sample": "onnxruntime has no cubic interpolation of volumes",
    "nn.functional.silu": "onnxruntime's Sigmoid of one number is off by more than eager's",
    "resize_as_": "changes the size of an input",
}
"""By the entry's name."""
