"""The sample of docs/adding_a_converter.md, built by the command that the page gives, used from Python and by torchtrtc."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import torch

import torchtrt

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ["TORCHTRT_BUILD"])
PAGE = (ROOT / "docs" / "adding_a_converter.md").read_text(encoding="utf-8")


def run(command) -> str:
    process = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("converter")
    (sample,) = re.findall(r"^```cpp\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (folder / "my_converter.cpp").write_text(sample)
    command = re.search(r"^    (c\+\+ .*?)\n\n", PAGE, re.MULTILINE | re.DOTALL).group(1).replace("\\\n", " ").split()
    places = {"<torchtrt>/include": ROOT / "include", "<torchtrt>/lib": BUILD / "lib", "<torch>": Path(torch.__file__).parent,
              "my_converter.cpp": folder / "my_converter.cpp", "libmy_converter.so": folder / "libmy_converter.so", "-O2": "-O0"}
    for place, path in places.items():
        command = [word.replace(place, str(path)) for word in command]
    run(command)
    torch.ops.load_library(folder / "libmy_converter.so")
    return folder / "libmy_converter.so"


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.example.softened(x * 2, 0.5) + torch.ops.example.softened(x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@torch.inference_mode()
def test_it_is_part_of_the_engine(library, dtype):
    spec = torchtrt.Input(min_shape=[0, 3], opt_shape=[2, 3], max_shape=[5, 3], dtype=dtype)
    compiled = torchtrt.compile(torch.jit.script(Model().eval()), inputs=[spec], require_full_compilation=True)
    for batch in (0, 1, 5):
        x = torch.randn(batch, 3).to(dtype)
        torch.testing.assert_close(compiled(x), Model()(x))


@torch.inference_mode()
def test_what_it_refuses_stays_in_pytorch(library):
    compiled = torchtrt.compile(torch.jit.script(Model().eval()), inputs=[torchtrt.Input([4], dtype=torch.int64)])
    x = torch.tensor([-3, 0, 1, 7])
    torch.testing.assert_close(compiled(x), Model()(x))
    assert "only floating tensors are softened" in str([node.reason for node in torchtrt.report(compiled).nodes])


@torch.inference_mode()
def test_torchtrtc_opens_it(library, tmp_path):
    torch.jit.script(Model().eval()).save(str(tmp_path / "source.ts"))
    run([BUILD / "bin" / "torchtrtc", tmp_path / "source.ts", tmp_path / "model.ts", "(2,3)", f"--custom-torch-ops={library}",
         f"--custom-converters={library}", "--require-full-compilation"])
    x = torch.randn(2, 3)
    torch.testing.assert_close(torch.jit.load(str(tmp_path / "model.ts"))(x), Model()(x))
