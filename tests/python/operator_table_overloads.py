"""Lines of the operator table for overloads that a trace of usual code never records: those with numbers, and those that the functions of
torch.nn.functional hide. Called as operators, or from TorchScript."""

import torch

from operator_case import BINARY, MATRIX, Operator, t, unary_cases
from torch_release import padding_may_leave_nothing

A = torch.ops.aten
LINE = ((t(2, 3, 11),), (t(1, 5, 8, layout="transposed"),))
PLANE = ((t(2, 3, 9, 11),), (t(1, 5, 8, 8, layout="channels_last"),))
SPACE = ((t(2, 3, 5, 6, 7),),)
CELL = ((t(2, 3), t(2, 4), t(16, 3), t(16, 4)),)
# A batch of 1 loses its one row, where PyTorch takes that.
PADS = [1, 2, 0, -1] if padding_may_leave_nothing() else [1, 2, 1, -1]

WITH_NUMBERS = [
    ("add", A.add.Scalar), ("sub", A.sub.Scalar), ("mul", A.mul.Scalar), ("div", A.div.Scalar), ("rsub", A.rsub.Scalar),
    ("eq", A.eq.Scalar), ("ne", A.ne.Scalar), ("lt", A.lt.Scalar), ("le", A.le.Scalar), ("gt", A.gt.Scalar), ("ge", A.ge.Scalar),
    ("floor_divide", A.floor_divide.Scalar), ("clamp_max", A.clamp_max), ("clamp_min", A.clamp_min),
]
ARRAYS = [
    ("min_dim", lambda x: A.min.dim(x, -1)[0]), ("constant_pad_nd", lambda x: A.constant_pad_nd(x, PADS, 3)),
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
    ("lift", "x", "torch.cat([torch.ops.aten.lift(x), torch.ops.aten.lift_fresh(x)], -1)", MATRIX), ("reshape_alias", "x", "torch.ops.aten._reshape_alias(x, [x.size(0), 2, 3], [6, 3, 1])", ((t(4, 6),),)),
    ("empty", "x", "x + torch.empty([x.size(0), 1], dtype=x.dtype).fill_(2)", MATRIX[:1]), ("empty_like", "x", "torch.empty_like(x).fill_(2)", MATRIX),
    ("new_empty", "x", "x.new_empty([x.size(0), 2]).fill_(2)", MATRIX), ("zeros", "x", "torch.cat([x, torch.zeros([x.size(0), 2], dtype=x.dtype)], 1)", MATRIX[:1]),
    ("ones", "x", "torch.cat([x, torch.ones([x.size(0), 2], dtype=x.dtype)], 1)", MATRIX[:1]), ("full", "x", "torch.cat([x, torch.full([x.size(0), 2], 3, dtype=x.dtype)], 1)", MATRIX[:1]),
    ("scalar_tensor", "x", "torch.where(x > 0, x, torch.scalar_tensor(2, dtype=x.dtype))", MATRIX), ("eye_wide", "x", "torch.eye(x.size(0), 5, dtype=x.dtype) + x", MATRIX[:1]),
    ("arange_steps", "x", "x + torch.arange(0, 2 * x.size(0), 2, dtype=x.dtype).unsqueeze(-1)", MATRIX[:1]),
    ("native_group_norm", "x", "torch.native_group_norm(x, None, None, x.size(0), 4, 48, 2, 1e-5)[0]", ((t(2, 4, 6, 8),),)),
    ("max_other", "x, y", "torch.max(x, y)", BINARY), ("min_other", "x, y", "torch.min(x, y)", BINARY), ("to_other", "x, y", "x.to(y)", BINARY),
    ("as_tensor", "x", "torch.cat([torch.as_tensor(x), torch.as_tensor(x * 2, dtype=x.dtype, device=x.device)], -1)", MATRIX),
    ("as_tensor_long", "x", "torch.as_tensor(x, dtype=torch.int64)", MATRIX),
    ("rsub_tensor", "x, y", "torch.rsub(x, y, alpha=2)", BINARY),
    ("split_list", "x", "x.split([1, x.size(-1) - 1], -1)[1]", MATRIX), ("halves", "x", "torch.cat(x.chunk(4, -1)[1:], -1)", MATRIX[:4]),
    ("div_in_place", "x", "x.clone().div_(2)", unary_cases()), ("to_device", "x", "x.to(x.device)", unary_cases()),
    ("expand_as", "x, y", "x.expand_as(y)", ((t(3, 1), t(3, 4)), (t(4), t(2, 3, 4)), (t(), t(0, 2)))), ("t", "x", "x.t()", ((t(3, 5),), (t(4, 3, layout="transposed"),), (t(5),))),
    ("view", "x", "x.view([x.size(0), -1, 1])", ((t(3, 4),), (t(2, 3, 5),))), ("unflatten", "x", "x.unflatten(-1, [2, -1])", ((t(3, 4),), (t(2, 3, 6),))),
    ("meshgrid", "x, y", "torch.meshgrid([x, y])[1] + torch.meshgrid([x, y])[0]", ((t(3), t(4)), (t(2), t(1)))),
    ("lstm_cell_state", "x, h, v, w", "torch.lstm_cell(x, [h, h + 1], v, w)[1]", CELL), ("gru_cell_alone", "x, h, v, w", "torch.gru_cell(x, h, v[:12], w[:12])", CELL),
]

TABLE = [
    *(Operator(f"{name}_whole", lambda x, f=f: f(x, 2), unary_cases()) for name, f in WITH_NUMBERS),
    *(Operator(f"{name}_real", lambda x, f=f: f(x, 1.5), unary_cases()) for name, f in WITH_NUMBERS),
    Operator("pow_whole", lambda x: A.pow.Tensor_Scalar(x, 2), unary_cases()),
    Operator("pow_real", lambda x: A.pow.Tensor_Scalar(x, 1.5), unary_cases(1.0, 4.0)),
    *(Operator(name, f, MATRIX[:4]) for name, f in ARRAYS),
    *(Operator(name, f, cases) for name, f, cases in SPATIAL),
    *(Operator(f"{name}_size", _resize(f, size, corners), cases) for name, f, size, corners, cases in RESIZES),
    *(Operator(f"{name}_scale", _scale(f, size, corners), cases) for name, f, size, corners, cases in RESIZES),
    *(Operator(name, lambda *x, f=_script(parameters, expression): f(*x), cases) for name, parameters, expression, cases in SCRIPTED),
    Operator("squeeze_all", torch.squeeze, unary_cases(), fixed="whether the batch is 1 decides the rank of the result"),
    Operator("convolution_deprecated", lambda x, w: A._convolution.deprecated(x, w, None, [2, 1], [1, 0], [1, 1], False, [0, 0], 1, False, False, True),
             ((t(2, 3, 9, 11), t(4, 3, 3, 3)),)),
]
