"""Lines of the operator table for what networks are made of: losses, cells, whole recurrences, fused attention, quantization, windows."""

import copy
import functools

import torch
import torch.nn.functional as F

from operator_case import Operator, t

LOSS = ((t(3, 4), t(3, 4)), (t(0, 4), t(0, 4)), (t(), t()))
UNIT = ((t(3, 4, low=0.05, high=0.95), t(3, 4, low=0.0, high=1.0)),)
STEPS = torch.rand(16, generator=torch.Generator().manual_seed(1)) + 0.1
IMAGES = ((t(2, 3, 9, 11),), (t(3, 8, 8),))
LARGER = ((t(2, 3, 40, 70, low=0, high=255),), (t(1, 5, 23, 36, low=0, high=255, layout="channels_last"),), (t(3, 2, 21, 9),))


def _unpooled(x):
    """F.max_unpool2d of torch 2.15 cannot be traced: it asks for a bool and gets a tensor. Below it there is this operator in every release."""
    pooled, indices = F.max_pool2d(x[..., :8, :8], 2, return_indices=True)
    return torch._C._nn.max_unpool2d(pooled, indices, [8, 8])


def _module(module):
    """A module of seeded constants, as a function of an input; its parameters have the input's dtype."""
    generator = torch.Generator().manual_seed(5)
    module = module.eval().requires_grad_(False)
    for parameter in module.parameters():
        parameter.data = torch.rand(parameter.shape, generator=generator) - 0.5
    return functools.cache(lambda dtype: copy.deepcopy(module).to(dtype if dtype.is_floating_point else torch.float32))


def _recurrent(kind, batch_first=False, with_state=False, **options):
    module_of = _module(getattr(torch.nn, kind)(5, 4, batch_first=batch_first, **options))

    def run(x):
        lines = 2 * options.get("num_layers", 1) if options.get("bidirectional") else options.get("num_layers", 1)
        batch = () if x.dim() == 2 else (x.shape[0 if batch_first else 1],)
        h = torch.full((lines, *batch, 4), 0.25, dtype=x.dtype)
        state = (h, h * 2) if kind == "LSTM" else h
        y, last = module_of(x.dtype)(x, state) if with_state else module_of(x.dtype)(x)
        last = last if kind == "LSTM" else (last,)
        return torch.cat([y.reshape(-1), *(s.reshape(-1) for s in last)])

    return run


def _attention(**options):
    module_of = _module(torch.nn.MultiheadAttention(8, 2, batch_first=True))
    return lambda x: torch.cat([y.reshape(-1) for y in module_of(x.dtype)(x, x, x, **options) if y is not None])


def _encoder(padded=False, **options):
    module_of = _module(torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options))
    mask = torch.tensor([[False] * 3 + [True] * 2])
    return lambda x: module_of(x.dtype)(x, src_key_padding_mask=mask.expand(x.shape[0], 5) if padded else None)


LOSSES = [
    ("mse_loss", F.mse_loss), ("l1_loss", lambda a, b: F.l1_loss(a, b, reduction="sum")), ("smooth_l1_loss", lambda a, b: F.smooth_l1_loss(a, b, reduction="none", beta=0.7)),
    ("huber_loss", F.huber_loss), ("soft_margin_loss", F.soft_margin_loss), ("poisson_nll_loss", F.poisson_nll_loss),
    ("bce_with_logits", lambda a, b: F.binary_cross_entropy_with_logits(a, b, pos_weight=torch.tensor(2.0))), ("kl_div_log", lambda a, b: F.kl_div(a, b, log_target=True, reduction="sum")),
]
SEQUENCE = ((t(6, 2, 5),), (t(3, 5),), (t(1, 1, 5),))
RECURRENCES = [
    ("lstm", _recurrent("LSTM")), ("lstm_state", _recurrent("LSTM", with_state=True)), ("lstm_stacked_both_ways", _recurrent("LSTM", num_layers=2, bidirectional=True)),
    ("lstm_batch_first", _recurrent("LSTM", batch_first=True, with_state=True)), ("lstm_no_bias", _recurrent("LSTM", bias=False)), ("gru", _recurrent("GRU")),
    ("gru_stacked_both_ways", _recurrent("GRU", num_layers=2, bidirectional=True, with_state=True)), ("rnn_tanh", _recurrent("RNN")), ("rnn_relu", _recurrent("RNN", nonlinearity="relu", with_state=True)),
]
ENCODERS = [
    ("multihead_attention", _attention()), ("multihead_attention_no_weights", _attention(need_weights=False)), ("multihead_attention_heads", _attention(average_attn_weights=False)),
    ("encoder_layer", _encoder()), ("encoder_layer_gelu_norm_first", _encoder(activation="gelu", norm_first=True)), ("encoder_layer_padded", _encoder(padded=True)),
]
FAKE_QUANT = [
    ("fake_quantize", lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -128, 127)), ("fake_quantize_unsigned", lambda x: torch.fake_quantize_per_tensor_affine(x, 0.037, 10, 0, 15)),
    ("fake_quantize_tensors", lambda x: torch.fake_quantize_per_tensor_affine(x, torch.tensor(0.05), torch.tensor(2, dtype=torch.int32), -128, 127)),
    ("fake_quantize_channels", lambda x: torch.fake_quantize_per_channel_affine(x, STEPS[: x.shape[-1]], torch.arange(x.shape[-1], dtype=torch.int32), x.dim() - 1, -10, 12)),
]
WINDOWS = [
    ("im2col", lambda x: F.unfold(x, (2, 3), dilation=(1, 2), padding=1, stride=2)), ("col2im", lambda x: F.fold(F.unfold(x, 3, padding=1), x.shape[-2:], 3, padding=1)),
    ("bicubic", lambda x: F.interpolate(x[None] if x.dim() == 3 else x, size=(13, 5), mode="bicubic")), ("bicubic_corners", lambda x: F.interpolate(x[None] if x.dim() == 3 else x, size=(4, 15), mode="bicubic", align_corners=True)),
    ("bilinear_antialias", lambda x: F.interpolate(x[None] if x.dim() == 3 else x, size=(4, 5), mode="bilinear", antialias=True)),
    ("bicubic_antialias", lambda x: F.interpolate(x[None] if x.dim() == 3 else x, size=(5, 13), mode="bicubic", antialias=True)),
    ("max_pool_indices", lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True)[1].to(x.dtype)), ("max_unpool2d", _unpooled),
]

ANTIALIASED = [
    ("bilinear_antialias_larger", lambda x: F.interpolate(x, size=(21, 37), mode="bilinear", antialias=True)), ("bicubic_antialias_larger", lambda x: F.interpolate(x, size=(21, 37), mode="bicubic", antialias=True)),
    ("bilinear_antialias_scale", lambda x: F.interpolate(x, scale_factor=(0.4, 1.7), mode="bilinear", antialias=True)), ("bicubic_antialias_corners", lambda x: F.interpolate(x, size=(9, 70), mode="bicubic", antialias=True, align_corners=True)),
]


def _grid_sample(dims: int, **options):
    return lambda x, grid: F.grid_sample(x, grid, **{"align_corners": False, **options})


GRID2 = ((t(2, 3, 5, 6), t(2, 4, 7, 2, low=-1.6, high=1.6)), (t(2, 3, 5, 6, layout="channels_last"), t(2, 0, 7, 2)))
GRID3 = ((t(2, 3, 4, 5, 6), t(2, 3, 4, 5, 3, low=-1.6, high=1.6)),)

INDEX = {"dtype": torch.int64, "low": 0}
BAGS = ((t(9, 4), t(11, high=9, **INDEX), t(11, low=0.5)), (t(9, 4), t(1, high=9, **INDEX), t(1)), (t(5, 3), t(6, high=5, layout="sliced", **INDEX), t(6, layout="sliced")))


def _bags(**options):
    """Bags that begin at 0, 2, 2 (an empty one) and further on; with all starts in bounds for every number of indices."""
    def run(table, indices, weights):
        offsets = torch.tensor([0, 2, 2, 5, 11]).clamp_max(indices.shape[0])
        weighted = {"per_sample_weights": weights} if options.get("mode") == "sum" and not options.get("plain") else {}
        return F.embedding_bag(indices, table, offsets, **weighted, **{name: value for name, value in options.items() if name != "plain"})

    return run


def _rows_of_bags(table, indices):
    return F.embedding_bag(indices, table, mode="max")


EMBEDDING_BAGS = [
    ("embedding_bag_sum", _bags(mode="sum", plain=True)), ("embedding_bag_weights", _bags(mode="sum")), ("embedding_bag_mean", _bags(mode="mean")), ("embedding_bag_max", _bags(mode="max")),
    ("embedding_bag_padding", _bags(mode="mean", padding_idx=3)), ("embedding_bag_padding_max", _bags(mode="max", padding_idx=-2)), ("embedding_bag_last", _bags(mode="mean", include_last_offset=True)),
]
EXPERTS = ((t(7, 8), t(3, 8, 16), t(3, **INDEX)), (t(40, 40), t(4, 40, 72), t(4, **INDEX)), (t(0, 8), t(2, 8, 8), t(2, **INDEX)))


def _experts(x, weights, ends):
    ends = torch.linspace(0, x.shape[0], weights.shape[0]).to(torch.int32)  # the first expert has no rows
    return torch._grouped_mm(x, weights, offs=ends)


WEIGHTS = torch.arange(48 * 64, dtype=torch.int32).reshape(48, 64) * 7 % 16
GROUPS = torch.arange(2 * 48 * 2).reshape(2, 48, 2) % 9 / 8 - 0.25
ROWS = ((t(3, 64),), (t(1, 64),), (t(20, 64),))


def _int4_weights(x):
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(WEIGHTS, 1)
    return torch.ops.aten._weight_int4pack_mm_for_cpu(x, packed, 32, GROUPS.to(x.dtype))


def _int8_weights(x):
    return torch.ops.aten._weight_int8pack_mm(x, (WEIGHTS * 9 - 70).to(torch.int8), GROUPS[0, :, 0].contiguous().to(x.dtype))


TABLE = [
    Operator("int4_weights", _int4_weights, ROWS), Operator("int8_weights", _int8_weights, ROWS),
    *(Operator(name, f, BAGS, batch=(None, None, None)) for name, f in EMBEDDING_BAGS),
    Operator("embedding_bag_rows", _rows_of_bags, ((t(9, 4), t(3, 5, high=9, **INDEX)),), batch=(None, 0)),
    Operator("grouped_mm", _experts, EXPERTS, batch=(None, None, None)), Operator("grouped_mm_batches", lambda a, b: torch._grouped_mm(a, b), ((t(3, 4, 8), t(3, 8, 16)),)),
    Operator("grouped_mm_transposed", lambda a, b, ends: _experts(a, b.transpose(1, 2), ends), ((t(9, 8), t(3, 16, 8), t(3, **INDEX)),), batch=(None, None, None)),
    *(Operator(name, f, LOSS) for name, f in LOSSES),
    Operator("bce", F.binary_cross_entropy, UNIT),
    Operator("kl_div", lambda a, b: F.kl_div(torch.log(a), b, reduction="batchmean"), UNIT),
    *(Operator(name, f, SEQUENCE) for name, f in RECURRENCES),
    *(Operator(name, f, ((t(2, 5, 8),),)) for name, f in ENCODERS),
    *(Operator(name, f, ((t(3, 4),), (t(2, 3, 4),), (t(0, 4),))) for name, f in FAKE_QUANT),
    *(Operator(name, f, IMAGES) for name, f in WINDOWS),
    *(Operator(name, f, LARGER) for name, f in ANTIALIASED),
    Operator("lstm_cell", lambda x, h, c, a, b: torch.cat(torch.lstm_cell(x, (h, c), a, b)), ((t(2, 3), t(2, 4), t(2, 4), t(16, 3), t(16, 4)),)),
    Operator("gru_cell", lambda x, h, a, b, p, q: torch.gru_cell(x, h, a, b, p, q), ((t(2, 3), t(2, 4), t(12, 3), t(12, 4), t(12), t(12)),)),
    Operator("rnn_relu_cell", lambda x, h, a, b: torch.rnn_relu_cell(x, h, a, b), ((t(2, 3), t(2, 4), t(4, 3), t(4, 4)),)),
    Operator("affine_grid", lambda x: F.affine_grid(x, (x.shape[0], 3, 5, 7), align_corners=False), ((t(2, 2, 3),),)),
    Operator("affine_grid_corners", lambda x: F.affine_grid(x, (x.shape[0], 3, 4, 5, 7), align_corners=True), ((t(2, 3, 4),),)),
    *(Operator(f"grid_sample_{mode}_{padding}{'_corners' if corners else ''}", _grid_sample(2, mode=mode, padding_mode=padding, align_corners=corners), GRID2)
      for mode in ("bilinear", "nearest", "bicubic") for padding in ("zeros", "border", "reflection") for corners in (False, True)),
    *(Operator(f"grid_sample_3d_{mode}_{padding}", _grid_sample(3, mode=mode, padding_mode=padding), GRID3) for mode in ("bilinear", "nearest") for padding in ("zeros", "border", "reflection")),
]
