"""Complex tensors in whole modules: inside of engines as pairs of real ones, across borders never. Operators: operator_table_spectra.py."""

import pytest
import torch
import torchtrt
from same import assert_same

WINDOW = torch.hann_window(64)


def kinds(compiled):
    return [segment.target for segment in torchtrt.report(compiled).segments]


def compiled_and_same(module, *inputs, **options):
    compiled = torchtrt.compile(module, inputs=[x.clone() for x in inputs], **options)
    assert_same(compiled(*inputs), module(*inputs))
    return compiled


class Gate(torch.nn.Module):
    """A spectral gate: forth, a mask from magnitudes, and back."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))

    def forward(self, x):
        spectrum = torch.stft(x, 64, 16, window=self.window, return_complex=True)
        magnitude = spectrum.abs()
        mask = torch.sigmoid(magnitude - magnitude.mean(-1, keepdim=True))
        return torch.istft(spectrum * mask, 64, 16, window=self.window, length=x.shape[-1])


class SpectralConvolution(torch.nn.Module):
    """A layer of a Fourier neural operator, as they are written by hand: zeros, and slices of them filled in."""

    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.weight = torch.nn.Parameter(torch.view_as_complex(torch.rand(2, 3, 4, 4, 4, 2, generator=generator) - 0.5))
        self.skip = torch.nn.Conv2d(4, 4, 1)

    def forward(self, x):
        spectrum = torch.fft.rfft2(x)
        out = torch.zeros(x.shape[0], 4, x.shape[2], x.shape[3] // 2 + 1, dtype=torch.cfloat)
        out[:, :, :3, :4] = torch.einsum("bixy,xyio->boxy", spectrum[:, :, :3, :4], self.weight[0])
        out[:, :, -3:, :4] = torch.einsum("bixy,xyio->boxy", spectrum[:, :, -3:, :4], self.weight[1])
        return torch.relu(torch.fft.irfft2(out, s=(x.shape[2], x.shape[3])) + self.skip(x))


@torch.inference_mode()
@pytest.mark.parametrize("how", ["scripted", "traced"])
def test_a_spectral_gate_is_one_engine(how):
    module = Gate().eval()
    module = torch.jit.script(module) if how == "scripted" else torch.jit.trace(module, torch.randn(2, 1000))
    compiled = compiled_and_same(module, torch.randn(2, 1000))
    assert kinds(compiled) == ["engine"]


@torch.inference_mode()
def test_a_spectral_gate_for_batches_and_lengths():
    compiled = torchtrt.compile(torch.jit.script(Gate().eval()),
                                inputs=[torchtrt.Input(min_shape=[1, 300], opt_shape=[2, 1000], max_shape=[4, 2000])])
    for shape in [(1, 300), (3, 517), (4, 2000)]:
        x = torch.randn(shape)
        assert_same(compiled(x), Gate()(x))


@torch.inference_mode()
def test_a_fourier_neural_operator_is_one_engine():
    module = torch.jit.script(SpectralConvolution().eval())
    assert kinds(compiled_and_same(module, torch.randn(2, 4, 12, 10))) == ["engine"]
    dynamic = torchtrt.compile(module, inputs=[torchtrt.Input(min_shape=[1, 4, 12, 10], opt_shape=[2, 4, 12, 10], max_shape=[5, 4, 12, 10])])
    assert kinds(dynamic) == ["engine"]
    x = torch.randn(5, 4, 12, 10)
    assert_same(dynamic(x), module(x))


class Between(torch.nn.Module):
    """Something that no engine has between two stretches of complex numbers."""

    def forward(self, x):
        spectrum = torch.fft.rfft(torch.relu(x) * 2 + 1)
        spectrum = torch.tanh(spectrum)
        return torch.sigmoid(torch.fft.irfft(spectrum) * 3 - 1)


@torch.inference_mode()
def test_what_pytorch_needs_of_complex_tensors_it_computes_itself():
    compiled = compiled_and_same(torch.jit.script(Between().eval()), torch.randn(3, 16))
    assert kinds(compiled) == ["engine", "torch", "engine"]
    reasons = str(torchtrt.report(compiled))
    assert "no converter of aten::tanh takes complex numbers" in reasons
    assert "complex Tensor, and engines give real tensors" in reasons


class Complex(torch.nn.Module):
    def forward(self, x):
        return torch.fft.rfft(torch.relu(x) * 2 + 1) * 2j


@torch.inference_mode()
def test_a_complex_result_comes_from_pytorch():
    x = torch.randn(3, 16)
    compiled = torchtrt.compile(torch.jit.script(Complex().eval()), inputs=[x])
    assert torch.equal(compiled(x), Complex()(x))
    assert compiled(x).dtype == torch.complex64
    with pytest.raises(torchtrt.CompileError, match="complex Tensor, and engines give real tensors"):
        torchtrt.compile(torch.jit.script(Complex().eval()), inputs=[x], require_full_compilation=True)


class Branches(torch.nn.Module):
    """Questions and branches over what is complex are answered while compiling."""

    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        parts: list[torch.Tensor] = []
        for i in range(2):
            parts.append(spectrum * (i + 1))
        y = torch.cat(parts, -1)
        if y.is_complex():
            y = torch.view_as_real(y).sum(-1)
        if y.is_floating_point():
            y = y + y.size(-1)
        return y


@torch.inference_mode()
def test_branches_and_lists_of_complex_tensors():
    assert kinds(compiled_and_same(torch.jit.script(Branches().eval()), torch.randn(3, 16))) == ["engine"]


@torch.inference_mode()
def test_what_is_no_number_stays_in_its_row():
    x = torch.randn(20, 100)
    x[3, 7] = float("nan")
    x[5] *= 1e20
    module = torch.jit.trace(lambda x: torch.fft.rfft(x).abs().clamp_max(1e30), x)
    got, wanted = torchtrt.compile(module, inputs=[x.clone()])(x), module(x)
    for row in range(20):
        assert torch.equal(got[row].isnan(), wanted[row].isnan())
        if row != 3:
            torch.testing.assert_close(got[row], wanted[row], rtol=1e-5, atol=1e-6 * wanted[row].max().item())


@torch.inference_mode()
def test_windows_that_add_up_to_nothing_are_an_error():
    def back(x):
        return torch.istft(torch.view_as_complex(x), 16, 8, window=torch.hann_window(16), center=False)

    x = torch.randn(9, 4, 2)
    module = torch.jit.script(back)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([9, 4, 2])])
    for f in (module, compiled):
        with pytest.raises(RuntimeError):
            f(x)
