"""Operators that engines cannot compute stay in PyTorch with PyTorch's results, and end neither the compile nor the process."""

import gc

import pytest
import torch
from torch import Tensor, nn

import torchtrt
from same import assert_same, saved


class Helper(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.Conv1d(2, 4, 3), nn.Linear(4, 3)

    def helper(self, x):
        return torch.relu(self.conv(x)).mean(2)

    def broken(self, x):
        return x.view(7, 7)

    def forward(self, x):
        y = self.linear(self.helper(x))
        return torch.fft.rfft(y).abs() + (1 if x.shape[0] < 5 else int(self.broken(x).sum()))


@pytest.mark.parametrize("optimize", [torch.jit.freeze, torch.jit.optimize_for_inference])
def test_frozen_modules_whose_forward_calls_a_method(optimize):
    """Freezing deletes the method, and the call stacks of its nodes go on naming it."""
    for _ in range(5):
        module = torch.jit.script(Helper().eval())
        frozen = optimize(torch.jit.freeze(module) if optimize is torch.jit.optimize_for_inference else module)
        x = torch.randn(2, 2, 8)
        expected = module(x)
        del module
        gc.collect()
        compiled = torchtrt.compile(frozen, inputs=[torchtrt.Input([2, 2, 8])], min_block_size=1)
        assert_same(compiled(x).detach(), expected.detach())
        torchtrt.compile(frozen, inputs=[x], torch_executed_modules=["conv"])


class Raises(nn.Module):
    def helper(self, x):
        return torch.relu(x).view(3, 3)

    def forward(self, x):
        return torch.fft.rfft(self.helper(x)).abs() * 2


@pytest.mark.parametrize("freeze", [False, True])
def test_an_error_tells_its_trace_when_the_original_is_gone(tmp_path, freeze):
    """libtorch writes the trace of an error from the functions that nodes were inlined from, which are gone here."""
    torch.jit.script(Raises().eval()).save(str(tmp_path / "module.ts"))
    module = torch.jit.load(str(tmp_path / "module.ts"))
    module = torch.jit.freeze(module) if freeze else module
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([9])], min_block_size=1)
    del module
    gc.collect()
    for _ in range(3):
        with pytest.raises(RuntimeError, match="shape '\\[3, 3\\]' is invalid for input of size 4"):
            compiled(torch.ones(4))
    assert_same(compiled(torch.arange(9.0)), torch.fft.rfft(torch.arange(9.0).view(3, 3)).abs() * 2)


def test_a_frozen_module_that_raises_on_its_sample(capfd):
    frozen = torch.jit.freeze(torch.jit.script(Raises().eval()))
    gc.collect()
    compiled = torchtrt.compile(frozen, inputs=[torch.ones(4)])
    assert "the module raises on the sample inputs: shape '[3, 3]' is invalid for input of size 4" in capfd.readouterr().err
    with pytest.raises(RuntimeError, match="is invalid for input of size 4"):
        compiled(torch.ones(4))


class Gradient(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        x = x.detach().requires_grad_()
        y = torch.relu(self.linear(x)).sum()
        gradient = torch.autograd.grad([y], [x])[0]
        assert gradient is not None
        return gradient * 2


class GradientOfWeights(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        y = torch.tanh(self.linear(x)).sum()
        gradient = torch.autograd.grad([y], [self.linear.weight])[0]
        assert gradient is not None
        return torch.matmul(x, gradient)


@pytest.mark.parametrize("made", [Gradient, GradientOfWeights])
@pytest.mark.parametrize("with_samples", [False, True])
def test_gradients_inside_of_forward(made, with_samples):
    module, x = torch.jit.script(made().eval()), torch.randn(2, 3)
    compiled = torchtrt.compile(module, inputs=[x if with_samples else torchtrt.Input([2, 3])], min_block_size=1)
    assert torchtrt.report(compiled).engine_segments == 0
    for each in (compiled, saved(compiled)):
        assert_same(each(x).detach(), module(x).detach())
    with pytest.raises(torchtrt.CompileError, match="C001.*unable to convert"):
        torchtrt.compile(module, inputs=[torchtrt.Input([2, 3])], require_full_compilation=True)


class SparseConstant(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("adjacency", torch.eye(3).to_sparse())

    def forward(self, x):
        return torch.relu(torch.sparse.mm(self.adjacency, self.linear(x))) * 2


class SparseValue(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.relu(self.linear(x)).to_sparse()
        return (y + y).to_dense() * 2 + 1


class SparseResult(nn.Module):
    def forward(self, x):
        y = torch.relu(x) + 1
        return y * 2, (y * 3).to_sparse() * 2


@pytest.mark.parametrize("made", [SparseConstant, SparseValue, SparseResult])
@pytest.mark.parametrize("with_samples", [False, True])
@pytest.mark.parametrize("front", ["scripted", "traced"])
def test_sparse_tensors(made, with_samples, front):
    net, x = made().eval(), torch.randn(3, 4)
    module = torch.jit.script(net) if front == "scripted" else torch.jit.trace(net, x, check_trace=False)
    compiled = torchtrt.compile(module, inputs=[x if with_samples else torchtrt.Input([3, 4])], min_block_size=1)
    got, expected = compiled(x), module(x)
    for a, e in zip([got] if isinstance(got, Tensor) else got, [expected] if isinstance(expected, Tensor) else expected, strict=True):
        assert a.layout == e.layout
        assert_same(a.to_dense().detach(), e.to_dense().detach())


COMPLEX = {
    "add": lambda x: torch.relu(x) + 0j,
    "sub": lambda x: torch.relu(x) - 0j,
    "rsub": lambda x: 0j - torch.relu(x),
    "mul": lambda x: torch.relu(x) * (2 + 0j),
    "div": lambda x: torch.relu(x) / (2 + 0j),
    "pow": lambda x: torch.relu(x) ** (2 + 0j),
    "where": lambda x: torch.where(x > 0, torch.relu(x), 0j),
    "full": lambda x: torch.relu(x) + torch.full((2, 3), 1j),
    "exp": lambda x: torch.exp(1j * x),
    "real": lambda x: torch.relu(torch.real(torch.relu(x) * (1 + 1j)) + 1),
    "add_alpha": lambda x: torch.add(torch.relu(x), x, alpha=1) + 1j,
}


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("front", ["scripted", "traced"])
def test_complex_numbers_are_refused(name, front):
    class Net(nn.Module):
        def forward(self, x):
            return COMPLEX[name](x)

    x = torch.randn(2, 3)
    if front == "traced":
        module = torch.jit.trace(Net().eval(), x)
    else:
        unit = torch.jit.CompilationUnit(f"def forward(x):\n  return {SCRIPTS[name]}\n")
        module = Scripted(unit)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([2, 3])], min_block_size=1)
    got, expected = compiled(x), module(x)
    assert got.dtype == expected.dtype
    assert (got - expected).abs().max() <= 1e-5 * expected.abs().max()


SCRIPTS = {
    "add": "torch.relu(x) + 0j",
    "sub": "torch.relu(x) - 0j",
    "rsub": "torch.rsub(torch.relu(x), 0j)",
    "mul": "torch.relu(x) * complex(2, 0)",
    "div": "torch.relu(x) / complex(2, 0)",
    "pow": "torch.pow(torch.relu(x), complex(2, 0))",
    "where": "torch.where(x > 0, torch.relu(x), 0j)",
    "full": "torch.relu(x) + torch.full([2, 3], 1j)",
    "exp": "torch.exp(1j * x)",
    "real": "torch.relu(torch.real(torch.relu(x) * complex(1, 1)) + 1)",
    "add_alpha": "torch.add(torch.relu(x), x, alpha=1) + 1j",
}


def Scripted(unit):  # noqa: N802: it makes a module
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.function = unit.forward

        def forward(self, x):
            return self.function(x)

    return torch.jit.script(Net().eval())


class Chooses(nn.Module):
    def __init__(self, choose):
        super().__init__()
        self.choose = choose
        self.register_buffer("idx", torch.tensor([2, 0]))
        self.register_buffer("mask", torch.tensor([True, False, True]))

    def forward(self, x):
        if self.choose == "index_select":
            y = torch.index_select(x, 1, self.idx)
        elif self.choose == "gather":
            y = torch.gather(x, 1, self.idx.expand(2, 2))
        elif self.choose == "index":
            y = x[:, self.idx]
        elif self.choose == "masked_fill":
            y = x.masked_fill(self.mask, 0.0)
        else:
            y = torch.where(self.mask, x, x + 1)
        return torch.relu(y) * 2


@pytest.mark.parametrize("choose", ["index_select", "gather", "index", "masked_fill", "where"])
def test_what_chooses_elements_does_not_decide_the_dtype(choose):
    module, x = torch.jit.script(Chooses(choose).eval()), torch.randn(2, 3)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([2, 3])], require_full_compilation=True)
    assert_same(compiled(x), module(x))


def test_a_constant_mask_decides_for_a_mask():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("values", torch.randn(2, 3))

        def forward(self, mask):
            return self.values.masked_fill(mask, 0.0) + 1

    module, mask = torch.jit.script(Masked().eval()), torch.tensor([[True, False, True]])
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([1, 3])], require_full_compilation=True)
    assert_same(compiled(mask), module(mask))


class AsksForLayout(nn.Module):
    """Asks as scripted graph networks do, which take sparse adjacencies too."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x, weight):
        y = self.linear(x)
        if x.layout == torch.sparse_coo or x.is_sparse:
            raise ValueError("sparse tensors are not for this layer")
        if x.is_cuda or not x.is_cpu or x.is_quantized:
            y = y + 100
        assert y.dim() == 2
        assert weight.layout == torch.strided
        return torch.relu(y * weight) + 1


def test_questions_for_the_layout_are_answered():
    module = torch.jit.script(AsksForLayout().eval())
    arguments = (torch.randn(3, 4), torch.randn(3, 1))
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([3, 4]), torchtrt.Input([3, 1])], min_block_size=1)
    assert_same(compiled(*arguments).detach(), module(*arguments).detach())
    report = torchtrt.report(compiled)
    assert report.engine_segments == 1 and report.torch_segments == 0
