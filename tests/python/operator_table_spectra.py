"""Lines of the operator table for discrete Fourier transforms and complex numbers, which networks hold as pairs of real tensors: all give
real tensors in the end, since no complex one crosses the border of an engine."""

import torch

from operator_case import Operator, t

real, pair = torch.view_as_real, torch.view_as_complex
# Powers of two, small primes, a prime that is too large for a stage, and rows of one number.
ROWS = tuple((t(*shape),) for shape in [(3, 16), (2, 3, 15), (5, 1), (2, 22), (19, 74), (0, 8), (33, 60)]) + ((t(12, 9, layout="transposed"),), (t(3, 20, layout="sliced"),))
PAIRS = tuple((t(*shape, 2),) for shape in [(3, 9), (2, 3, 8), (4, 2), (17, 37), (0, 5)])
PLANES = ((t(2, 6, 10),), (t(1, 3, 9, 7),), (t(3, 4, 4, layout="transposed"),))
PAIR_PLANES = ((t(2, 6, 4, 2),), (t(3, 5, 6, 2),))
NUMBERS = ((t(2, 3, 4, 2), t(2, 3, 4, 2, low=0.5)), (t(2, 3, 4, 2), t(4, 2, low=0.5)), (t(0, 2, 2), t(1, 2, 2, low=0.5)), (t(3, 5, 2), t(3, 5, 2, low=0.5, layout="expanded")))
ONE = ((t(2, 3, 4, 2),), (t(0, 2),), (t(5, 2),))
SIGNALS = ((t(2, 400),), (t(160),), (t(3, 97),))
WINDOW = torch.hann_window(16)


def _stft(x, n=16, **options):
    window = options.pop("window", WINDOW)
    return torch.stft(x, n, window=None if window is None else window.to(x.dtype), return_complex=True, **options)


def _istft(x, n=16, **options):
    options = {"hop_length": 4, "window": WINDOW.to(x.dtype), **options}
    return torch.istft(pair(x), n, **options)


def _mel(x):
    bank = torch.linspace(0, 1, 9 * 5, dtype=x.dtype).reshape(9, 5)
    return torch.log(_stft(x, hop_length=5).abs().pow(2).transpose(-1, -2) @ bank + 1e-3)


def _filtered(x):
    return torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(torch.ones(5, dtype=x.dtype), n=x.shape[-1]), n=x.shape[-1])


def _spectral_convolution(x):
    weight = pair(torch.linspace(-1, 1, 3 * 2 * 2 * 2 * 2, dtype=x.dtype).reshape(3, 2, 2, 2, 2))
    z = torch.fft.rfft2(x)
    low = torch.einsum("bixy,ioxy->boxy", z[:, :, :2, :2], weight)
    padded = torch.nn.functional.pad(low, [0, z.shape[-1] - 2, 0, z.shape[-2] - 2])
    return torch.fft.irfft2(padded, s=x.shape[-2:])


OF_ROWS = [
    ("fft_rfft", lambda x: real(torch.fft.rfft(x))), ("fft_rfft_n", lambda x: real(torch.fft.rfft(x, n=10, norm="ortho"))),
    ("fft_rfft_axis", lambda x: real(torch.fft.rfft(x, dim=0, norm="forward"))), ("fft_fft_real", lambda x: real(torch.fft.fft(x))),
    ("fft_ifft_real", lambda x: real(torch.fft.ifft(x).resolve_conj())), ("fft_of_real_shifted", lambda x: real(torch.fft.fftshift(torch.fft.fft(x)))),
    ("fft_irfft_real", lambda x: torch.fft.irfft(x, n=2 * x.shape[-1] - 1)), ("filtered", _filtered),
    ("magnitudes", lambda x: torch.fft.rfft(x).abs()), ("hilbert", lambda x: torch.fft.ifft(torch.fft.fft(x) * (torch.arange(x.shape[-1]) < x.shape[-1] // 2).to(x.dtype) * 2).abs()),
]
OF_PAIRS = [
    ("fft_fft", lambda x: real(torch.fft.fft(pair(x)))), ("fft_ifft", lambda x: real(torch.fft.ifft(pair(x), norm="ortho"))),
    ("fft_fft_axis", lambda x: real(torch.fft.fft(pair(x), n=7, dim=0))), ("fft_irfft", lambda x: torch.fft.irfft(pair(x), n=9)),
    ("fft_irfft_even", lambda x: torch.fft.irfft(pair(x), n=12, norm="ortho")), ("fft_ifftshift", lambda x: real(torch.fft.ifftshift(pair(x)))),
]
OF_PLANES = [
    ("fft_rfft2", lambda x: real(torch.fft.rfft2(x))), ("fft_rfftn", lambda x: real(torch.fft.rfftn(x))), ("fft_fft2", lambda x: real(torch.fft.fft2(x, s=(5, 6)))),
    ("fft_fftn", lambda x: real(torch.fft.fftn(x, dim=(0, 1), norm="ortho"))), ("fft_ifft2", lambda x: real(torch.fft.ifft2(x))),
    ("fft_there_and_back", lambda x: torch.fft.irfft2(torch.fft.rfft2(x), s=x.shape[-2:])),
]
OF_PAIR_PLANES = [
    ("fft_irfft2", lambda x: torch.fft.irfft2(pair(x))), ("fft_irfftn", lambda x: torch.fft.irfftn(pair(x), s=(4, 5))), ("fft_ifftn", lambda x: real(torch.fft.ifftn(pair(x)))),
]
OF_NUMBERS = [
    ("complex_add", lambda a, b: real(pair(a) + pair(b))), ("complex_sub", lambda a, b: real(torch.sub(pair(a), pair(b), alpha=2))), ("complex_rsub", lambda a, b: real(torch.rsub(pair(a), pair(b)))),
    ("complex_mul", lambda a, b: real(pair(a) * pair(b))), ("complex_div", lambda a, b: real(pair(a) / pair(b))), ("complex_by_real", lambda a, b: real(pair(a) / b[..., 0] * b[..., 1] + b[..., 1])),
    ("complex_conj", lambda a, b: real(pair(a) * pair(b).conj())), ("complex_where", lambda a, b: real(torch.where(a[..., 0] > 0, pair(a), pair(b)))),
    ("complex_parts", lambda a, b: torch.complex(a[..., 0], a[..., 1]).imag - pair(b).real), ("polar", lambda a, b: real(torch.polar(b[..., 0], a[..., 1]))),
    ("complex_broadcast", lambda a, b: real(pair(a) + b[..., 0].sum())),
]
OF_ONE = [
    ("complex_abs", lambda x: pair(x).abs()), ("complex_angle", lambda x: pair(x).angle()), ("complex_exp", lambda x: real(pair(x).exp())), ("complex_square", lambda x: real(pair(x) ** 2)),
    ("complex_sgn", lambda x: real(pair(x).sgn())), ("complex_reciprocal", lambda x: real(torch.reciprocal(pair(x)))), ("complex_scalar", lambda x: real(pair(x) * (1 + 2j) - 0.5j)),
    ("complex_of_real", lambda x: real(x * 1j)), ("complex_rearranged", lambda x: real(torch.cat([pair(x).flip(0), pair(x)[None].squeeze(0)]).unsqueeze(-1).expand(*[-1] * (x.dim() - 1), 2))),
    ("complex_split", lambda x: real(torch.stack(torch.chunk(pair(x), 2, -1)[::-1]).sum(0))), ("complex_mean", lambda x: real(pair(x).mean(-1))), ("complex_pad", lambda x: real(torch.nn.functional.pad(pair(x), (1, 2)))),
    ("complex_log", lambda x: real(pair(x).log())), ("complex_masked", lambda x: real(pair(x).masked_fill(x[..., 0] > 0, 2))), ("complex_dtype", lambda x: real(pair(x).to(torch.complex128))),
    ("complex_shape", lambda x: pair(x).abs() * pair(x).numel() + pair(x).dim() + float(pair(x).is_complex())),
]
OF_SIGNALS = [
    ("stft", lambda x: real(_stft(x))), ("stft_hop", lambda x: real(_stft(x, hop_length=3, normalized=True))), ("stft_plain", lambda x: real(_stft(x, window=None, center=False))),
    ("stft_short_window", lambda x: real(_stft(x, 20, win_length=16, hop_length=7))), ("stft_odd", lambda x: real(_stft(x, 25, win_length=16, pad_mode="constant"))),
    ("stft_both_sides", lambda x: real(_stft(x, onesided=False))), ("stft_magnitudes", lambda x: _stft(x).abs()), ("stft_mel", _mel),
    ("stft_there_and_back", lambda x: torch.istft(_stft(x, hop_length=4), 16, 4, window=WINDOW.to(x.dtype), length=x.shape[-1])),
    ("stft_phase", lambda x: torch.cos(torch.angle(_stft(x, hop_length=8) + 3))),
]
SPECTRA = ((t(2, 9, 12, 2),), (t(9, 30, 2),))
OF_SPECTRA = [
    ("istft", lambda x: _istft(x)), ("istft_length", lambda x: _istft(x, length=30)), ("istft_longer", lambda x: _istft(x, length=140)), ("istft_plain", lambda x: _istft(x, window=None, center=False, normalized=True)),
    ("istft_short_window", lambda x: _istft(x, win_length=10, window=torch.ones(10, dtype=x.dtype))), ("istft_odd", lambda x: torch.istft(pair(x), 17, 4, window=None)),
]

TABLE = [
    *(Operator(name, f, ROWS, fixed="as long as the batch is the transform" if "axis" in name else "") for name, f in OF_ROWS), *(Operator(name, f, PAIRS) for name, f in OF_PAIRS),
    *(Operator(name, f, PLANES, batch=() if "rfftn" not in name and "fftn" not in name else (None,)) for name, f in OF_PLANES),
    *(Operator(name, f, PAIR_PLANES, batch=(None,) if name == "fft_ifftn" else ()) for name, f in OF_PAIR_PLANES), *(Operator(name, f, NUMBERS) for name, f in OF_NUMBERS),
    *(Operator(name, f, ONE) for name, f in OF_ONE), *(Operator(name, f, SIGNALS) for name, f in OF_SIGNALS), *(Operator(name, f, SPECTRA) for name, f in OF_SPECTRA),
    Operator("angle", torch.angle, ((t(2, 3, 4),), (t(),), (t(0, 3),), (t(4, 9, layout="sliced"),))),
    Operator("fft_fftshift", lambda x: torch.fft.fftshift(x), ROWS[:3]), Operator("fft_ifftshift_axis", lambda x: torch.fft.ifftshift(x, dim=-1), ROWS[:3]),
    Operator("spectral_convolution", _spectral_convolution, ((t(2, 3, 8, 6),), (t(1, 3, 5, 7),))),
    Operator("complex_matmul", lambda a, b: real(pair(a) @ pair(b)), ((t(2, 3, 4, 2), t(2, 4, 5, 2)), (t(3, 4, 2), t(4, 5, 2)))),
    Operator("complex_matmul_real", lambda a, b: real(pair(a) @ b.to(torch.complex64 if a.dtype == torch.float32 else torch.complex128)), ((t(3, 4, 2), t(4, 5)),)),
]
