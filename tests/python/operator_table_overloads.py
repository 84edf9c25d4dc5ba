"""Lines of the operator table for overloads that a trace of usual code never records: those with numbers, and those that the functions of
torch.nn.functional hide. Called as operators, or from TorchScript."""

import torch

from operator_case import ALL, BINARY, FLOATS, MATRIX, NUMBERS, Operator, t, unary_cases

A = torch.ops.aten
LINE = ((t(2, 3, 11),), (t(1, 5, 8, layout="transposed"),))
PLANE = ((t(2, 3, 9, 11),), (t(1, 5, 8, 8, layout="channels_last"),))
SPACE = ((t(2, 3, 5, 6, 7),),)
CELL = ((t(2, 3), t(2, 4), t(16, 3), t(16, 4)),)
WIDE = FLOATS[:2]

WITH_NUMBERS = [
    ("add", A.add.Scalar, ALL), ("sub", A.sub.Scalar, NUMBERS), ("mul", A.mul.Scalar, ALL), ("div", A.div.Scalar, ALL), ("rsub", A.rsub.Scalar, NUMBERS),
    ("eq", A.eq.Scalar, ALL), ("ne", A.ne.Scalar, ALL), ("lt", A.lt.Scalar, ALL), ("le", A.le.Scalar, ALL), ("gt", A.gt.Scalar, ALL), ("ge", A.ge.Scalar, ALL),
    ("floor_divide", A.floor_divide.Scalar, NUMBERS), ("clamp_max", A.clamp_max, NUMBERS), ("clamp_min", A.clamp_min, NUMBERS),
]
ARRAYS = [
    ("min_dim", lambda x: A.min.dim(x, -1)[0]), ("constant_pad_nd", lambda x: A.constant_pad_nd(x, [1, 2, 0, -1], 3)),
    ("narrow_tensor", lambda x: A.narrow.Tensor(x, -1, torch.tensor(1), 2)), ("repeat_interleave", lambda x: A.repeat_interleave.self_int(x, 2, -1)),
    ("repeat_by_number", lambda x: torch.repeat_interleave(x, torch.tensor(2), -1)), ("repeat_each", lambda x: torch.repeat_interleave(x, torch.arange(x.shape[-1]), -1)),
    ("repeat_all", lambda x: torch.repeat_interleave(x, torch.tensor([3]))), ("split_tensor", lambda x: A.split.Tensor(x, 2, -1)[1]), ("split_sizes", lambda x: A.split.sizes(x, [1, x.shape[-1] - 1], -1)[1]),
    ("norm_dim", lambda x: A.norm.ScalarOpt_dim(x, 3, [-1], True)), ("frobenius_norm", lambda x: A.frobenius_norm.dim(x, [0, -1])),
]
SPATIAL = [
    ("adaptive_avg_pool1d", lambda x: A.adaptive_avg_pool1d(x, [4]), LINE), ("adaptive_avg_pool3d", lambda x: A.adaptive_avg_pool3d(x, [2, 3, 4]), SPACE),
    ("adaptive_max_pool1d", lambda x: A.adaptive_max_pool1d(x, [4])[0], LINE), ("adaptive_max_pool3d", lambda x: A.adaptive_max_pool3d(x, [2, 3, 4])[0], SPACE),
    ("reflection_pad1d", lambda x: A.reflection_pad1d(x, [2, 1]), LINE), ("reflection_pad2d_alone", lambda x: A.reflection_pad2d(x, [1, 2, 0, 3]), PLANE),
    ("replication_pad1d", lambda x: A.replication_pad1d(x, [2, 1]), LINE), ("replication_pad2d_alone", lambda x: A.replication_pad2d(x, [1, 2, 0, 3]), PLANE),
    ("replication_pad3d", lambda x: A.replication_pad3d(x, [1, 0, 2, 1, 0, 3]), SPACE),
]
RESIZES = [
    (f"upsample_{kind}", getattr(A, f"upsample_{kind}"), size, corners, cases)
    for kind, size, corners, cases in (("nearest1d", [7], [], LINE), ("nearest2d", [7, 5], [], PLANE), ("nearest3d", [7, 5, 4], [], SPACE),
                                       ("linear1d", [7], [False], LINE), ("bilinear2d", [7, 5], [True], PLANE), ("trilinear3d", [7, 5, 4], [False], SPACE))
]


def _resize(f, size: list[int], corners: list[bool]):
    return lambda x: f.default(x, size, *corners)


def _scale(f, size: list[int], corners: list[bool]):
    return lambda x: f.vec(x, None, *corners, [1.5] * len(size))


def _script(parameters: str, expression: str):
    return torch.jit.CompilationUnit(f"def scripted({parameters}):\n    return {expression}\n").scripted


SCRIPTED = [
    ("max_other", "x, y", "torch.max(x, y)", BINARY, ALL), ("min_other", "x, y", "torch.min(x, y)", BINARY, ALL), ("to_other", "x, y", "x.to(y)", BINARY, ALL),
    ("rsub_tensor", "x, y", "torch.rsub(x, y, alpha=2)", BINARY, NUMBERS),
    ("split_list", "x", "x.split([1, x.size(-1) - 1], -1)[1]", MATRIX, ALL), ("halves", "x", "torch.cat(x.chunk(4, -1)[1:], -1)", MATRIX[:4], ALL),
    ("div_in_place", "x", "x.clone().div_(2)", unary_cases(), FLOATS), ("to_device", "x", "x.to(x.device)", unary_cases(), ALL),
    ("expand_as", "x, y", "x.expand_as(y)", ((t(3, 1), t(3, 4)), (t(4), t(2, 3, 4)), (t(), t(0, 2))), ALL), ("t", "x", "x.t()", ((t(3, 5),), (t(4, 3, layout="transposed"),), (t(5),)), ALL),
    ("view", "x", "x.view([x.size(0), -1, 1])", ((t(3, 4),), (t(2, 3, 5),)), ALL), ("unflatten", "x", "x.unflatten(-1, [2, -1])", ((t(3, 4),), (t(2, 3, 6),)), ALL),
    ("meshgrid", "x, y", "torch.meshgrid([x, y])[1] + torch.meshgrid([x, y])[0]", ((t(3), t(4)), (t(2), t(1))), NUMBERS),
    ("lstm_cell_state", "x, h, v, w", "torch.lstm_cell(x, [h, h + 1], v, w)[1]", CELL, WIDE), ("gru_cell_alone", "x, h, v, w", "torch.gru_cell(x, h, v[:12], w[:12])", CELL, WIDE),
]

TABLE = [
    *(Operator(f"{name}_whole", lambda x, f=f: f(x, 2), unary_cases(), dtypes) for name, f, dtypes in WITH_NUMBERS),
    *(Operator(f"{name}_real", lambda x, f=f: f(x, 1.5), unary_cases(), dtypes) for name, f, dtypes in WITH_NUMBERS),
    Operator("pow_whole", lambda x: A.pow.Tensor_Scalar(x, 2), unary_cases(), NUMBERS),
    Operator("pow_real", lambda x: A.pow.Tensor_Scalar(x, 1.5), unary_cases(1.0, 4.0), NUMBERS),
    *(Operator(name, f, MATRIX[:4], FLOATS if "norm" in name else NUMBERS) for name, f in ARRAYS),
    *(Operator(name, f, cases) for name, f, cases in SPATIAL),
    *(Operator(f"{name}_size", _resize(f, size, corners), cases, WIDE) for name, f, size, corners, cases in RESIZES),
    *(Operator(f"{name}_scale", _scale(f, size, corners), cases, WIDE) for name, f, size, corners, cases in RESIZES),
    *(Operator(name, lambda *x, f=_script(parameters, expression): f(*x), cases, dtypes) for name, parameters, expression, cases, dtypes in SCRIPTED),
    Operator("squeeze_all", torch.squeeze, unary_cases(), ALL, dynamic=False),  # the rank depends on whether the batch is 1
    Operator("convolution_deprecated", lambda x, w: A._convolution.deprecated(x, w, None, [2, 1], [1, 0], [1, 1], False, [0, 0], 1, False, False, True),
             ((t(2, 3, 9, 11), t(4, 3, 3, 3)),)),
]
