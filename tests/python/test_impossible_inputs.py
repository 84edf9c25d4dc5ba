"""Inputs that a module can never take, and modules that raise whatever they get."""

import pytest
import torch
from torch import nn

import torchtrt
from same import assert_same


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc = nn.Linear(400, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


def lenet(front):
    net = LeNet().eval()
    return torch.jit.trace(net, torch.randn(1, 1, 32, 32)) if front == "traced" else torch.jit.script(net)


@pytest.mark.parametrize("front", ["scripted", "traced"])
def test_channels_that_no_convolution_takes(front):
    with pytest.raises(torchtrt.CompileError) as caught:
        torchtrt.compile(lenet(front), inputs=[torchtrt.Input([1, 3, 32, 32])])
    text = str(caught.value)
    assert caught.value.code == "C002" and "aten::conv2d" in text and "expected input[1, 3, 32, 32] to have 1 channels" in text
    assert "test_impossible_inputs.py:" in text or "conv.py:" in text


@pytest.mark.parametrize("front", ["scripted", "traced"])
def test_a_dtype_that_no_convolution_takes(front):
    with pytest.raises(torchtrt.CompileError, match="C002.*aten::conv2d"):
        torchtrt.compile(lenet(front), inputs=[torchtrt.Input([1, 1, 32, 32], dtype=torch.int32)])


@pytest.mark.parametrize("front", ["scripted", "traced"])
def test_rows_that_the_last_product_does_not_take(front):
    with pytest.raises(torchtrt.CompileError, match="C002.*aten::linear"):
        torchtrt.compile(lenet(front), inputs=[torchtrt.Input([1, 1, 40, 40])])


def test_a_range_of_which_one_size_fits_is_no_error():
    shapes = {"min": [1, 1, 32, 32], "opt": [1, 1, 32, 32], "max": [1, 1, 40, 40]}
    module, x = lenet("scripted"), torch.randn(1, 1, 32, 32)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input(min_shape=shapes["min"], opt_shape=shapes["opt"], max_shape=shapes["max"])])
    assert_same(compiled(x).detach(), module(x).detach())


class Unfit(nn.Module):
    """Has a size that only elements tell: this input is none that fits, another is."""

    def forward(self, x):
        chosen = x[x > 0.5]
        return torch.relu(chosen.sum() + torch.cat([chosen.view(-1), x.flatten()])) * 2


def test_what_depends_on_elements_is_no_error():
    module, x = torch.jit.script(Unfit().eval()), torch.rand(3, 4)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([3, 4])])
    assert_same(compiled(x), module(x))


def test_samples_that_the_module_does_not_take():
    for module in (lenet("scripted"), lenet("traced"), torch.jit.freeze(lenet("scripted"))):
        with pytest.raises(torchtrt.CompileError, match="C002"):
            torchtrt.compile(module, inputs=[torch.randn(1, 3, 32, 32)])



class BehindWhatFails(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        y = torch.fft.rfft(torch.relu(self.first(x)), 3, 7).abs()  # there is no such dimension
        y = torch.relu(self.second(y)) + 1
        return torch.sigmoid(y) * 2 + torch.tanh(x)


def test_what_is_behind_a_failure_is_no_reason_of_its_own():
    module = torch.jit.script(BehindWhatFails().eval())
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([2, 4])], min_block_size=1)
    reasons = [reason for segment in torchtrt.report(compiled).segments for reason in segment.reasons]
    assert not [reason for reason in reasons if "nothing is known of the type" in reason], reasons
    assert len([reason for reason in reasons if "at which the example run fails" in reason]) <= 1
    with pytest.raises(RuntimeError, match="Dimension out of range"):
        compiled(torch.randn(2, 4))


class RaisesText(nn.Module):
    def forward(self, x):
        raise RuntimeError("shape {} is not for {}".format(x.size(0), "me"))
        return x


class RaisesBehindWork(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.relu(self.linear(x)) * 2 + 1
        if True:
            raise ValueError("never works")
        return y


class ViewsImpossibly(nn.Module):
    def forward(self, x):
        return torch.relu(x).view(7, 7)


@pytest.mark.parametrize("made", [RaisesText, RaisesBehindWork, ViewsImpossibly])
@pytest.mark.parametrize("with_samples", [False, True])
def test_a_module_that_raises_for_every_input(made, with_samples):
    """Compiles, and raises the same error when it is called, or says while compiling what the module raises."""
    module, x = torch.jit.script(made().eval()), torch.randn(2, 4)
    with pytest.raises(Exception) as expected:  # noqa: PT011: TorchScript's classes of errors differ
        module(x)
    said = str(expected.value).strip().splitlines()[-1].split("Error: ")[-1]
    try:
        compiled = torchtrt.compile(module, inputs=[x if with_samples else torchtrt.Input([2, 4])])
    except torchtrt.CompileError as error:
        assert said in str(error)
        return
    with pytest.raises(Exception) as got:  # noqa: PT011
        compiled(x)
    assert said in str(got.value)
