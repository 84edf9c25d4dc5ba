"""Lines of the operator table for operators whose results are as long as the data say."""

import torch

from operator_case import Operator, t, unary_cases

MASKED = ((t(3, 4), t(3, 4, dtype=torch.bool)), (t(3, 4, layout="transposed"), t(4, dtype=torch.bool)), (t(2, 1, 5), t(3, 1, dtype=torch.bool)),
          (t(), t(dtype=torch.bool)), (t(0, 3), t(3, dtype=torch.bool)), (t(4, 9, layout="sliced"), t(4, 1, dtype=torch.bool)))
ROWS = ((t(5), t(5, dtype=torch.bool)), (t(5, 2, 3), t(5, dtype=torch.bool)), (t(4, 3, 2, layout="transposed"), t(4, 3, dtype=torch.bool)),
        (t(0, 3), t(0, dtype=torch.bool)), (t(4, 0), t(4, dtype=torch.bool)), (t(4, 9, layout="sliced"), t(4, 9, layout="expanded", dtype=torch.bool)),
        (t(2, 6, 5, 3, layout="channels_last"), t(2, dtype=torch.bool)))
WITH_NAN = lambda x: torch.where(x > 2, float("nan"), x.round())  # noqa: E731


def boxes(n: int, **options) -> tuple:
    return ((t(n, 4, low=0.0, high=8.0, **options), t(n)),)


def _nms(threshold: float, ties: bool = False):
    """Takes boxes that may have no area; with ties, boxes of few different scores."""
    return lambda x, s: torch.ops.torchvision.nms(x, s.round() if ties else s, threshold)


PLACES = [
    ("nonzero", lambda x: x.nonzero()), ("nonzero_of_positive", lambda x: (x > 0).nonzero()), ("argwhere", torch.argwhere),
    ("nonzero_none", lambda x: (x != x).nonzero()), ("where_places", lambda x: torch.where(x > 0)[-1]),
    ("nonzero_numpy", lambda x: torch.ops.aten.nonzero_numpy(x)[0]),
    ("mask_of_itself", lambda x: x[x > 0]), ("mask_all", lambda x: x[x == x]),
]
UNIQUE = [
    ("unique", lambda x: torch.unique(x)), ("unique_inverse", lambda x: torch._unique2(x, True, True, False)[1]),
    ("unique_counts", lambda x: torch._unique2(x, False, False, True)[2]), ("_unique", lambda x: torch._unique(x)[0]),
    ("_unique_inverse", lambda x: torch._unique(x, True, True)[1]),
    ("unique_consecutive", lambda x: torch.unique_consecutive(x)), ("unique_consecutive_inverse", lambda x: torch.unique_consecutive(x, True)[1]),
    ("unique_consecutive_counts", lambda x: torch.unique_consecutive(x, return_counts=True)[1]),
]

TABLE = [
    *(Operator(name, f, unary_cases()) for name, f in PLACES),
    *(Operator(name, f, unary_cases()) for name, f in UNIQUE),
    # Every NaN is a value of its own. PyTorch leaves their order to a sort that is not stable.
    *(Operator(f"{name}_nan", lambda x, f=f: f(WITH_NAN(x)), unary_cases()) for name, f in UNIQUE if not name.endswith("unique_inverse")),
    Operator("masked_select", torch.masked_select, MASKED),
    Operator("mask_rows", lambda x, m: x[m], ROWS),
    Operator("masked_by_number", lambda x, m: torch.masked_select(x * 2, m), MASKED[:2]),
    *(Operator(name, f, (*boxes(6), *boxes(40), *boxes(1), *boxes(0), *boxes(9, layout="transposed")), batch=(0, 0))
      for name, f in [("nms", _nms(0.1)), ("nms_loose", _nms(0.5)), ("nms_ties", _nms(0.2, ties=True))]),
]
