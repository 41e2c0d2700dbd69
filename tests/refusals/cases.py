"""The table: each model, how it is declared, and what its refusal must say and advise."""

from __future__ import annotations

from refusals.case import ROWS, B, Case, R, ids, tensor
from refusals.unfit_cases import OF_UNFIT

WAVES = [tensor("x", "b", 1, "n")]
TRAINING = {"model": {"training": True}}

OF_DECLARATIONS = [
    Case(
        "Reflects", WAVES, {**B, "n": (1, 64)}, R.INPUTS_MISMATCH, ["n from 9 on"], "dims.n.min: 9",
        line="reflect", mended={"dims": {"n": {"min": 9, "max": 64}}}, attempts=1,
    ),
    Case(
        "Convolves", WAVES, {**B, "n": (1, 4000)}, R.INPUTS_MISMATCH, ["n from 9 on"],
        "dims.n.min: 9", line="self.layer(x).mean(-1)", attempts=1,
    ),
    Case(
        "FixedWidth", [tensor("x", "b", "n", 8)], {**B, "n": (1, 16)}, R.INPUTS_MISMATCH,
        ["n = 12 only"], "12 for n", line="self.layer(x.reshape",
        mended={"inputs": [tensor("x", "b", 12, 8)], "dims": {"n": None}}, attempts=1,
    ),
    Case(
        "Positions", [tensor("x", "b", "n", 8)], {**B, "n": (1, 200)}, R.INPUTS_MISMATCH,
        ["n up to 128"], "dims.n.max: 128", line="self.table[: x.shape[1]]",
        mended={"dims": {"n": {"min": 1, "max": 128}}}, attempts=1,
    ),
    Case(
        "Embeds", [ids("ids", "b", "n", most=120)], {**B, "n": (1, 16)}, R.INPUTS_MISMATCH,
        ["ids up to 99"], "range: [0, 99]", line="self.table(ids).sum(1)",
        mended={"inputs": [ids("ids", "b", "n", most=99)]}, attempts=1,
    ),
    Case(
        "Product", [tensor("a", "n", "k"), tensor("b", "m", "p")],
        {"n": (1, 8), "k": (1, 8), "m": (1, 8), "p": (1, 8)}, R.INPUTS_MISMATCH,
        ["k and m equal"], "one name", line="return a @ b",
        mended={"inputs": [tensor("a", "n", "k"), tensor("b", "k", "p")], "dims": {"m": None}},
    ),
    Case(
        "Pairs", [tensor("x", "b", "n", 8)], {**B, "n": (1, 16)}, R.INPUTS_MISMATCH,
        ["n a multiple of 2"], "pad n", line="x.shape[1] // 2", attempts=1,
    ),
    Case(
        "Patches", [tensor("x", "b", 3, "h", "w")], {**B, "h": (16, 64), "w": (16, 64)},
        R.INPUTS_MISMATCH, ["h a multiple of 16", "w a multiple of 16"],
        "16 * h for h in inputs[].shape, and dims.h of 1..4", line="assert height", attempts=1,
        mended={
            "inputs": [tensor("x", "b", 3, "16 * h", "16 * w")],
            "dims": {"h": {"min": 1, "max": 4}, "w": {"min": 1, "max": 4}},
        },
    ),
    Case(
        "Flattens", [tensor("x", "b", 1, "h", "w")], {**B, "h": (16, 40), "w": (16, 40)},
        R.INPUTS_MISMATCH, ["h from 27 on and up to 28"], "dims.w.max: 28",
        line="self.head(self.convolution", attempts=1,
        mended={"dims": {"h": {"min": 27, "max": 28}, "w": {"min": 27, "max": 28}}},
    ),
    Case(
        "Tiles", [tensor("x", "b", 2, "h", "w")], {**B, "h": (7, 40), "w": (7, 40)},
        R.INPUTS_MISMATCH, ["h a multiple of 7", "w a multiple of 7"], "pad h",
        line="return x.view(batch", attempts=1,
    ),
    Case(
        "Sharpens", [tensor("coarse", "b", 1, "h", "w"), tensor("fine", "b", 1, "h", "w")],
        {**B, "h": (2, 8), "w": (2, 8)}, R.INPUTS_MISMATCH, ["4 * h and 4 * w for fine"],
        "Write 4 * h and 4 * w for h and w of input fine", line="self.lift(coarse) * fine",
        mended={
            "inputs": [
                tensor("coarse", "b", 1, "h", "w"), tensor("fine", "b", 1, "4 * h", "4 * w"),
            ],
        },
        attempts=1,
    ),
    Case(
        "MixesDtypes", ROWS, B, R.INPUTS_MISMATCH,
        ["all weights in float32 (encoder is float32, head is float64)"], "in one dtype",
        line="self.head(self.encoder", attempts=3,
    ),
    Case(
        "Pixels", ROWS, B, R.INPUTS_MISMATCH, ["must not be negative", "x from 0 on"],
        "range: [0, 3]", line="raise ValueError",
        mended={"inputs": [tensor("x", "b", 4, limits=(0, 3))]}, attempts=1,
    ),
    Case(
        "TrainsOnOneRow", ROWS, B, R.INPUTS_MISMATCH, ["b from 2 on"], "dims.b.min: 2",
        line="self.norm(x)", spec=TRAINING, attempts=1,
    ),
    Case(
        "Channels", [tensor("x", "b", 4, 8, 8)], B, R.INPUTS_MISMATCH,
        ["to have 3 channels, but got 4"], "shape", line="three = self.layer(x)", attempts=1,
    ),
    Case("TakesTwo", ROWS, B, R.INPUTS_MISMATCH, ["'mask'"], "inputs", attempts=1),
    Case(
        "OneOutput", ROWS, B, R.CONTRACT_VIOLATED, ["requested a, b (2)", "(1)"], "outputs",
        spec={"outputs": ["a", "b"]}, mended={"outputs": ["a"]}, attempts=1,
    ),
    Case(
        "DecidesAndReturnsOne", ROWS, B, R.CONTRACT_VIOLATED,
        ["requested a, b (2)", "returns 1 tensor"], "outputs", spec={"outputs": ["a", "b"]},
        attempts=1,
    ),
    Case(
        "KeepsSome", ROWS, B, R.CONTRACT_VIOLATED,
        ["spec.outputShapes", "output y dim 0: declared b, returned "], "depends on values",
        spec={"outputs": ["y"], "outputShapes": {"y": ["b", 4]}},
        mended={"outputShapes": {"y": ["kept", 4]}}, attempts=1,
    ),
]  # fmt: skip
OF_CODE = [
    Case(
        "Misspelled", ROWS, B, R.INPUTS_MISMATCH, ["no attribute 'layr'"], "whatever the inputs",
        line="self.layr(x)", attempts=1,
    ),
    Case(
        "NeedsLibrary", ROWS, B, R.INPUTS_MISMATCH, ["a_library_that_nobody_has"], "model.code",
        line="import a_library", attempts=1,
    ),
    Case(
        "ReadsFile", ROWS, B, R.INPUTS_MISMATCH, ["scales.txt"], "next to __file__",
        line='open("scales.txt")', attempts=1,
    ),
    Case(
        "MovesToGpu", ROWS, B, R.INPUTS_MISMATCH, ["NVIDIA"], "x.device", line="x.cuda()",
        attempts=1,
    ),
    Case("ReturnsText", ROWS, B, R.CONTRACT_VIOLATED, ["a str"], "tensors only", attempts=1),
    Case("ReturnsComplex", ROWS, B, R.CONTRACT_VIOLATED, ["complex64"], "view_as_real", attempts=1),
    Case(
        "RunsInThreads", ROWS, B, R.CAPTURE_FAILED,
        ["threads of its own (ThreadPoolExecutor.submit)"], "one after the other",
        line="pool.submit(branch, x)", attempts=6,
    ),
    Case(
        "FallsBack", [ids("ids", "b", "n", most=12)], {**B, "n": (1, 16)}, R.CAPTURE_FAILED,
        ["`except IndexError`", "is out of bounds"], "torch.where", line="except IndexError",
        attempts=6,
    ),
    Case(
        "FindsPeaks", ROWS, B, R.CONTRACT_VIOLATED, ["without output_1", "1 output", "2 outputs"],
        "tensor of the same shape", line="if not high.any()", attempts=1,
    ),
    Case(
        "ReturnsSteps", [tensor("x", "b", "n")], {**B, "n": (1, 6)}, R.CONTRACT_VIOLATED,
        ["outputs at b=", "1 output (without output_1, "], "Return the same tensors in each call",
        attempts=1,
    ),
    Case(
        "TakesGradient", ROWS, B, R.CAPTURE_FAILED, ["takes a gradient"], "formula",
        line="torch.autograd.grad",
    ),
    Case(
        "ChoosesByHash", ROWS, B, R.CAPTURE_FAILED, ["Python number"], "tensor",
        line="float(x.abs()",
    ),
    Case(
        "LooksUp", [*ROWS, ids("ids", "b", most=9)], B, R.CAPTURE_FAILED, ["ids.tolist()"],
        "tensor", line="ids.tolist()",
    ),
    Case(
        "MostCommon", [ids("ids", "b", "n", most=5)], {**B, "n": (1, 16)}, R.CAPTURE_FAILED,
        ["ids.tolist()"], "tensor", line="Counter(row)",
    ),
]  # fmt: skip
OF_STATE_AND_CHANCE = [
    Case(
        "SeededNoise", ROWS, B, R.VERIFICATION_FAILED, ["draws random numbers"], "as an input",
        line="torch.randn_like", attempts=1,
    ),
    Case(
        "Gumbel", ROWS, B, R.VERIFICATION_FAILED, ["draws random numbers"], "as an input",
        line="F.gumbel_softmax", attempts=1,
    ),
    Case(
        "DropsInTraining", ROWS, B, R.VERIFICATION_FAILED, ["dropout layer drop", "train mode"],
        "Leave out model.training", spec=TRAINING, mended={"model": {"training": False}},
        attempts=1,
    ),
    Case(
        "KeepsDropping", ROWS, B, R.VERIFICATION_FAILED,
        ["layer.1 is in train mode after eval() (train() of KeepsDropping sets it)"],
        "In train() of KeepsDropping", attempts=1,
    ),
    Case(
        "ReadsClock", ROWS, B, R.VERIFICATION_FAILED, ["another value in each call"],
        "as an input", line="time.time()", attempts=1,
    ),
    Case(
        "PythonNoise", ROWS, B, R.VERIFICATION_FAILED, ["draws random numbers"], "as an input",
        line="random.uniform", attempts=1,
    ),
    Case(
        "Counts", ROWS, B, R.VERIFICATION_FAILED, ["remembers its earlier calls", "calls"],
        "as an input", line="self.calls += 1", attempts=1,
    ),
    Case(
        "CountsSteps", ROWS, B, R.VERIFICATION_FAILED, ["changes the global STEP"],
        "as an input", line="STEP += 1", attempts=1,
    ),
    Case(
        "KeepsFirst", ROWS, B, R.VERIFICATION_FAILED, ["changes the module", "memory"],
        "as an input", line="self.kept[x.shape] = x.mean()", attempts=1,
    ),
    Case(
        "KeepsInDefault", ROWS, B, R.VERIFICATION_FAILED,
        ["remembers its earlier calls", "default argument totals"],
        "Take totals as an input of forward and return its new value",
        line='totals["sum"] =', attempts=1,
    ),
    Case(
        "Permutes", [tensor("x", "b", 12)], B, R.VERIFICATION_FAILED, ["draws random numbers"],
        "as an input", line="torch.randperm", attempts=1,
    ),
    Case(
        "Remembers", ROWS, B, R.VERIFICATION_FAILED, ["remembers its earlier calls", "last"],
        "as an input", line="self.last = y.detach()", attempts=1,
    ),
]  # fmt: skip
OF_OPERATORS = [
    Case(
        "Singular", [tensor("x", "b", 6, 6)], B, R.UNSUPPORTED_OPERATOR, ["aten::linalg_svd"],
        "--skeleton", line="torch.linalg.svd",
        attempts=1,
    ),
    Case(
        "Factor", [tensor("x", "n", "k")], {"n": (2, 8), "k": (2, 8)}, R.UNSUPPORTED_OPERATOR,
        ["aten::linalg_qr"], "constant size", line="torch.linalg.qr",
        attempts=1,
    ),
    Case(
        "Eigen", [tensor("x", "b", 4, 4)], B, R.UNSUPPORTED_OPERATOR, ["aten::linalg_eigvals"],
        "--skeleton", line="torch.linalg.eigvals",
        attempts=1,
    ),
    Case(
        "LeastSquares", [tensor("x", "b", 60, 30), tensor("y", "b", 60, 1)], B,
        R.UNSUPPORTED_OPERATOR, ["aten::linalg_lstsq"], "--skeleton", line="torch.linalg.lstsq",
        attempts=1,
    ),
    Case(
        "ReadsExponents", ROWS, B, R.UNSUPPORTED_OPERATOR, ["aten::view.dtype"],
        "ONNX cannot read the bits of one dtype as another", line="x.view(torch.int32)",
        attempts=4,
    ),
    Case(
        "Smooths", ROWS, B, R.VERIFICATION_FAILED,
        ["aten.gelu.default, which the plugin wrong_gelu translates"],
        "The plugin wrong_gelu translates aten.gelu.default", line="gelu(x)",
        spec={"export": {"plugins": ["wrong_gelu"]}}, mended={"export": {}}, attempts=1,
    ),
    Case(
        "Cancels", [tensor("x", "b", 64)], B, R.ILL_CONDITIONED, ["change with rounding"],
        "differences of large numbers", attempts=1,
    ),
]  # fmt: skip
CASES = [*OF_DECLARATIONS, *OF_CODE, *OF_STATE_AND_CHANCE, *OF_OPERATORS, *OF_UNFIT]
