"""Every misuse of tests/errors gets its error: the code, the phrases that tell what is wrong and what to do, no InternalError.

A file there holds one misuse: CODE (None where the text is another's), SAYS (phrases of the message), and either misuse(folder),
which raises, or command(folder), which gives a command line that ends with status EXIT. `folder` is an empty one to work in.
"""

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import pytest
import torch

import torchtrt
import torchtrt.runtime

BUILD = Path(os.environ["TORCHTRT_BUILD"])
ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests" / "errors").glob("*.py"))
CODES = re.findall(r"^  k\w+,\s+// ([CEI]\d{3}) ", (ROOT / "include/torchtrt/error.h").read_text(encoding="utf-8"), re.MULTILINE)


def load(path: Path):
    spec = importlib.util.spec_from_file_location(f"errors_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def message_of_command(case, folder: Path) -> str:
    program, *arguments = case.command(folder)
    before = set(folder.iterdir())
    process = subprocess.run(
        [BUILD / "bin" / program, *arguments], capture_output=True, text=True, check=False, timeout=120)
    assert process.returncode == case.EXIT, process.stdout + process.stderr
    assert set(folder.iterdir()) == before, "a failed command leaves no file behind"
    return process.stdout + process.stderr


def message_of_call(case, folder: Path) -> str:
    # TypeError and ValueError are what TorchScript and pybind11 raise for arguments that are no tensors.
    with pytest.raises((torchtrt.Error, RuntimeError, TypeError, ValueError)) as caught, torchtrt.translated_errors():
        case.misuse(folder)
    if case.CODE is not None:
        assert isinstance(caught.value, torchtrt.Error), f"{type(caught.value).__name__}: {caught.value}"
        assert caught.value.code == case.CODE, str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_misuse(path, tmp_path):
    case = load(path)
    message = message_of_command(case, tmp_path) if hasattr(case, "command") else message_of_call(case, tmp_path)
    assert not re.search(r"\[I\d{3}\]|InternalError", message), message
    if case.CODE is not None:
        assert f"[{case.CODE}] " in message
    for phrase in case.SAYS:
        assert phrase in message, f"{phrase!r} is not in:\n{message}"


def compiled_relu(*inputs):
    return torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=list(inputs), require_full_compilation=True)


def test_a_batch_of_zero_is_no_error():
    compiled = compiled_relu(torchtrt.Input(min_shape=[0, 3], opt_shape=[2, 3], max_shape=[4, 3]))
    assert compiled(torch.ones(0, 3)).shape == (0, 3)
    assert torch.equal(compiled(-torch.ones(2, 3)), torch.zeros(2, 3))


def test_a_batch_of_zero_goes_through_a_whole_model():
    import models

    lenet = models.build("lenet")
    batch = torchtrt.Input(min_shape=[0, 1, 32, 32], opt_shape=[1, 1, 32, 32], max_shape=[2, 1, 32, 32])
    compiled = torchtrt.compile(torch.jit.script(lenet), inputs=[batch])
    assert compiled(torch.ones(0, 1, 32, 32)).shape == (0, 10)


def test_a_meta_tensor_gives_meta_results():
    result = compiled_relu(torchtrt.Input([-1, 3]))(torch.empty(5, 3, device="meta"))
    assert result.is_meta and result.shape == (5, 3) and result.dtype == torch.float32


def test_an_error_leaves_the_module_usable():
    compiled = compiled_relu(torchtrt.Input([2, 3]))
    with pytest.raises(torchtrt.EngineError), torchtrt.translated_errors():
        compiled(torch.ones(2, 4))
    assert torch.equal(compiled(torch.ones(2, 3)), torch.ones(2, 3))


def test_every_code_is_explained_on_a_page():
    assert len(CODES) == len(set(CODES)) and CODES[0] == "C001" and CODES[-1] == "I001"
    folder = ROOT / "docs" / "errors"
    assert {path.stem for path in folder.glob("[CEI]*.md")} == set(CODES)
    for code in CODES:
        page = (folder / f"{code}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {code}: ") and f"[{code}] " in page and "## What to do" in page


def test_every_code_a_user_can_provoke_has_a_misuse():
    # Only networks, plans and plugins made by hand bring C006, C008, C009 and E009: the unit tests of builder, network,
    # rewriting and kernels show them. Bound calls have no Python interface, so those of engine and runtime show E012 and E013.
    # I001 is for bugs.
    elsewhere = {"C006", "C008", "C009", "E009", "E012", "E013", "I001"}
    assert {load(path).CODE for path in FILES} >= set(CODES) - elsewhere


class Dot(torch.nn.Module):
    def forward(self, x, y):
        return torch.dot(x, y)


def test_dot_of_lengths_from_one_is_an_engine_and_refuses_what_pytorch_refuses():
    lengths = torchtrt.Input(min_shape=[1], opt_shape=[5], max_shape=[9])
    compiled = torchtrt.compile(torch.jit.script(Dot().eval()), inputs=[lengths, lengths])
    assert torchtrt.report(compiled).engine_segments == 1
    for length in (1, 5, 9):
        x, y = torch.randn(length), torch.randn(length)
        torch.testing.assert_close(compiled(x, y), torch.dot(x, y))
    with pytest.raises(RuntimeError, match=r"\[E010\].*matrix_multiply.*inner dimensions of its operands differ"):
        compiled(torch.randn(1), torch.randn(5))
