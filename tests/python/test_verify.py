"""A compiled module against the module it was made of: torchtrt.verify and torchtrtc verify."""

import json

import pytest
import torch
from torch import nn

import torchtrt
from nets import Mixed
from test_rewriters import SetOp, manager_of
from test_torchtrtc import succeeds, torchtrtc


def mixed(seed):
    torch.manual_seed(seed)
    return torch.jit.script(Mixed().eval())


def compiled(module, **options):
    with torch.inference_mode():
        return torchtrt.compile(module, inputs=[torchtrt.Input([64, 32])], min_block_size=1, **options)


@pytest.fixture(scope="module")
def pair():
    module = mixed(0)
    return module, compiled(module)


@pytest.fixture(scope="module")
def wrong():
    """Returns a module whose engines subtract where it adds: in the first, in the loop, or in both."""
    return compiled(mixed(0), rewriters=[manager_of(SetOp("sum", "sub"))])


X = torch.randn(64, 32, generator=torch.Generator().manual_seed(1))


def test_all_agree(pair):
    verification = torchtrt.verify(*pair, [X], calls=3)
    assert verification.agrees and verification.first is None and verification.worst is None
    assert verification.outputs.relative <= verification.outputs.allowed == 1e-4
    assert len(verification.segments) >= 2 and max(segment.calls for segment in verification.segments) == 3
    for segment in verification.segments:
        assert segment.was_compared and not segment.note and not segment.culprit
        assert segment.deviation.relative <= segment.deviation.allowed and not segment.deviation.difference
        assert segment.deviation.allowed in (0, 1e-4)  # integers are exact
        assert "nets.py:" in segment.location or segment.location.startswith("torch/nn/")
        assert segment.nodes[0].startswith("aten::")
        assert segment.engine_milliseconds > 0 and segment.torch_milliseconds > 0
        assert segment.name in str(verification)
    assert verification.torch_milliseconds > 0 and verification.engine_milliseconds > 0
    assert str(verification).endswith(f"{verification.verdict}\n") and "the outputs agree" in verification.verdict


def test_engines_that_a_rewriter_broke_are_named(wrong):
    verification = torchtrt.verify(mixed(0), wrong, [X], calls=1)
    disagreeing = [segment for segment in verification.segments if segment.deviation.difference]
    assert disagreeing and not verification.agrees and verification.outputs.difference
    assert verification.first.name == disagreeing[0].name
    assert verification.worst.deviation.relative == max(segment.deviation.relative for segment in disagreeing)
    assert verification.first.deviation.relative > 1e-4 and verification.first.deviation.ulps > 1000
    # Engines that are made anew of the same operators are right.
    assert all(not segment.culprit for segment in disagreeing) and "made anew" in str(verification)
    assert f"first engine {verification.first.name} (torch/nn/modules/linear.py:" in verification.verdict
    text = json.loads(verification.to_json())
    assert (text["agrees"], text["first"], text["worst"]) == (False, verification.first.name, verification.worst.name)


def test_compiled_of_other_weights(pair):
    verification = torchtrt.verify(mixed(2), pair[1], [X], calls=1)
    assert not verification.agrees and verification.outputs.difference
    assert verification.first is None and "compiled from this module?" in verification.verdict


def test_modules_are_scripted_first():
    module = nn.Sequential(nn.ReLU(), nn.Tanh()).eval()
    small = torchtrt.compile(module, inputs=[torchtrt.Input([2, 3])], min_block_size=1)
    assert torchtrt.verify(module, small, [torch.randn(2, 3)], calls=1).agrees


def test_what_an_engine_was_not_made_for_is_told():
    module = torch.jit.script(nn.Sequential(nn.ReLU(), nn.Tanh()).eval())
    small = torchtrt.compile(module, inputs=[torchtrt.Input([2, 3])], min_block_size=1)
    verification = torchtrt.verify(module, small, [torch.randn(4, 5)], calls=1)
    assert verification.agrees and "0 of 1 engine compared" in verification.verdict
    assert "[E005]" in verification.segments[0].note and "[E005]" in str(verification)


def test_engines_that_keep_nothing_are_told():
    module = torch.jit.script(nn.ReLU().eval())
    full = torchtrt.compile(module, inputs=[torchtrt.Input([2, 3])], require_full_compilation=True)
    verification = torchtrt.verify(module, full, [torch.randn(2, 3)], calls=1)
    assert verification.agrees and "require_full_compilation" in verification.segments[0].note


def test_inputs_stay_as_they_are():
    class Writes(nn.Module):
        def forward(self, x):
            return torch.tanh(torch.relu(x.add_(1)))

    x = torch.zeros(2, 3)
    module = torch.jit.script(Writes().eval())
    small = torchtrt.compile(module, inputs=[torchtrt.Input([2, 3])], min_block_size=1)
    assert torchtrt.verify(module, small, [x], calls=2).agrees and torch.equal(x, torch.zeros(2, 3))


def test_engines_run_on_what_reached_them_and_not_on_what_it_became():
    class Writes(nn.Module):
        def forward(self, x):
            y = torch.relu(torch.tanh(x) + x)
            x.zero_()  # what the engine below does wrong does not show with zeros
            return y

    module = torch.jit.script(Writes().eval())
    wrong = torchtrt.compile(module, inputs=[torchtrt.Input([2, 3])], min_block_size=1, rewriters=[manager_of(SetOp("sum", "sub"))])
    verification = torchtrt.verify(module, wrong, [torch.rand(2, 3) + 1], calls=1)
    assert verification.first is not None and verification.outputs.difference


def test_misuse(pair):
    module, engines = pair
    with pytest.raises(torchtrt.CompileError, match="calls is 0"):
        torchtrt.verify(module, engines, [X], calls=0)
    with pytest.raises(torchtrt.CompileError, match="give the module that was compiled first"):
        torchtrt.verify(engines, module, [X])
    with pytest.raises(torchtrt.CompileError, match="compiled is a Mixed"):
        torchtrt.verify(module, Mixed().eval(), [X])
    with pytest.raises(torchtrt.CompileError, match="module is a"):
        torchtrt.verify(module.graph, engines, [X])
    with pytest.raises(RuntimeError, match="forward"):
        torchtrt.verify(module, engines, [])


def test_command_line(pair, wrong, tmp_path):
    for name, module in [("module", pair[0]), ("compiled", pair[1]), ("wrong", wrong)]:
        module.save(str(tmp_path / f"{name}.ts"))
    process = succeeds("verify", tmp_path / "module.ts", tmp_path / "compiled.ts", "(64,32)", "--calls", "2",
                       "--json", tmp_path / "verification.json")
    assert "the outputs agree" in process.stdout
    assert json.loads((tmp_path / "verification.json").read_text())["agrees"] is True
    process = torchtrtc("verify", tmp_path / "module.ts", tmp_path / "wrong.ts", "(64,32)")
    assert process.returncode == 1 and "disagree" in process.stdout and "disagree" in process.stderr
    assert torchtrtc("verify", tmp_path / "module.ts", tmp_path / "compiled.ts", "(64,32)", "--calls", "0").returncode == 2
