"""Networks written in Python: functions against PyTorch, whole models, errors, plugins."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import torchtrt
import torchtrt.functional as f
import torchtrt.network as trt

FLOAT = {"rtol": 1e-5, "atol": 1e-6}


def run(function, *inputs):
    """The function over inputs of the network, built and run."""
    net = trt.Network("test")
    with trt.net_guard(net):
        tensors = [trt.Tensor(name=f"x{i}", dtype=value.dtype, shape=value.shape) for i, value in enumerate(inputs)]
        results = function(*tensors)
        for result in results if isinstance(results, (list, tuple)) else [results]:
            result.mark_output()
    net.verify()
    return net.build().run(*inputs)


def values(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


X, Y = values(2, 3, 8), values(2, 3, 8, seed=1)
IMAGE, KERNEL = values(2, 4, 9, 7), values(6, 4, 3, 3, seed=2)
INDICES = torch.tensor([[0, 2], [1, 1]])
CASES = {
    "operators": (lambda x, y: (x + y) * 2 - y / 3 + -x, lambda x, y: (x + y) * 2 - y / 3 + -x, X, Y),
    "reflected": (lambda x: 1 - x + 2 * x, lambda x: 1 - x + 2 * x, X),
    "power": (lambda x: f.abs(x) ** 1.5, lambda x: x.abs() ** 1.5, X),
    "comparisons": (lambda x, y: f.where(x > y, x, y * 2), lambda x, y: torch.where(x > y, x, y * 2), X, Y),
    "activations": (lambda x: f.gelu(x) + f.gelu(x, "tanh") + f.silu(x) + f.relu(x),
                    lambda x: F.gelu(x) + F.gelu(x, approximate="tanh") + F.silu(x) + F.relu(x), X),
    "matmul": (lambda x, y: f.matmul(x, y, transb=True) @ x, lambda x, y: x @ y.transpose(1, 2) @ x, X, Y),
    "softmax": (lambda x: f.softmax(x, -1) + f.log_softmax(x, 1), lambda x: F.softmax(x, -1) + F.log_softmax(x, 1), X),
    "concat": (lambda x, y: f.concat([x, y], dim=-1), lambda x, y: torch.cat([x, y], -1), X, Y),
    "slice": (lambda x: f.slice(x, [0, 1, 2], [2, 2, 3], [1, 1, 2]), lambda x: x[:, 1:3, 2:8:2], X),
    "index": (lambda x: x[:, -1, ..., 1:-1], lambda x: x[:, -1, ..., 1:-1], X),
    "index_none": (lambda x: x[0, None, :, ::3], lambda x: x[0, None, :, ::3], X),
    "split": (lambda x: f.split(x, 3, dim=2), lambda x: x.split(3, dim=2), X),
    "chunk": (lambda x: f.chunk(x, 2, dim=-1), lambda x: x.chunk(2, dim=-1), X),
    "shapes": (lambda x: x.transpose(0, 2).view([4, -1]).unsqueeze(0).squeeze(0).permute([1, 0]),
               lambda x: x.transpose(0, 2).reshape(4, -1).permute(1, 0), X),
    "flatten": (lambda x: f.flatten(x, 1), lambda x: x.flatten(1), X),
    "reductions": (lambda x: x.mean(-1) + x.sum([1, 2], keepdim=True).view([2, 1]) + x.max(2), lambda x: x.mean(-1)
                   + x.sum([1, 2], keepdim=True).view(2, 1) + x.amax(2), X),
    "var": (lambda x: f.var(x, 1), lambda x: x.var(1), X),
    "argmax": (lambda x: f.argmax(x), lambda x: x.argmax(-1), X),
    "conv2d": (lambda x: f.conv2d(x, KERNEL, values(6), stride=2, padding=1),
               lambda x: F.conv2d(x, KERNEL, values(6), stride=2, padding=1), IMAGE),
    "conv1d": (lambda x: f.conv1d(x, values(5, 3, 3)), lambda x: F.conv1d(x, values(5, 3, 3)), X),
    "conv_transpose2d": (lambda x: f.conv_transpose2d(x, values(4, 2, 3, 3), stride=2, output_padding=1),
                         lambda x: F.conv_transpose2d(x, values(4, 2, 3, 3), stride=2, output_padding=1), IMAGE),
    "pooling": (lambda x: (f.max_pool2d(x, 2), f.avg_pool2d(x, 3, 2, 1), f.adaptive_avg_pool2d(x, 2)),
                lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1), F.adaptive_avg_pool2d(x, 2)), IMAGE),
    "layer_norm": (lambda x: f.layer_norm(x, 8, values(8), values(8)), lambda x: F.layer_norm(x, [8], values(8), values(8)), X),
    "rms_norm": (lambda x: f.rms_norm(x, 8, values(8)), lambda x: F.rms_norm(x, [8], values(8), 1e-6), X),
    "batch_norm": (lambda x: f.batch_norm(x, values(4), values(4).abs()),
                   lambda x: F.batch_norm(x, values(4), values(4).abs()), IMAGE),
    "group_norm": (lambda x: f.group_norm(x, 2, values(4)), lambda x: F.group_norm(x, 2, values(4)), IMAGE),
    "linear": (lambda x: f.linear(x, values(5, 8), values(5)), lambda x: F.linear(x, values(5, 8), values(5)), X),
    "embedding": (lambda i: f.embedding(i, values(4, 6)), lambda i: F.embedding(i, values(4, 6)), INDICES),
    "gather": (lambda x: f.gather(x, 2, f.constant(torch.zeros(2, 3, 4, dtype=torch.int64))), lambda x: x[:, :, :1].expand(2, 3, 4), X),
    "casts": (lambda i: f.div(i, 2) + i.cast(trt.float32), lambda i: i / 2 + i.float(), INDICES),
    "promotion": (lambda x, i: x.view([48])[0:4].view([2, 2]) + i, lambda x, i: x.view(48)[0:4].view(2, 2) + i, X, INDICES),
    "fill": (lambda x: x + f.full([8], 3) + f.arange(8), lambda x: x + 3 + torch.arange(8), X),
    "logic": (lambda x, y: f.op_and(x > 0, y > 0), lambda x, y: (x > 0) & (y > 0), X, Y),
}


@pytest.mark.parametrize("name", CASES)
def test_functions_compute_what_torch_does(name):
    ours, theirs, *inputs = CASES[name]
    got, expected = run(ours, *inputs), theirs(*inputs)
    got, expected = (each if isinstance(each, (list, tuple)) else [each] for each in (got, expected))
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        torch.testing.assert_close(one, other, **(FLOAT if other.is_floating_point() else {"rtol": 0, "atol": 0}))


def test_mlp_with_a_dynamic_batch_on_numpy_and_torch():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).eval()
    net = trt.Network("mlp")
    with trt.net_guard(net):
        batch = net.add_symbol("batch", 1, 4, 16)
        x = trt.Tensor(name="x", dtype=trt.float32, shape=(batch, 16))
        hidden = f.relu(f.linear(x, model[0].weight, model[0].bias))
        f.linear(hidden, model[2].weight, model[2].bias).mark_output("y")
    engine = net.build()
    assert net.get_outputs()["y"].shape == ("batch", 4)
    for size in (1, 5, 16):
        value = values(size, 16, seed=size)
        torch.testing.assert_close(engine.run(value), model(value), **FLOAT)
        result = engine.run(x=value.numpy())
        assert isinstance(result, np.ndarray)
        np.testing.assert_array_equal(result, engine.run(value).numpy())


class GptBlock(nn.Module):
    def __init__(self, hidden=32, heads=4):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.project = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        batch, tokens, hidden = x.shape
        q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        context = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, tokens, hidden)
        x = x + self.project(context)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def gpt_block(x, block, attention):
    def norm(x, layer):
        return f.layer_norm(x, x.shape[-1], layer.weight, layer.bias, layer.eps)

    def linear(x, layer):
        return f.linear(x, layer.weight, layer.bias)

    x = x + linear(attention(linear(norm(x, block.norm1), block.qkv), block.heads), block.project)
    return x + linear(f.gelu(linear(norm(x, block.norm2), block.up)), block.down)


def attention_in_pieces(qkv, heads):
    batch, tokens, hidden = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    q, k, v = (part.view([batch, tokens, heads, hidden // heads]).permute([0, 2, 1, 3]) for part in f.chunk(qkv, 3, -1))
    mask = f.constant(torch.full((tokens, tokens), float("-inf")).triu(1))
    scores = f.matmul(q, k, transb=True) * (hidden // heads) ** -0.5 + mask
    return (f.softmax(scores, -1) @ v).permute([0, 2, 1, 3]).view([batch, tokens, hidden])


def attention_as_a_plugin(qkv, heads):
    return f.gpt_attention(qkv, num_heads=heads, head_size=qkv.shape[2] // 3 // heads)


@pytest.mark.parametrize("attention", [attention_in_pieces, attention_as_a_plugin])
def test_gpt_block(attention):
    torch.manual_seed(5)
    block = GptBlock().eval()
    x = values(2, 7, 32)
    expected = block(x).detach()
    torch.testing.assert_close(run(lambda t: gpt_block(t, block, attention), x), expected, rtol=0,
                               atol=1e-4 * float(expected.abs().max()))


def test_text_reads_back_and_names_the_line():
    net = trt.Network("text")
    with trt.net_guard(net):
        (trt.Tensor(name="x", shape=(2,)) + 1).mark_output("y")
    assert trt.Network.parse(str(net)).to_text() == str(net)
    assert "test_network.py:" in net.to_text(locations=True)


def test_tensors_and_layers_know_each_other():
    net = trt.Network()
    with trt.net_guard(net):
        x = trt.Tensor(name="x", dtype=trt.float16, shape=(2, 3))
        y = f.exp(x)
    layer = y.get_parent()
    assert layer.as_layer().type == trt.LayerType.UNARY and layer.as_layer().op == "exp"
    assert layer.get_inputs(0) == [x] and x.get_users() == [layer] and x.get_parent() is None
    assert (x.dtype, x.shape, x.network, net.get_layer(layer.name)) == (trt.float16, (2, 3), net, layer)
    assert torch.equal(f_constant(net, [[1.5, 2]]).constant(), torch.tensor([[1.5, 2]]))


def f_constant(net, value):
    with trt.net_guard(net):
        return f.constant(value)


def error_of(body) -> str:
    with pytest.raises(torchtrt.Error) as caught:
        body()
    return str(caught.value)


def test_errors_are_ours():
    net, other = trt.Network("one"), trt.Network("two")
    assert "no network is current" in error_of(lambda: trt.Tensor(name="x", shape=(1,)))
    with trt.net_guard(other):
        foreign = trt.Tensor(name="x", shape=(2,))
    with trt.net_guard(net):
        x = trt.Tensor(name="x", shape=(2, 3))
        layers = net.num_layers
        assert "is used in network" in error_of(lambda: f.add(x, foreign))
        assert "[C008]" in error_of(lambda: f.matmul(x, x))
        assert "unknown" in error_of(lambda: f.unary(x, "unknown"))
        assert net.num_layers == layers, "what failed is not left in the network"
        assert "no dimension" in error_of(lambda: trt.Tensor(name="z", shape=("2 +",)))
        assert "axis 2 of a tensor of rank 2" in error_of(lambda: f.softmax(x, 2))
        assert "no truth value" in error_of(lambda: bool(x))
        gone = f.exp(x)
        gone.get_parent().mark_as_removed()
        assert "no longer in network" in error_of(lambda: gone.shape)
        f.neg(x).mark_output("y")
    engine = net.build()
    assert "expected the inputs x" in error_of(lambda: engine.run())
    assert "[E005]" in error_of(lambda: engine.run(torch.zeros(3, 3)))


def test_a_plugin_that_does_not_fit_is_an_error():
    def attention(shape, **fields):
        with trt.net_guard(trt.Network()):
            f.gpt_attention(trt.Tensor(name="qkv", shape=shape), **fields)

    assert "expected qkv of [batch, tokens, 24]" in error_of(lambda: attention((1, 2, 20), num_heads=2, head_size=4))
    assert "expected a divisor of num_heads" in error_of(lambda: attention((1, 2, 24), num_heads=2, head_size=4, num_kv_heads=3))
    assert "expected causal or padding" in error_of(lambda: attention((1, 2, 24), num_heads=2, head_size=4, mask_type="?"))
