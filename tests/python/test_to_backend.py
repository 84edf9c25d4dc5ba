"""torch._C._jit_to_backend("tensorrt", ...) with torchtrt.ts.TensorRTCompileSpec: lowered methods against eager, saved, refused."""

import subprocess
import sys

import pytest
import torch

import nets
import torchtrt

BATCHES = {"min_shape": [1, 1, 32, 32], "opt_shape": [2, 1, 32, 32], "max_shape": [4, 1, 32, 32]}


class TwoMethods(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x, y):
        return self.linear(x) + y, torch.relu(x)

    @torch.jit.export
    def score(self, x):
        return self.linear(x).softmax(1)

    @torch.jit.export
    def nested(self, x):
        return [x, x + 1]


def lower(module, **specs):
    return torch._C._jit_to_backend("tensorrt", torch.jit.script(module.eval()), specs)


def spec(*shapes, **options):
    return torchtrt.ts.TensorRTCompileSpec(inputs=[torchtrt.Input(shape) for shape in shapes], **options)


@torch.inference_mode()
def test_a_method_in_a_range_of_shapes():
    module = nets.lenet().eval()
    lowered = lower(module, forward=torchtrt.ts.TensorRTCompileSpec(inputs=[torchtrt.Input(**BATCHES)]))
    for batch in (1, 3, 4):
        torch.testing.assert_close(lowered.forward(nets.images(batch)), module(nets.images(batch)), rtol=1e-4, atol=1e-5)
    with pytest.raises(RuntimeError, match="E005"):
        lowered.forward(nets.images(5))


@torch.inference_mode()
def test_several_methods_and_results():
    module, x, y = TwoMethods().eval(), torch.randn(2, 4), torch.randn(2, 3)
    lowered = lower(module, forward=spec([2, 4], [2, 3]), score=spec([2, 4]))
    torch.testing.assert_close(lowered.forward(x, y), module(x, y))
    torch.testing.assert_close(lowered.score(x), module.score(x))


@torch.inference_mode()
def test_half_precision_is_the_settings():
    module = TwoMethods().eval()
    lowered = lower(module, score=spec([2, 4], op_precision=torch.half))
    assert lowered.score(torch.randn(2, 4).half()).dtype == torch.half


@torch.inference_mode()
def test_pins_are_among_the_settings():
    module, x = TwoMethods().eval(), torch.randn(2, 4)
    pinned, plain = lower(module, score=spec([2, 4], precision={"*": torch.bfloat16})), lower(module, score=spec([2, 4]))
    assert not torch.equal(pinned.score(x), plain.score(x))
    torch.testing.assert_close(pinned.score(x), plain.score(x), rtol=2e-2, atol=2e-2)


@torch.inference_mode()
def test_saved_it_runs_with_the_runtime_alone(tmp_path):
    module, x = nets.lenet().eval(), nets.images()
    torch.jit._recursive.wrap_cpp_module(lower(module, forward=spec([1, 1, 32, 32]))._c).save(str(tmp_path / "lowered.ts"))
    torch.save((x, module(x)), tmp_path / "data.pt")
    script = (
        "import sys, torch, torchtrt.runtime\n"
        "module, (x, y) = torch.jit.load(sys.argv[1]), torch.load(sys.argv[2])\n"
        "torch.testing.assert_close(module.forward(x), y, rtol=1e-4, atol=1e-5)\n"
        "assert 'libtorchtrt.so' not in open('/proc/self/maps').read()\n")
    process = subprocess.run([sys.executable, "-c", script, tmp_path / "lowered.ts", tmp_path / "data.pt"], capture_output=True,
                             text=True, check=False)
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize("options, message", [
    ({"torch_executed_ops": ["aten::relu"]}, "what stays in PyTorch cannot be given"),
    ({"input_signature": (torch.ones(1),)}, "input_signature cannot be given"),
    ({"workspce_size": 1}, "did you mean"),
], ids=lambda value: next(iter(value)) if isinstance(value, dict) else "")
def test_settings_that_are_refused(options, message):
    with pytest.raises(torchtrt.CompileError, match=message):
        torchtrt.ts.TensorRTCompileSpec(**{"inputs": [[1]], **options})


@pytest.mark.parametrize("method, message", [
    ("nested", "give a Tensor or a tuple of Tensors"), ("missing", "missing")])
def test_methods_that_are_refused(method, message):
    with pytest.raises(Exception, match=message):
        lower(TwoMethods(), **{method: spec([2, 4])})


def test_what_has_no_converter_is_an_error():
    class Decomposition(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.qr(x)[0]

    with pytest.raises(Exception, match="linalg_qr"):
        lower(Decomposition(), forward=spec([3, 3]))
