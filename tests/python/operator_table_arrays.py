"""Lines of the operator table for functions over whole arrays: other names, arithmetic, rearrangement, indexing, products, statistics."""

import torch
import torch.nn.functional as F

from operator_case import BINARY, MATRIX, POSITIVE, Operator, t, unary_cases

INDEX = {"dtype": torch.int64, "low": 0}
VECTORS = ((t(5), t(5)),)
PAIR = ((t(2, 3, 4), t(2, 3, 4)), (t(2, 3, 4), t(4)), (t(0, 4), t(0, 4)), (t(), t()), (t(5, 4, layout="transposed"), t(5, 4)))
GRIDS = ((t(4, 5),), (t(2, 3, 4),), (t(3, 4, layout="transposed"),), (t(0, 3),))

UNARY = [
    ("absolute", torch.absolute), ("negative", torch.negative), ("arctan", torch.arctan), ("arcsinh", torch.arcsinh),
    ("expit", torch.special.expit), ("gammaln", lambda x: torch.special.gammaln(x.abs() + 1)), ("ravel", torch.ravel), ("sinc", torch.sinc),
    ("rad2deg", torch.rad2deg), ("deg2rad", torch.deg2rad), ("round_decimals", lambda x: torch.round(x, decimals=1)),
    ("round_tens", lambda x: torch.round(x * 9, decimals=-1)), ("isposinf", lambda x: torch.isposinf(x * float("inf"))),
    ("isneginf", lambda x: torch.isneginf(x * float("inf"))), ("isreal", torch.isreal), ("float_power", lambda x: torch.float_power(x, 2)),
    ("logit", lambda x: torch.logit(torch.sigmoid(x))), ("logit_eps", lambda x: torch.logit(x, 0.1)),
    ("isin_scalar", lambda x: torch.isin(x, 2)), ("aminmax", lambda x: torch.stack(torch.aminmax(x + 0))),
    ("nansum", lambda x: torch.nansum(torch.where(x > 1, float("nan"), x), -1)), ("nanmean", lambda x: torch.nanmean(torch.where(x > 1, float("nan"), x))),
    ("shift_left", lambda x: x << 2), ("shift_right", lambda x: x >> 1), ("shift_far", lambda x: torch.stack((x << 7, x >> 7))), ("shift_out", lambda x: torch.stack((x << 40, x >> 64, x << -1, x >> -1))),
    ("one_hot", lambda x: F.one_hot(x.abs() % 4, 5)), ("sum_to_size", lambda x: x.sum_to_size(*[1] * (x.dim() - 2), x.shape[-1])),
    ("cumsum", lambda x: x.cumsum(-1)), ("cumsum_0", lambda x: x.cumsum(0)), ("cumsum_dtype", lambda x: x.cumsum(-1, dtype=torch.float64)),
    ("cumprod", lambda x: x.cumprod(-1)), ("logcumsumexp", lambda x: x.logcumsumexp(-1)),
    ("cummax", lambda x: x.cummax(-1).values), ("cummin_indices", lambda x: x.cummin(0).indices),
]
BINARIES = [
    ("greater", torch.greater), ("less_equal", torch.less_equal), ("not_equal", torch.not_equal), ("arctan2", torch.arctan2),
    ("logaddexp", torch.logaddexp), ("logaddexp2", torch.logaddexp2), ("fmax", lambda a, b: torch.fmax(a / b, b)), ("fmin", torch.fmin),
    ("heaviside", torch.heaviside), ("isclose", lambda a, b: torch.isclose(a, b, rtol=0.3, atol=0.1)),
    ("cosine_similarity", lambda a, b: F.cosine_similarity(a, b, -1)), ("pairwise_distance", lambda a, b: F.pairwise_distance(a, b)),
    ("isin", torch.isin), ("copy", lambda a, b: torch.zeros_like(a + b).copy_(b) + a), ("vstack", lambda a, b: torch.vstack((a, b))),
    ("masked_scatter", lambda a, b: (a + b).masked_scatter(a > b, a + b * 2)),
]
RESHAPES = [
    ("hstack", lambda x: torch.hstack((x, x))), ("dstack", lambda x: torch.dstack((x, x))), ("column_stack", lambda x: torch.column_stack((x, x))),
    ("atleast_3d", torch.atleast_3d), ("fliplr", torch.fliplr), ("flipud", torch.flipud), ("rot90", lambda x: torch.rot90(x, 1)), ("rot90_back", lambda x: torch.rot90(x, -1, (1, 0))),
    ("diagonal", torch.diagonal), ("diagonal_offset", lambda x: torch.diagonal(x, -1, -1, 0)), ("diag_embed", torch.diag_embed), ("diag_embed_offset", lambda x: torch.diag_embed(x, -2, 0, 1)),
    ("trace", lambda x: torch.trace(x[0:2] if x.dim() == 2 else x[0])), ("unfold", lambda x: x.unfold(-1, 2, 1)), ("unfold_step", lambda x: x.unfold(1, 2, 2)),
    ("tensor_split", lambda x: torch.cat(torch.tensor_split(x, (1, -1), -1), -1)), ("hsplit", lambda x: torch.cat(torch.hsplit(x, 2 if x.shape[1] % 2 == 0 else 1)[::-1], 1)),
    ("msort", torch.msort), ("diff", lambda x: torch.diff(x)), ("diff_twice", lambda x: torch.diff(x, 2)), ("kthvalue", lambda x: x.kthvalue(2, -1).values),
    ("median_dim", lambda x: x.median(-1).values), ("argsort_stable", lambda x: torch.argsort(x, stable=True)),
    ("index_fill", lambda x: x.index_fill(-1, torch.tensor([0, 2]), 1)), ("index_copy", lambda x: x.index_copy(-1, torch.tensor([2, 0]), x[..., :2] + x[..., :2])),
    ("index_add", lambda x: x.index_add(-1, torch.tensor([2, 0, 2]), x[..., :3])), ("eye", lambda x: torch.eye(x.shape[-1], dtype=x.dtype) + x[..., :1, :]),
    ("index_put", lambda x: x.index_put((torch.tensor([0, -1]),), torch.ones_like(x[:2]))), ("write_slice", lambda x: _written(x)), ("mask_write", lambda x: _mask_written(x)),
]
PRODUCTS = [
    ("outer", torch.outer, VECTORS), ("inner", torch.inner, PAIR[:1]), ("kron", torch.kron, ((t(2, 3), t(4, 5)), (t(3), t(2, 2)))),
    ("cross", lambda a, b: torch.linalg.cross(a, b), ((t(4, 3), t(4, 3)), (t(2, 1, 3), t(5, 3)))), ("tensordot", lambda a, b: torch.tensordot(a, b, 2), ((t(3, 4, 5), t(4, 5, 2)),)),
    ("cdist", torch.cdist, ((t(2, 5, 3), t(2, 4, 3)), (t(5, 3), t(6, 3)))),
    ("cdist_as_product", torch.cdist, ((t(2, 26, 7), t(2, 4, 7)), (t(2, 3, 40), t(30, 40)))),
    ("cdist_product_asked", lambda a, b: torch.cdist(a, b, compute_mode="use_mm_for_euclid_dist"), ((t(2, 5, 9), t(2, 4, 9)),)),
    ("cdist_no_product", lambda a, b: torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist"), ((t(2, 30, 9), t(2, 40, 9)),)),
    ("bilinear", lambda a, b, w, c: F.bilinear(a, b, w, c), ((t(2, 5, 3), t(2, 5, 4), t(6, 3, 4), t(6)),)),
    ("vector_norm_of_large", lambda x: torch.linalg.vector_norm(x, 3, -1) + torch.linalg.vector_norm(x, 4), ((t(3, 40, low=-60, high=60),),)),
    ("linalg_norm", lambda x: torch.linalg.norm(x, dim=-1) + torch.linalg.norm(x), ((t(3, 4),), (t(2, 3, 4),))),
    ("einsum", lambda a, b: torch.einsum("bij,bkj->bik", a, b), ((t(2, 3, 4), t(2, 5, 4)),)), ("einsum_implicit", lambda a, b: torch.einsum("ij,jk", a, b), ((t(3, 4), t(4, 5)),)),
    ("einsum_ellipsis", lambda a, b: torch.einsum("...ij,...jk->...ki", a, b), ((t(2, 3, 4), t(4, 5)), (t(6, 2, 3, 4), t(2, 4, 5)))),
    ("einsum_three", lambda a, b, c: torch.einsum("ab,bc,cd->ad", a, b, c), ((t(2, 3), t(3, 4), t(4, 5)),)), ("einsum_sum", lambda a: torch.einsum("ijk->j", a), ((t(2, 3, 4),),)),
    ("einsum_trace", lambda a: torch.einsum("bii->b", a), ((t(2, 3, 3),),)), ("einsum_outer", lambda a, b: torch.einsum("i,j->ji", a, b), VECTORS),
    ("einsum_hadamard", lambda a, b: torch.einsum("bhwc,hkc->bhwk", a, b), ((t(2, 3, 4, 5), t(3, 6, 5)),)),
]
SEARCHES = [
    ("searchsorted", lambda x: torch.searchsorted(torch.arange(0, 5).to(x.dtype), x)), ("searchsorted_rows", lambda x: torch.searchsorted(torch.sort(x, -1)[0], x, right=True, out_int32=True) if x.dim() else torch.searchsorted(torch.tensor([1]).to(x.dtype), x)),
    ("searchsorted_sorter", lambda x: torch.searchsorted(x.flatten(), x * 2, sorter=torch.argsort(x.flatten(), stable=True), side="right")), ("bucketize_many", lambda x: torch.bucketize(x, torch.linspace(-3, 3, 1000, dtype=torch.float64).to(x.dtype), out_int32=True)),
    ("bucketize_right", lambda x: torch.bucketize(x, torch.arange(5).to(x.dtype), right=True)),
]


def _written(x: torch.Tensor) -> torch.Tensor:
    y = x + x
    y[..., 1:3] = 1
    y[0] = x[-1]
    return y


def _mask_written(x: torch.Tensor) -> torch.Tensor:
    y = x + x
    y[x > 1] = 2
    return y


SCATTERS = [
    Operator("scatter", lambda x, i, s: x.scatter(1, i, s), ((t(3, 5), t(3, 2, high=2, **INDEX), t(3, 2)),)),
    Operator("scatter_value", lambda x, i: x.scatter(-1, i, 1), ((t(3, 5), t(3, 4, high=5, **INDEX)), (t(3, 5), t(2, 4, high=5, **INDEX)), (t(0, 5), t(0, 2, high=5, **INDEX)))),
    Operator("scatter_add", lambda x, i, s: x.scatter_add(0, i, s), ((t(3, 5), t(4, 5, high=3, **INDEX), t(4, 5)), (t(3, 5, layout="transposed"), t(2, 3, high=3, **INDEX), t(4, 5))), (None, 0, 0)),
    *(Operator(f"scatter_reduce_{kind}{'' if own else '_fresh'}", lambda x, i, s, kind=kind, own=own: x.scatter_reduce(1, i, s, kind, include_self=own),
               ((t(3, 5), t(3, 7, high=5, **INDEX), t(3, 7)),))
      for kind in ("sum", "prod", "amax", "amin", "mean") for own in (True, False)),
    Operator("scatter_multiply", lambda x, i, s: x.scatter(1, i, s, reduce="multiply"), ((t(3, 5), t(3, 7, high=5, **INDEX), t(3, 7)),)),
    Operator("index_put_pair", lambda x, i, j, s: x.index_put((i, j), s), ((t(4, 5, 3), t(2, high=1, **INDEX), t(2, high=5, **INDEX), t(2, 3)), (t(4, 5, 3), t(2, high=2, **INDEX), t(2, high=5, **INDEX), t(2, 3)))),
    Operator("index_put_accumulate", lambda x, i, s: x.index_put((i,), s, accumulate=True), ((t(4, 5), t(6, low=-4, high=4, dtype=torch.int64), t(6, 5)), (t(4, 5), t(6, high=4, **INDEX), t())), (None, 0, 0)),
    Operator("index_separated", lambda x, i, j: x[i, :, j], ((t(4, 3, 5), t(6, high=4, **INDEX), t(6, low=-5, high=5, dtype=torch.int64)), (t(4, 3, 5), t(2, 1, high=4, **INDEX), t(3, high=5, **INDEX))), (None, 0, 0)),
    Operator("index_pair", lambda x, i, j: x[:, i, j], ((t(4, 3, 5), t(6, high=3, **INDEX), t(6, low=-5, high=5, dtype=torch.int64)),)),
    Operator("index_add_alpha", lambda x, s: x.index_add(-1, torch.tensor([1, 1]), s, alpha=2), ((t(3, 4), t(3, 2)),)),
]


def _with_nan(x):
    """A NaN in the first row alone, if there is one."""
    return torch.where((torch.arange(x.shape[-1]) == 1) & (torch.arange(x.shape[0]).reshape(-1, *[1] * (x.dim() - 1)) == 0), torch.full_like(x, float("nan")), x)


QUANTILES = [
    ("quantile", lambda x: x.quantile(0.3)), ("quantile_rows", lambda x: x.quantile(torch.tensor([0.0, 0.25, 0.9, 1.0], dtype=x.dtype), dim=-1)), ("quantile_keepdim", lambda x: x.quantile(0.5, dim=0, keepdim=True)),
    ("quantile_all_keepdim", lambda x: x.quantile(torch.tensor([0.1, 0.7], dtype=x.dtype), keepdim=True)), ("quantile_keepdims", lambda x: x.quantile(torch.tensor([0.1, 0.7], dtype=x.dtype), dim=1, keepdim=True)),
    *((f"quantile_{how}", lambda x, how=how: x.quantile(torch.tensor([0.1, 0.55, 0.8], dtype=x.dtype), dim=1, interpolation=how)) for how in ("lower", "higher", "nearest", "midpoint")),
    ("quantile_nan", lambda x: _with_nan(x).quantile(0.4, dim=-1)), ("nanquantile", lambda x: _with_nan(x).nanquantile(0.4, dim=-1)),
    ("nanquantile_all", lambda x: _with_nan(x).nanquantile(torch.tensor([0.2, 0.6], dtype=x.dtype))), ("nanquantile_lower", lambda x: _with_nan(x).nanquantile(0.6, dim=0, keepdim=True, interpolation="lower")),
]
HISTOGRAMS = [("histc", lambda x: x.histc(7)), ("histc_range", lambda x: x.histc(5, -2, 1)), ("histc_one_value", lambda x: torch.full_like(x, 2).histc(4)), ("histc_of_many", lambda x: (x.reshape(-1)[:1] * 0 + 2).expand(600).histc(4)), ("histc_integers", lambda x: x.round().histc(6, 0, 3))]

TABLE = [
    *(Operator(name, f, MATRIX[:4]) for name, f in QUANTILES), *(Operator(name, f, unary_cases()[:3] + unary_cases()[5:]) for name, f in HISTOGRAMS),
    *(Operator(name, f, MATRIX) for name, f in UNARY),
    *(Operator(name, f, BINARY) for name, f in BINARIES),
    *(Operator(name, f, GRIDS) for name, f in RESHAPES),
    *(Operator(name, f, cases) for name, f, cases in PRODUCTS),
    *(Operator(name, f, MATRIX) for name, f in SEARCHES),
    Operator("addbmm", lambda c, a, b: torch.addbmm(c, a, b, beta=0.5, alpha=2), ((t(3, 4), t(2, 3, 5), t(2, 5, 4)),), (None, 0, 0)),
    Operator("addbmm_whole", lambda c, a, b: torch.addbmm(c, a, b, beta=2, alpha=3), ((t(3, 4), t(2, 3, 5), t(2, 5, 4)),), (None, 0, 0)),
    Operator("addr", torch.addr, ((t(3, 4), t(3), t(4)),), (0, 0, None)),
    Operator("xlogy", torch.xlogy, POSITIVE),
    *SCATTERS,
    Operator("median", lambda x: x.median(), GRIDS[:3]),
    Operator("median_nan", lambda x: torch.where(x > 2, float("nan"), x).median(), ((t(3, 5),), (t(0, 3),))),
]
