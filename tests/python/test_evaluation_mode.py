"""Modules that were never put into evaluation mode: a copy in evaluation mode is compiled, and a line says so."""

import pytest
import torch
from torch import nn

import torchtrt
from same import assert_same, saved


class Wrapper(nn.Module):
    """Around an evaluated module, as people write them to be traced; nothing in it depends on its own flag."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x) * 2


class Depends(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm, self.drop = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)

    def forward(self, x):
        x = self.drop(self.norm(self.linear(x)))
        if self.training:
            x = x + 100
        return x

    @torch.jit.export
    def is_training(self) -> bool:
        return self.training


X = torch.randn(3, 4)
INPUTS = [torchtrt.Input([3, 4])]


def without_flag(kind):
    module = Wrapper(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout()).eval())
    return torch.jit.trace(module, X) if kind == "traced" else torch.jit.script(module) if kind == "scripted" else module


@pytest.mark.parametrize("kind", ["traced", "scripted", "eager"])
@pytest.mark.parametrize("whole", [False, True])
def test_a_flag_that_nothing_reads_is_told_in_a_line(kind, whole, capfd):
    module = without_flag(kind)
    assert module.training
    compiled = torchtrt.compile(module, inputs=INPUTS, require_full_compilation=whole)
    said = capfd.readouterr().err
    assert "nothing in it depends: a copy in evaluation mode is taken" in said and "WARNING" not in said
    assert module.training and not compiled.training
    assert_same(compiled(X).detach(), module(X).detach())


@pytest.mark.parametrize("kind", ["scripted", "eager"])
@pytest.mark.parametrize("whole", [False, True])
def test_what_depends_on_the_flag_is_named_in_a_warning(kind, whole, capfd):
    module = torch.jit.script(Depends()) if kind == "scripted" else Depends()
    compiled = torchtrt.compile(module, inputs=INPUTS, require_full_compilation=whole)
    said = capfd.readouterr().err
    assert "WARNING" in said and "a copy in evaluation mode is taken" in said
    for who in ["the module itself", "'norm' (BatchNorm1d)", "'drop' (Dropout)"]:
        assert who in said
    assert "linear" not in said
    assert module.training and module.norm.training and module.norm.num_batches_tracked == 0
    module.eval()
    assert_same(compiled(X).detach(), module(X).detach())
    if not whole:
        assert compiled.is_training() is saved(compiled).is_training() is False


def test_a_child_in_training_mode_is_named(capfd):
    module = nn.Sequential(nn.ReLU(), nn.BatchNorm1d(4)).eval()
    module[1].train()
    torchtrt.compile(torch.jit.script(module), inputs=INPUTS)
    assert "in which '1' (BatchNorm1d) computes something else" in capfd.readouterr().err


def test_evaluated_modules_are_not_talked_of(capfd):
    torchtrt.compile(torch.jit.script(Depends().eval()), inputs=INPUTS)
    assert "evaluation mode" not in capfd.readouterr().err


def test_the_copy_shares_the_weights():
    """Compiling holds no second copy of them: what the engine borrows is the user's memory."""
    module = torch.jit.script(Wrapper(nn.Linear(4, 4)))
    before = {name: tensor.data_ptr() for name, tensor in module.state_dict().items()}
    torchtrt.compile(module, inputs=INPUTS)
    assert before == {name: tensor.data_ptr() for name, tensor in module.state_dict().items()}


def test_engines_checks_and_verify():
    module = without_flag("scripted")
    assert torchtrt.convert_method_to_trt_engine(module, inputs=INPUTS)
    assert torchtrt.ts.check_method_op_support(module)
    compiled = torchtrt.compile(module, inputs=INPUTS)
    assert torchtrt.verify(module, compiled, [X]).agrees
    depends = torch.jit.script(Depends())
    assert torchtrt.verify(depends, torchtrt.compile(depends, inputs=INPUTS), [X]).agrees  # against the same copy
    assert depends.training


class LstmOfWeights(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.out(self.lstm(x)[0])


def test_a_quantized_lstm_keeps_its_packed_weights():
    if not torch.backends.quantized.supported_engines:
        pytest.skip("this PyTorch has no quantized kernels")
    module = torch.jit.script(torch.ao.quantization.quantize_dynamic(LstmOfWeights().eval(), {nn.LSTM, nn.Linear}))
    assert any(getattr(each, "training", False) for each in module.modules())
    x = torch.randn(5, 1, 4)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([5, 1, 4])])
    assert_same(compiled(x).detach(), module(x).detach())
