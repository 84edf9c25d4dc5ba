"""Lines of the operator table for operators and overloads by their own names: aliases, which PyTorch replaces where it compiles, and what
its functions call within. One line each."""

import torch

from operator_case import BINARY, MATRIX, POSITIVE, Operator, t, unary_cases
from operator_form import form

INDEX = {"dtype": torch.int64, "low": 0}
ANY, SMALL, LARGE = unary_cases()[:6], unary_cases(-0.9, 0.9)[:3], unary_cases(1.0, 6.0)[:3]
PAIRS, DIVISORS = BINARY[:4], POSITIVE[:4]
ROWS, VECTORS, PLANES, MATRICES = MATRIX[:4], ((t(5), t(5)),), ((t(2, 4, 6, 8),),), ((t(3, 5), t(5, 4)),)
LINE, SPACE = ((t(2, 4, 11),),), ((t(2, 4, 5, 6, 7),),)
ROW_PAIR = ((t(3, 5), t(3, 5)), (t(5), t(2, 5)))
BATCH_NORM = ((t(2, 3, 4, 5), t(3), t(3), t(3), t(3, low=0.5)),)

UNARY = "absolute arctan arcsinh negative positive sgn fix special_erf special_erfc special_exp2 special_expit special_expm1 special_round atleast_1d " \
        "atleast_2d cpu _cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short nan_to_num conj _conj conj_physical real".split()
BINARIES = "arctan2 multiply.Tensor subtract.Tensor rsub.Tensor greater.Tensor greater_equal.Tensor less.Tensor less_equal.Tensor not_equal.Tensor clamp_max.Tensor clamp_min.Tensor " \
           "special_xlogy type_as ldexp.Tensor".split()
SCALARS = "multiply.Scalar subtract.Scalar divide.Scalar true_divide.Scalar greater.Scalar greater_equal.Scalar less.Scalar less_equal.Scalar not_equal.Scalar fmod.Scalar fill.Scalar " \
          "full_like".split()
BITS = "__and__ __or__ __xor__ bitwise_and bitwise_or bitwise_xor".split()

# form() takes these.
OF_ROWS = [
    ("all", "x"), ("any", "x"), ("all.dims", "x", [0, -1]), ("any.dims", "x", [-1], True), ("_aminmax", "x"), ("_aminmax.dim", "x", -1), ("argsort", "x", -1, True), ("sort", "x", 0),
    ("sort.stable", "x", True, -1, True), ("tril", "x", 1), ("triu", "x", -1), ("count_nonzero", "x", 0), ("count_nonzero.dim_IntList", "x", [0, -1]), ("concat", ["x", "x"], -1),
    ("concatenate", ["x", "x"], 0), ("_stack", ["x", "x"], 1), ("moveaxis.int", "x", 0, -1), ("movedim.int", "x", -1, 0), ("moveaxis.intlist", "x", [0, 1], [1, 0]),
    ("movedim.intlist", "x", [1, 0], [0, 1]), ("swapaxes", "x", 0, -1), ("swapdims", "x", 1, 0), ("mT", "x"), ("adjoint", "x"), ("numpy_T", "x"),
    ("_unsafe_view", "x", [-1]), ("new_full", "x", [2, 3], 4), ("new_ones", "x", [2, 3]), ("new_zeros", "x", [2]), ("_to_copy", "x", 6), ("to.dtype_layout", "x", 7),
    ("to.prim_dtype", "x", 6), ("_autocast_to_full_precision", "x", True, True),
    ("_autocast_to_reduced_precision", "x", True, True, 15, 15), ("to.prim_other", "x"), ("tensor_split.sections", "x", 3, -1), ("unsafe_split.Tensor", "x", 2, -1), ("clip", "x", -1, 1), ("split.Tensor", "x", 2, -1),
]
OF_FLOATS = [
    ("std", "x"), ("var", "x", False), ("std.correction", "x", [-1], 2), ("var.correction", "x", [0, 1], None, True), ("std_mean", "x"), ("var_mean", "x", False),
    ("std_mean.dim", "x", [-1]), ("var_mean.dim", "x", [0], False, True), ("std_mean.correction", "x", [-1], 0), ("var_mean.correction", "x", [0], 2), ("norm.Scalar", "x", 3),
    ("norm.ScalarOpt_dtype", "x", 2, 7), ("norm.ScalarOpt_dim_dtype", "x", 1, [-1], True, 7), ("_softmax", "x", -1, False), ("_log_softmax", "x", 0, False), ("_safe_softmax", "x", -1),
    ("special_softmax", "x", -1, 7), ("special_log_softmax", "x", 0), ("special_logsumexp", "x", [-1], True), ("rrelu", "x"), ("native_layer_norm", "x", [5], None, None, 1e-5),
    ("rms_norm", "x", [5], None, 1e-5), ("float_power.Scalar", 2, "x"), ("pow.Scalar", 2, "x"), ("float_power.Tensor_Tensor", "x", "x"), ("lerp.Scalar", "x", "x", 0.3),
    ("div.Scalar_mode", "x", 2, "floor"), ("divide.Scalar_mode", "x", 2, "trunc"),
]
# And the cases, and which dimensions are the batch.
OTHERS = [
    (("arccos", "x"), SMALL), (("arcsin", "x"), SMALL), (("arctanh", "x"), SMALL), (("arccosh", "x"), LARGE), (("special_log1p", "x"), LARGE), (("special_gammaln", "x"), LARGE),
    (("special_logit", "x", 0.1), SMALL), (("divide.Tensor", "x", "y"), DIVISORS), (("true_divide.Tensor", "x", "y"), DIVISORS),
    (("divide.Tensor_mode", "x", "y", "floor"), DIVISORS), (("addcmul", "x", "y", "y", 2), PAIRS), (("addcdiv", "x", "y", "y", 2), DIVISORS),
    (("lerp.Tensor", "x", "y", "y"), PAIRS), (("clamp.Tensor", "x", None, "y"), PAIRS), (("clip.Tensor", "x", "y", "y"), PAIRS), (("addmv", "x", "y", "z", 0.5), ((t(3), t(3, 5), t(5)),), (0, 0, None)),
    (("_addmm_activation", "x", "y", "z", 1, 1, True), ((t(4), t(3, 5), t(5, 4)),), (None, 0, None)), (("mm", "x", "y"), MATRICES), (("linalg_matmul", "x", "y"), MATRICES), (("mv", "x", "y"), ((t(3, 5), t(5)),)),
    (("chain_matmul", ["x", "y"]), MATRICES), (("linalg_multi_dot", ["x", "y"]), MATRICES), (("dot", "x", "y"), VECTORS), (("vdot", "x", "y"), VECTORS), (("ger", "x", "y"), VECTORS),
    (("linalg_vecdot", "x", "y"), PAIRS[:1]), (("cross", "x", "y", 1), ((t(2, 3), t(2, 3)),)), (("cartesian_prod", ["x", "y"]), VECTORS), (("meshgrid.indexing", ["x", "y"], "xy"), VECTORS),
    (("diag", "x", 1), ((t(4, 5),), (t(3),))), (("diagflat", "x", -1), ((t(2, 3),),)), (("broadcast_to", "x", [2, -1, 4]), ((t(3, 1),), (t(1, 4),))), (("expand_copy", "x", [2, -1, 4]), ((t(3, 1),),)),
    (("reshape_as", "x", "y"), ((t(2, 6), t(2, 3, 2)), (t(2, 6), t(3, 4))), (0, 0)), (("view_as", "x", "y"), ((t(2, 6), t(2, 3, 2)), (t(2, 6), t(3, 4))), (0, 0)), (("dsplit.int", "x", 2), ((t(2, 3, 4),),)), (("vsplit.int", "x", 2), ((t(4, 3),),), (1,)),
    (("unsafe_split_with_sizes", "x", [1, 2], -1), ((t(2, 3),),)), (("glu", "x", -1), ((t(3, 4),), (t(2, 3, 6),))), (("take", "x", "y"), ((t(3, 4), t(2, 5, high=12, **INDEX)),), (None, 0)),
    (("take_along_dim", "x", "y", 1), ((t(3, 4), t(3, 2, high=4, **INDEX)),)), (("masked_fill.Tensor", "x", "y", "z"), ((t(3, 4), t(3, 4, dtype=torch.bool), t()),)),
    (("fill.Tensor", "x", "y"), ((t(3, 4), t()), (t(5, 4, layout="transposed"), t()))),
    (("where.Scalar", "x", 1.5, 2), ((t(3, 4, dtype=torch.bool),),)), (("index.Tensor_hacked_twin", "x", ["y"]), ((t(4, 3), t(5, high=4, **INDEX)),), (None, 0)),
    (("_unsafe_index.Tensor", "x", [None, "y"]), ((t(4, 3), t(5, high=3, **INDEX)),)), (("index_put.hacked_twin", "x", ["y"], "z"), ((t(4, 3), t(1, high=4, **INDEX), t(1, 3)),), (None, 0, 0)),
    (("_unsafe_index_put", "x", [None, "y"], "z", True), ((t(4, 3), t(5, high=3, **INDEX), t(4, 5)),)), (("index_fill.int_Tensor", "x", 1, "y", "z"), ((t(4, 3), t(2, high=3, **INDEX), t()),)),
    (("index_reduce", "x", 0, "y", "z", "amax"), ((t(4, 3), t(5, high=4, **INDEX), t(5, 3)),), (None, 0, 0)), (("scatter.value_reduce", "x", 1, "y", 2, "multiply"), ((t(3, 4), t(3, 2, high=4, **INDEX)),)),
    (("stft.center", "x", 16, 4, None, "y", True, "reflect", False, True, False), ((t(2, 90), t(16)),), (0, None)), (("_embedding_bag", "x", "y", "z"), ((t(9, 4), t(5, high=9, **INDEX), t(1, high=1, **INDEX)),), (None, None, None)),
    (("embedding_bag", "x", "y", "z"), ((t(9, 4), t(5, high=9, **INDEX), t(1, high=1, **INDEX)),), (None, None, None)),
    (("_embedding_bag_forward_only", "x", "y", "z", False, 1), ((t(9, 4), t(5, high=9, **INDEX), t(1, high=1, **INDEX)),), (None, None, None)),
    (("select_scatter", "x", "y", 1, 2), ((t(3, 4), t(3)),), (0, 0)), (("slice_scatter", "x", "y", -1, 1, 4, 2), ((t(3, 5), t(3, 2)),)),
    (("squeeze.dims", "x", [1, -1]), ((t(3, 1, 5, 1),), (t(4, 5),))), (("row_stack", ["x", "y"]), ROW_PAIR),
    (("channel_shuffle", "x", 2), PLANES), (("native_channel_shuffle", "x", 2), PLANES), (("pixel_unshuffle", "x", 2), PLANES), (("_pad_circular", "x", [1, 2, 0, 1]), PLANES),
    (("reflection_pad3d", "x", [1, 0, 2, 1, 0, 3]), SPACE), (("max_pool1d_with_indices", "x", [3], [2]), LINE), (("max_pool3d_with_indices", "x", [2, 2, 2], [1, 2, 2]), SPACE),
    (("_adaptive_avg_pool2d", "x", [3, 5]), PLANES), (("_adaptive_avg_pool3d", "x", [3, 5, 2]), SPACE), (("upsample_bicubic2d", "x", [7, 5], False), PLANES),
    (("_upsample_bicubic2d_aa", "x", [3, 5], False), PLANES), (("_upsample_bilinear2d_aa", "x", [3, 5], True), PLANES), (("_upsample_nearest_exact1d", "x", [7]), LINE),
    (("_upsample_nearest_exact1d.vec", "x", None, [1.5]), LINE), (("_upsample_nearest_exact2d", "x", [7, 5]), PLANES), (("_upsample_nearest_exact3d", "x", [7, 5, 4]), SPACE),
    (("_upsample_nearest_exact3d.vec", "x", None, [1.5, 2, 1.2]), SPACE),
    (("native_batch_norm", "x", "y", "z", "v", "w", False, 0.1, 1e-5), BATCH_NORM), (("_native_batch_norm_legit_no_training", "x", "y", "z", "v", "w", 0.1, 1e-5), BATCH_NORM),
    (("conv1d", "x", "y", "z", [2], [1]), ((t(2, 3, 9), t(4, 3, 3), t(4)),)), (("conv1d.padding", "x", "y", None, [1], "same"), ((t(2, 3, 9), t(4, 3, 4)),)),
    (("conv2d", "x", "y", "z", [2, 1], [1, 0]), ((t(2, 3, 9, 8), t(4, 3, 3, 3), t(4)),)), (("conv2d.padding", "x", "y"), ((t(2, 3, 9, 8), t(4, 3, 3, 3)),)),
    (("conv3d", "x", "y"), ((t(1, 3, 5, 4, 6), t(4, 3, 3, 2, 3)),)), (("conv3d.padding", "x", "y", None, [1, 1, 1], "same"), ((t(1, 3, 5, 4, 6), t(4, 3, 3, 2, 3)),)),
    (("conv_tbc", "x", "y", "z", 1), ((t(5, 2, 3), t(3, 3, 4), t(4)),), (1, None, None)), (("convolution", "x", "y", None, [1, 1], [0, 1], [1, 1], True, [0, 0], 1), ((t(2, 3, 6, 5), t(3, 4, 3, 3)),)),
    (("conv_transpose1d", "x", "y", "z", [2]), ((t(2, 3, 6), t(3, 4, 3), t(4)),)),
    (("conv_transpose2d.input", "x", "y"), ((t(2, 3, 6, 5), t(3, 4, 3, 3)),)), (("conv_transpose3d.input", "x", "y"), ((t(1, 3, 3, 4, 3), t(3, 2, 2, 2, 2)),)),
    (("grid_sampler_2d", "x", "y", 0, 1, False), ((t(2, 3, 5, 6), t(2, 4, 4, 2, low=-1.2, high=1.2)),)), (("grid_sampler_3d", "x", "y", 1, 0, True), ((t(1, 2, 3, 4, 5), t(1, 2, 3, 4, 3, low=-1, high=1)),)),
    (("rnn_tanh_cell", "x", "y", "z", "v"), ((t(2, 3), t(2, 4), t(4, 3), t(4, 4)),)), (("rnn_relu_cell", "x", "y", "z", "v"), ((t(2, 3), t(2, 4), t(4, 3), t(4, 4)),)),
]


def _line(arguments, cases, *batch) -> Operator:
    return Operator(f"form_{arguments[0]}", form(*arguments), cases, *batch)


TABLE = [
    *(_line((name, "x"), ANY) for name in UNARY), *(_line((name, "x", "y"), PAIRS) for name in BINARIES), *(_line((name, "x", 2), ANY) for name in SCALARS),
    *(_line((f"{name}.Tensor", "x", "y"), PAIRS) for name in BITS[:3]), *(_line((f"{name}.Scalar", "x", 3), ANY) for name in BITS),
    *(_line((f"bitwise_{way}_shift.Tensor_Scalar", "x", 2), ANY) for way in ("left", "right")),
    *(_line(arguments, ROWS) for arguments in OF_ROWS), *(_line(arguments, ((t(3, 5),), (t(2, 4, 5),))) for arguments in OF_FLOATS),
    *(_line(*line) for line in OTHERS),
]
