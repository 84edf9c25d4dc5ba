"""The operator table: one line an operator, with the shapes it is tried with. test_operators.py compares each with eager.

An entry's function is traced with the inputs of a case and compiled, so what is tested is the whole way: lowering, conversion,
optimization, kernels. Dtypes are all of a network's that eager PyTorch takes, which is found out when the tests are collected.
"""

import torch
import torch.nn.functional as F

import operator_table_arrays
import operator_table_counted
import operator_table_forms
import operator_table_networks
import operator_table_overloads
import operator_table_spectra
import operator_table_vision
from operator_case import BINARY, IMAGE, MATRIX, POSITIVE, Operator, t, unary_cases

ACTIVATIONS = [
    ("relu", torch.relu), ("relu6", F.relu6), ("sigmoid", torch.sigmoid), ("tanh", torch.tanh),
    ("leaky_relu", lambda x: F.leaky_relu(x, 0.1)), ("elu", lambda x: F.elu(x, 1.3)), ("selu", F.selu),
    ("celu", lambda x: F.celu(x, 0.7)), ("gelu", F.gelu), ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh")),
    ("silu", F.silu), ("hardswish", F.hardswish), ("hardsigmoid", F.hardsigmoid),
    ("hardtanh", lambda x: F.hardtanh(x, -0.5, 0.7)), ("softplus", lambda x: F.softplus(x, 2.0, 3.0)),
    ("softsign", F.softsign), ("mish", F.mish), ("logsigmoid", F.logsigmoid),
    ("threshold", lambda x: F.threshold(x, 0.3, -2.0)), ("hardshrink", lambda x: F.hardshrink(x, 0.4)),
    ("softshrink", lambda x: F.softshrink(x, 0.4)), ("tanhshrink", F.tanhshrink),
]
UNARY = [
    ("abs", torch.abs), ("neg", torch.neg), ("exp", torch.exp), ("expm1", torch.expm1),
    ("sin", torch.sin), ("cos", torch.cos), ("tan", torch.tan), ("sinh", torch.sinh), ("cosh", torch.cosh),
    ("atan", torch.atan), ("asinh", torch.asinh), ("erf", torch.erf), ("erfc", torch.erfc), ("sign", torch.sign),
    ("floor", torch.floor), ("ceil", torch.ceil), ("round", torch.round), ("trunc", torch.trunc),
    ("square", torch.square), ("isnan", torch.isnan), ("isinf", torch.isinf), ("isfinite", torch.isfinite),
    ("logical_not", torch.logical_not), ("bitwise_not", torch.bitwise_not), ("reciprocal", torch.reciprocal),
    ("exp2", torch.exp2), ("frac", torch.frac),
]
POSITIVE_UNARY = [("log", torch.log), ("log2", torch.log2), ("log10", torch.log10), ("log1p", torch.log1p),
                  ("sqrt", torch.sqrt), ("rsqrt", torch.rsqrt), ("acosh", torch.acosh), ("lgamma", torch.lgamma)]
SMALL_UNARY = [("asin", torch.asin), ("acos", torch.acos), ("atanh", torch.atanh)]

ELEMENTWISE = [
    ("add", torch.add), ("add_alpha", lambda a, b: torch.add(a, b, alpha=2)), ("sub", torch.sub),
    ("rsub", lambda a, b: torch.rsub(a, b, alpha=2)), ("mul", torch.mul), ("maximum", torch.maximum),
    ("minimum", torch.minimum), ("eq", torch.eq), ("ne", torch.ne), ("lt", torch.lt), ("le", torch.le),
    ("gt", torch.gt), ("ge", torch.ge), ("logical_and", torch.logical_and), ("logical_or", torch.logical_or),
    ("logical_xor", torch.logical_xor), ("bitwise_and", torch.bitwise_and),
    ("bitwise_or", torch.bitwise_or), ("bitwise_xor", torch.bitwise_xor),
    ("atan2", torch.atan2), ("where", lambda a, b: torch.where(a > 0, a, b)),
    ("mixed_dtypes", lambda a, b: a + b.to(torch.float32) * 2), ("scalars", lambda a, b: (a + 2) * 3 - b),
    ("float_scalar", lambda a, b: a * 2.5 + b),
]
DIVISIONS = [
    ("div", torch.div), ("div_floor", lambda a, b: torch.div(a, b, rounding_mode="floor")),
    ("div_trunc", lambda a, b: torch.div(a, b, rounding_mode="trunc")), ("floor_divide", torch.floor_divide),
    ("remainder", torch.remainder), ("fmod", torch.fmod), ("pow", torch.pow),
]


def _conv(transposed: bool, dims: int, groups: int = 1, **options):
    def run(x, w, b):
        f = getattr(F, f"conv{'_transpose' if transposed else ''}{dims}d")
        return f(x, w, b, groups=groups, **options)

    return run


CONVOLUTIONS = [
    Operator("conv2d", _conv(False, 2), ((t(2, 3, 9, 11), t(5, 3, 3, 3), t(5)), (t(1, 3, 8, 8, layout="channels_last"), t(17, 3, 3, 3), t(17)),
                                         (t(0, 3, 9, 9), t(4, 3, 3, 3), t(4)))),
    Operator("conv2d_stride_padding_dilation", _conv(False, 2, stride=(2, 1), padding=(1, 2), dilation=(1, 2)), ((t(2, 4, 10, 13), t(6, 4, 3, 3), t(6)),)),
    Operator("conv2d_groups", _conv(False, 2, groups=2, padding=1), ((t(2, 4, 7, 7), t(6, 2, 3, 3), t(6)),)),
    Operator("conv2d_depthwise", _conv(False, 2, groups=19, padding=2, stride=2), ((t(1, 19, 11, 11), t(19, 1, 5, 5), t(19)),)),
    Operator("conv2d_depthwise_multiplier", _conv(False, 2, groups=5), ((t(1, 5, 6, 6), t(10, 1, 3, 3), t(10)),)),
    Operator("conv2d_same", _conv(False, 2, padding="same"), ((t(1, 3, 7, 8), t(4, 3, 4, 3), t(4)),)),
    Operator("conv1d", _conv(False, 1, padding=1), ((t(2, 3, 16), t(5, 3, 3), t(5)), (t(3, 16), t(5, 3, 3), t(5)))),
    Operator("conv3d", _conv(False, 3, padding=1, stride=2), ((t(1, 2, 5, 6, 7), t(3, 2, 3, 3, 3), t(3)),)),
    Operator("conv_transpose1d", _conv(True, 1, stride=2, padding=1, output_padding=1), ((t(2, 3, 8), t(3, 5, 3), t(5)),)),
    Operator("conv_transpose2d", _conv(True, 2, stride=2, padding=1, output_padding=1), ((t(2, 4, 5, 6), t(4, 6, 3, 3), t(6)),)),
    Operator("conv_transpose2d_groups", _conv(True, 2, groups=2, dilation=2), ((t(1, 4, 5, 6), t(4, 3, 3, 3), t(6)),)),
    Operator("conv_transpose3d", _conv(True, 3, stride=2), ((t(1, 2, 3, 4, 3), t(2, 3, 2, 2, 2), t(3)),)),
]

POOLINGS = [
    ("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1)), ("max_pool2d_ceil", lambda x: F.max_pool2d(x, 2, 2, ceil_mode=True)),
    ("max_pool2d_dilation", lambda x: F.max_pool2d(x, 2, 1, dilation=2)), ("avg_pool2d", lambda x: F.avg_pool2d(x, 3, 2, 1)),
    ("avg_pool2d_exclude", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)),
    ("avg_pool2d_ceil", lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)),
    ("avg_pool2d_divisor", lambda x: F.avg_pool2d(x, 2, divisor_override=3)),
    ("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (3, 5))), ("adaptive_avg_pool2d_1", lambda x: F.adaptive_avg_pool2d(x, 1)),
    ("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, (2, 3))),
    ("max_pool1d", lambda x: F.max_pool1d(x.flatten(2), 3, 2)), ("avg_pool1d", lambda x: F.avg_pool1d(x.flatten(2), 3, 2)),
    ("max_pool3d", lambda x: F.max_pool3d(x.unsqueeze(1), 2)), ("avg_pool3d", lambda x: F.avg_pool3d(x.unsqueeze(1), 2)),
    ("upsample_nearest", lambda x: F.interpolate(x, scale_factor=2, mode="nearest")),
    ("upsample_nearest_size", lambda x: F.interpolate(x, size=(5, 13), mode="nearest")),
    ("upsample_nearest_exact", lambda x: F.interpolate(x, size=(5, 13), mode="nearest-exact")),
    ("upsample_bilinear", lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear")),
    ("upsample_bilinear_corners", lambda x: F.interpolate(x, size=(13, 4), mode="bilinear", align_corners=True)),
    ("upsample_bicubic", lambda x: F.interpolate(x, size=(13, 4), mode="bicubic")),
    ("reflection_pad2d", lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect")), ("replication_pad2d", lambda x: F.pad(x, (1, 2, 3, 0), mode="replicate")),
    ("circular_pad2d", lambda x: F.pad(x, (1, 2, 3, 0), mode="circular")), ("pixel_shuffle", lambda x: F.pixel_shuffle(torch.cat([x] * 4, 1), 2)),
    ("group_norm", lambda x: F.group_norm(torch.cat([x, x], 1), 2)), ("instance_norm", lambda x: F.instance_norm(x)),
    ("channel_mean", lambda x: x.mean((2, 3))),
]
REDUCTIONS = [
    ("sum", lambda x: x.sum()), ("sum_dim", lambda x: x.sum(-1)), ("sum_dtype", lambda x: x.sum(0, dtype=torch.float64)),
    ("mean", lambda x: x.mean()), ("mean_dim", lambda x: x.mean(-1, keepdim=True)),
    ("prod", lambda x: x.prod()), ("prod_dim", lambda x: x.prod(-1)), ("any", lambda x: x.any(-1)), ("all", lambda x: x.all(-1)),
    ("var", lambda x: x.var(-1)), ("std_biased", lambda x: x.std(-1, unbiased=False)), ("norm", lambda x: x.norm(dim=-1)),
    ("logsumexp", lambda x: x.logsumexp(-1)), ("softmax", lambda x: x.softmax(-1)), ("softmax_0", lambda x: x.softmax(0)),
    ("log_softmax", lambda x: x.log_softmax(-1)),
]
NON_EMPTY = [
    ("amax", lambda x: x.amax(-1)), ("amin", lambda x: x.amin(-1)), ("max", lambda x: x.max()), ("min", lambda x: x.min()),
    ("max_dim", lambda x: x.max(-1).values), ("argmax", lambda x: x.argmax(-1)), ("argmin", lambda x: x.argmin(-1)),
    ("topk", lambda x: x.topk(2).values), ("layer_norm", lambda x: F.layer_norm(x, x.shape[-1:])),
]
MOVEMENTS = [
    ("flatten", lambda x: x.flatten(1)), ("reshape", lambda x: x.reshape(-1)), ("permute", lambda x: x.permute(*reversed(range(x.dim())))),
    ("transpose", lambda x: x.transpose(0, -1)), ("unsqueeze", lambda x: x.unsqueeze(-1)), ("squeeze", lambda x: x.unsqueeze(1).squeeze(1)),
    ("select", lambda x: x.select(-1, -1)), ("slice", lambda x: x[..., 1:3]), ("slice_step", lambda x: x[..., ::2]), ("narrow", lambda x: x.narrow(-1, 1, 2)),
    ("chunk", lambda x: torch.cat(x.chunk(2, -1), -1)), ("split", lambda x: torch.cat(x.split([1, x.shape[-1] - 1], -1)[::-1], -1)),
    ("unbind", lambda x: x.unbind(-1)[0]), ("stack", lambda x: torch.stack([x, x], 1)), ("cat", lambda x: torch.cat([x, x], -1)),
    ("expand", lambda x: x.unsqueeze(0).expand(3, *x.shape)), ("repeat", lambda x: x.repeat(*([2] * x.dim()))), ("flip", lambda x: x.flip(-1)),
    ("roll", lambda x: x.roll(1, -1)), ("roll_flat", lambda x: x.roll(3)), ("roll_axes", lambda x: x.roll((1, -2, 5), (0, -1, 0))),
    ("index_select", lambda x: x.index_select(-1, torch.tensor([1, 0]))),
    ("constant_pad", lambda x: F.pad(x, (1, 2), value=1.0)), ("to_float64", lambda x: x.to(torch.float64)), ("to_int64", lambda x: x.to(torch.int64)),
    ("to_bool", lambda x: x.to(torch.bool)), ("clone", lambda x: x.clone() + x), ("tile", lambda x: x.tile(2)), ("masked_fill", lambda x: x.masked_fill(x > 0, 0)),
    ("clamp", lambda x: x.clamp(-1, 1)), ("zeros_like", lambda x: torch.zeros_like(x) + x),
]

TABLE: list[Operator] = [
    *(Operator(name, f, unary_cases()) for name, f in ACTIVATIONS + UNARY),
    *(Operator(name, f, unary_cases(1.0, 6.0)) for name, f in POSITIVE_UNARY),
    *(Operator(name, f, unary_cases(-0.9, 0.9)) for name, f in SMALL_UNARY),
    *(Operator(name, f, BINARY) for name, f in ELEMENTWISE),
    *(Operator(name, f, POSITIVE) for name, f in DIVISIONS),
    *CONVOLUTIONS,
    *(Operator(name, f, IMAGE) for name, f in POOLINGS),
    *(Operator(name, f, MATRIX) for name, f in REDUCTIONS),
    *(Operator(name, f, MATRIX[:4]) for name, f in NON_EMPTY),
    *(Operator(name, f, MATRIX) for name, f in MOVEMENTS),
    Operator("prelu", lambda x, w: F.prelu(x, w), ((t(2, 3, 4, 5), t(3)), (t(2, 3), t(1)))),
    Operator("batch_norm", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b),
             ((t(2, 3, 4, 5), t(3), t(3, low=0.5), t(3), t(3)), (t(4, 3), t(3), t(3, low=0.5), t(3), t(3)))),
    Operator("linear", lambda x, w, b: F.linear(x, w, b), ((t(3, 5), t(7, 5), t(7)), (t(5), t(7, 5), t(7)), (t(2, 3, 5), t(7, 5), t(7)), (t(0, 5), t(7, 5), t(7)))),
    Operator("matmul", torch.matmul, ((t(3, 5), t(5, 4)), (t(5), t(5)), (t(2, 3, 5), t(5)), (t(5), t(2, 5, 3)), (t(2, 1, 3, 5), t(4, 5, 2)), (t(3, 0), t(0, 4)),
                                      (t(5, 3, layout="transposed"), t(3, 33)))),
    Operator("addmm", lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), ((t(3, 4), t(3, 5), t(5, 4)), (t(4), t(3, 5), t(5, 4)))),
    Operator("bmm", torch.bmm, ((t(2, 3, 5), t(2, 5, 4)),)),
    Operator("baddbmm", lambda c, a, b: torch.baddbmm(c, a, b, beta=0.5), ((t(2, 3, 4), t(2, 3, 5), t(2, 5, 4)),)),
    Operator("embedding", lambda i, w: F.embedding(i, w), ((t(2, 3, low=0, high=7, dtype=torch.int64), t(7, 5)),)),
    Operator("gather", lambda x, i: x.gather(1, i), ((t(3, 5), t(3, 2, low=0, high=5, dtype=torch.int64)),)),
    Operator("where_scalar", lambda c, x: torch.where(c, x, 0.0), ((t(2, 3, dtype=torch.bool), t(2, 3)),)),
    Operator("attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v), ((t(2, 2, 5, 8), t(2, 2, 7, 8), t(2, 2, 7, 8)),)),
    Operator("attention_causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3), ((t(2, 2, 5, 8), t(2, 2, 5, 8), t(2, 2, 5, 8)),)),
    *operator_table_arrays.TABLE,
    *operator_table_counted.TABLE,
    *operator_table_forms.TABLE,
    *operator_table_networks.TABLE,
    *operator_table_overloads.TABLE,
    *operator_table_spectra.TABLE,
    *operator_table_vision.TABLE,
]
