"""bundle puts inputs and expected outputs into a module's file, and check --numbers compares with them."""

import zipfile

import pytest
import torch
from torch import nn

import torchtrt
from test_torchtrtc import succeeds, torchtrtc

SPEC = "(8,4)"
RECORD = "extra/torchtrt_numbers.pt"


class Several(nn.Module):
    def forward(self, xs: list[torch.Tensor], scale: float):
        return {"sum": (xs[0] + xs[1]) * scale}, xs[0].relu()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle")
    torch.manual_seed(0)
    module = torch.jit.script(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)).eval())
    module.save(str(path / "net.ts"))
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([8, 4])], min_block_size=1)
    torch.jit.save(compiled, str(path / "compiled.ts"), _extra_files={"labels.txt": "cat\ndog"})
    torch.jit.script(nn.Linear(4, 3).eval()).save(str(path / "other.ts"))
    torch.jit.script(Several().eval()).save(str(path / "several.ts"))
    torch.save(([torch.ones(3), torch.ones(3)], 2.0), path / "several.pt")
    succeeds("bundle", "compiled.ts", "tested.ts", SPEC, "--original", "net.ts", cwd=path)
    return path


def contents(file):
    """Records without the archive's name and libtorch's hash of all of them."""
    with zipfile.ZipFile(file) as archive:
        names = {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}
    return {name: content for name, content in names.items() if name != ".data/serialization_id"}


def test_check_compares_with_the_numbers_in_the_file(folder):
    out = succeeds("check", "tested.ts", "--numbers", cwd=folder).stdout
    assert "tested.ts: loads, 1 engine\n" in out
    assert "tested.ts: its outputs are as expected: relative error " in out and "allowed 0.0001" in out


def test_everything_else_in_the_file_stays(folder):
    before, after = contents(folder / "compiled.ts"), contents(folder / "tested.ts")
    assert after.pop(RECORD) and before == after
    files = {"labels.txt": ""}
    module = torch.jit.load(str(folder / "tested.ts"), _extra_files=files)
    assert files["labels.txt"] == b"cat\ndog"
    x = torch.randn(8, 4)
    assert torch.equal(module(x), torch.jit.load(str(folder / "compiled.ts"))(x))


def test_a_later_bundle_takes_the_place_of_the_first(folder):
    succeeds("bundle", "tested.ts", "again.ts", SPEC, cwd=folder)
    with zipfile.ZipFile(folder / "again.ts") as archive:
        assert sum(name.endswith(RECORD) for name in archive.namelist()) == 1
    succeeds("check", "again.ts", "--numbers", cwd=folder)
    succeeds("bundle", "again.ts", "again.ts", SPEC, cwd=folder)  # in place
    succeeds("check", "again.ts", "--numbers", cwd=folder)


def test_collections_and_numbers_are_bundled_too(folder):
    succeeds("bundle", "several.ts", "several_tested.ts", "--inputs=several.pt", cwd=folder)
    assert "are as expected" in succeeds("check", "several_tested.ts", "--numbers", cwd=folder).stdout


def test_outputs_of_a_file_are_expected(folder):
    x = torch.randn(8, 4)
    torch.save((x,), folder / "x.pt")
    torch.save(torch.jit.load(str(folder / "net.ts"))(x).detach(), folder / "y.pt")
    succeeds("bundle", "compiled.ts", "given.ts", "--inputs=x.pt", "--outputs=y.pt", cwd=folder)
    succeeds("check", "given.ts", "--numbers", cwd=folder)


def test_no_file_is_written_that_fails_its_own_check(folder):
    process = torchtrtc("bundle", "compiled.ts", "bad.ts", SPEC, "--original", "other.ts", cwd=folder)
    assert process.returncode == 1 and "gives other outputs than it holds: the largest difference" in process.stderr
    assert not (folder / "bad.ts").exists()


def test_a_module_that_computes_something_else_where_it_arrives_fails(folder, tmp_path):
    """Puts the numbers of one module into another one's file."""
    with zipfile.ZipFile(folder / "tested.ts") as archive:
        [numbers] = [archive.read(name) for name in archive.namelist() if name.endswith(RECORD)]
    files = {"torchtrt_numbers.pt": numbers}
    torch.jit.save(torch.jit.load(str(folder / "other.ts")), str(tmp_path / "swapped.ts"), _extra_files=files)
    process = torchtrtc("check", tmp_path / "swapped.ts", "--numbers")
    assert process.returncode == 1 and "its outputs are not as expected" in process.stdout
    assert "gives other outputs than it holds" in process.stderr


@pytest.mark.parametrize("numbers", [b"", b"no pickle", b"PK\x03\x04"])
def test_damaged_numbers_are_an_error(folder, tmp_path, numbers):
    torch.jit.save(torch.jit.load(str(folder / "net.ts")), str(tmp_path / "damaged.ts"), _extra_files={"torchtrt_numbers.pt": numbers})
    process = torchtrtc("check", tmp_path / "damaged.ts", "--numbers")
    assert process.returncode == 1 and "[C004]" in process.stderr and "damaged inputs and expected outputs" in process.stderr
