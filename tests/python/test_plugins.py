"""Plugins from shared libraries: the example's source, built here, used from networks and compiles, saved and loaded."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

import torchtrt
import torchtrt.functional as f
import torchtrt.network as trt
from torchtrt.graph_rewriting import PatternRewriter, RewritePatternManager

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ["TORCHTRT_BUILD"])


def build_library(source: Path, library: Path) -> Path:
    command = ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-I{ROOT / 'include'}", source, f"-L{BUILD / 'lib'}",
               "-ltorchtrt_engine", "-o", library]
    process = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugin")
    path = build_library(ROOT / "examples" / "plugin" / "shifted_relu.cpp", folder / "libshifted_relu.so")
    trt.load_plugin_library(path)
    return path


def other_process(code: str, **variables) -> str:
    """Returns what the code prints, its error message included, without the warning of newer releases that torch.jit.load is deprecated."""
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    process = subprocess.run([sys.executable, "-W", "ignore::FutureWarning", "-c", textwrap.dedent(code)], capture_output=True, text=True,
                             env=environment, check=False)
    assert process.returncode >= 0, "it crashed: " + process.stderr
    return process.stdout + process.stderr


class UsePlugin(PatternRewriter):
    """relu(x) becomes the plugin."""

    def __init__(self):
        super().__init__("use_plugin", root_layer={trt.LayerType.ACTIVATION}, separate_match_rewrite=True)

    def match(self, layer):
        return layer.as_layer().op == "relu"

    def rewrite(self, layer):
        new = f.plugin(layer.get_inputs(), "example", "ShiftedRelu", shift=0.5)
        layer.get_outputs()[0].replace_all_uses_with(new)
        layer.mark_as_removed()


def use_plugin():
    manager = RewritePatternManager()
    manager.add(label="use_plugin", pattern=UsePlugin())
    return manager


def test_networks_use_it(library):
    trt.load_plugin_library(library)  # again: nothing happens
    assert "example::ShiftedRelu version 1" in trt.plugin_names()
    net = trt.Network()
    with trt.net_guard(net):
        x = trt.Tensor(name="x", shape=(2, 3))
        f.plugin([f.transpose(x, 0, 1)], "example", "ShiftedRelu", shift=2.0).mark_output("y")
    value = torch.randn(2, 3)
    assert torch.equal(net.build().run(value), torch.relu(value.T) + 2)


def test_plans_remember_its_library(library, tmp_path):
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.relu(x * 2) - 1

    compiled = torchtrt.compile(Model().eval(), inputs=[torchtrt.Input([2, 3])], rewriters=[use_plugin()])
    value = torch.randn(2, 3)
    assert torch.equal(compiled(value), torch.relu(value * 2) + 0.5 - 1)
    saved = tmp_path / "model.ts"
    compiled.save(str(saved))
    load = f"""
        import torch, torchtrt.runtime
        module = torch.jit.load({str(saved)!r})
        print(module(torch.tensor([[1.0, -2.0, 3.0]] * 2))[0].tolist())
    """
    missing = other_process(load)
    assert "[E009]" in missing and "plugin example::ShiftedRelu version 1 is not registered" in missing
    assert "it comes from library 'libshifted_relu.so'" in missing
    assert "[1.5, -0.5, 5.5]" in other_process(load, TORCHTRT_PLUGINS=library)
    loads = load.replace("module =", f"torchtrt.runtime.load_plugin_library({str(library)!r}); module =")
    assert "[1.5, -0.5, 5.5]" in other_process(loads)


def test_converters_use_them(tmp_path):
    """A library with a converter and its plugin: compiled by torchtrtc, in the engine, run where the library is loaded."""
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.special.bessel_j0(x.transpose(0, 1) * 2) + 1

    both = BUILD / "lib" / "libplugin_converter.so"
    source, saved = tmp_path / "source.ts", tmp_path / "model.ts"
    torch.jit.script(Model().eval()).save(str(source))
    command = [BUILD / "bin" / "torchtrtc", source, saved, "(3,4)", f"--custom-converters={both}", f"--plugins={both}",
               "--require-full-compilation"]
    process = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    run = f"""
        import torch, torchtrt.runtime
        module = torch.jit.load({str(saved)!r})
        value = torch.linspace(-9, 9, 12).reshape(3, 4)
        torch.testing.assert_close(module(value), torch.special.bessel_j0(value.T * 2) + 1, rtol=1e-5, atol=1e-6)
        print(sorted(engine.inspect().count("BesselJ0") > 0 for engine in torchtrt.runtime.engines(module).values()))
    """
    assert other_process(run, TORCHTRT_PLUGINS=both).strip() == "[True]"
    missing = other_process(run)
    assert "plugin example::BesselJ0 version 1 is not registered" in missing
    assert "it comes from library 'libplugin_converter.so'" in missing


@pytest.mark.parametrize(("source", "message"), [
    ("int unrelated;", "has no torchtrtPluginInterfaceVersion"),
    ('extern "C" int torchtrtPluginInterfaceVersion() { return 99; }', "was built for plugin interface 99, expected 1"),
])
def test_other_libraries_are_refused(tmp_path, source, message):
    (tmp_path / "other.cpp").write_text(source)
    path = build_library(tmp_path / "other.cpp", tmp_path / "libother.so")
    with pytest.raises(torchtrt.EngineError, match=message):
        trt.load_plugin_library(path)


def test_a_missing_file_and_a_clash_are_errors(library, tmp_path):
    with pytest.raises(torchtrt.EngineError, match="cannot be opened"):
        trt.load_plugin_library(tmp_path / "none.so")
    with pytest.raises(torchtrt.EngineError, match=r"\[E009\] there is no plugin library '.*none.so'"):
        torchtrt.runtime.load_plugin_library(tmp_path / "none.so")
    copy = tmp_path / "libcopy.so"
    copy.write_bytes(library.read_bytes())
    with pytest.raises(torchtrt.EngineError, match="ShiftedRelu version 1 is registered already"):
        trt.load_plugin_library(copy)
