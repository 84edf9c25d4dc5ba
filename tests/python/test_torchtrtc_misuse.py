"""torchtrtc tells of wrong command lines, files and input specifications what it expected, what it got, and the way out. Single misuses
with their codes are in tests/errors."""

import re
import zipfile

import pytest
import torch
from torch import nn

from test_torchtrtc import succeeds, torchtrtc

# Gives, for a wrong command line, the message (expected and got) and the way out.
WRONG_COMMAND_LINES = {
    "--no-such-option": ('there is no option "--no-such-option" of torchtrtc', "torchtrtc --help lists all"),
    "in.ts out.ts (2) --min-blok-size=3": ('there is no option "--min-blok-size" of torchtrtc',
                                           "did you mean --min-block-size? torchtrtc --help lists all"),
    "run x.ts (2) --cals=3": ('there is no option "--cals" of torchtrtc run', "did you mean --calls? torchtrtc run --help lists all"),
    "run x.ts (2) -z": ('there is no option "-z" of torchtrtc run', "torchtrtc run --help lists all"),
    "check a.ts b.ts": ('"b.ts" is one argument too many', "call torchtrtc check FILE"),
    "inspect": ("no FILE was given", "call torchtrtc inspect FILE"),
    "check": ("no FILE was given", "call torchtrtc check FILE"),
    "triton a.ts": ("no REPOSITORY was given", "call torchtrtc triton FILE REPOSITORY"),
    "triton a.ts b --instances=0": ('--instances: expected a whole number, 1 or more, got "0"', "see torchtrtc triton --help"),
    "run": ("no FILE was given", "call torchtrtc run FILE [SPECS...]"),
    "verify a.ts": ("no COMPILED was given", "call torchtrtc verify FILE COMPILED [SPECS...]"),
    "run x.ts --calls=-1": ('--calls: expected a whole number, 0 or more, got "-1"', "see torchtrtc run --help"),
    "profile x.ts --calls=0": ('--calls: expected a whole number, 1 or more, got "0"', "see torchtrtc profile --help"),
    "verify a.ts b.ts --calls=1.5": ('--calls: expected a whole number, 1 or more, got "1.5"', "see torchtrtc verify --help"),
    "profile x.ts --threads=all": ('--threads: expected a whole number, 1 or more, got "all"', "see torchtrtc profile --help"),
    "in.ts out.ts (2) --engine-capability=huge": (
        '--engine-capability: expected standard, safety or dla_standalone, got "huge"', "see torchtrtc --help"),
    "in.ts out.ts (2) --gpu-id=first": ('--gpu-id: expected a number, got "first"', "see torchtrtc --help"),
    "in.ts out.ts (2) --tune=often": ('--tune: expected no value, got "often"', "see torchtrtc --help"),
    "in.ts out.ts (2) --mbs": ("--mbs: expected a value, got none", "write it behind the option; see torchtrtc --help"),
    "in.ts out.ts (2) --gpu-id=1 --gpu-id=2": ("--gpu-id was given twice", "give it once; see torchtrtc --help"),
    "in.ts out.ts (2) -v -w": ("more than one of --verbose, --info and --warnings", "give at most one of them"),
}


@pytest.mark.parametrize("line", WRONG_COMMAND_LINES)
def test_wrong_command_lines_exit_with_2(line):
    process = torchtrtc(*line.split())
    message, advice = WRONG_COMMAND_LINES[line]
    assert (process.returncode, process.stderr) == (2, f"torchtrtc: [C003] {message}\n  {advice}\n")


# Files that are no modules, and what is said of each.
OTHER_FILES = {
    "missing": 'there is no file "missing"',
    "folder": '"folder" is a folder',
    "/dev/null": '"/dev/null" is no regular file',
    "empty": '"empty" is empty',
    "text": '"text" is text',
    "picture": '"picture" is something else, or damaged',
    "checkpoint": '"checkpoint" is a checkpoint of torch.save',
    "old_checkpoint": '"old_checkpoint" is a checkpoint of torch.save',
    "exported": '"exported" is an exported program of torch.export',
    "safetensors": '"safetensors" is a file of safetensors',
    "zip": '"zip" is a zip archive of other things',
    "cut": '"cut" is an archive that lost its end',
    "tensorrt": '"tensorrt" is an engine of NVIDIA\'s TensorRT',
}


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """A folder with OTHER_FILES, a module, and an engine, whole and cut off."""
    path = tmp_path_factory.mktemp("others")
    torch.jit.script(nn.ReLU().eval()).save(str(path / "relu.ts"))
    (path / "folder").mkdir()
    (path / "empty").touch()
    (path / "text").write_text("a module, it says here\n")
    (path / "picture").write_bytes(b"\x89PNG" + bytes(100))
    (path / "safetensors").write_bytes((2).to_bytes(8, "little") + b'{"a": 1}')
    (path / "tensorrt").write_bytes(b"ftrt" + bytes(100))
    linear = nn.Linear(4, 2)
    torch.jit.script(linear.eval()).save(str(path / "cut"))
    (path / "cut").write_bytes((path / "cut").read_bytes()[:-1000])
    torch.save(linear.state_dict(), path / "checkpoint")
    torch.save(linear.state_dict(), path / "old_checkpoint", _use_new_zipfile_serialization=False)
    torch.export.save(torch.export.export(linear, (torch.ones(1, 4),)), path / "exported.pt2")
    (path / "exported.pt2").rename(path / "exported")
    with zipfile.ZipFile(path / "zip", "w") as archive:
        archive.writestr("pictures/none.txt", "none")
    succeeds(path / "relu.ts", path / "engine", "(2)", "--save-engine")
    (path / "cut_engine").write_bytes((path / "engine").read_bytes()[:-1])
    return path


@pytest.mark.parametrize("file", OTHER_FILES)
def test_other_files_are_called_what_they_are(others, file):
    commands = {
        "a TorchScript module or an engine that --save-engine wrote": ["inspect", file],
        "a TorchScript module": ["check", file],
        "an engine that --save-engine wrote": [file, "./out", "--embed-engine"],
    }
    if file == "missing":  # as a file to compile it might be a command misspelt
        del commands["an engine that --save-engine wrote"]
    for expected, command in commands.items():
        process = torchtrtc(*command, cwd=others)
        assert process.returncode == 1
        said = re.escape(f"torchtrtc: [C004] {OTHER_FILES[file]}") + r"( \(.*\))?" + re.escape(f", expected {expected}\n  ") + ".+\n"
        assert re.fullmatch(said, process.stderr), process.stderr


@pytest.mark.parametrize("command", [["run", "FILE"], ["profile", "FILE"], ["verify", "FILE", "relu.ts"], ["verify", "relu.ts", "FILE"],
                                     ["./FILE", "./out", "(2)"]])
def test_every_command_says_that_a_file_is_an_engine(others, command):
    process = torchtrtc(*(word.replace("FILE", "engine") for word in command), cwd=others)
    assert process.returncode == 1
    assert 'engine" is an engine that --save-engine wrote, expected a TorchScript module\n  torchtrtc ENGINE' in process.stderr


def test_a_damaged_engine_is_named(others):
    for command in (["inspect", "cut_engine"], ["./cut_engine", "./out", "--embed-engine"]):
        process = torchtrtc(*command, cwd=others)
        assert process.returncode == 1
        assert re.match(r'torchtrtc: \[E001\] "(\./)?cut_engine": damaged plan: .*truncated', process.stderr), process.stderr


def test_a_damaged_module_is_named(others):
    content = (others / "relu.ts").read_bytes()
    (others / "damaged.ts").write_bytes(content.replace(b"__torch__.torch.nn", b"__torch__.torch.nx"))
    process = torchtrtc("check", "damaged.ts", cwd=others)
    assert process.returncode == 1
    assert re.search(r'\[C004\] "damaged.ts" is a TorchScript module that cannot be loaded: .*ReLU\'\n  copy it again', process.stderr), process.stderr


def test_a_module_is_not_embedded(others):
    process = torchtrtc("./relu.ts", "./out", "--embed-engine", cwd=others)
    assert process.returncode == 1
    assert '"./relu.ts" is a TorchScript module, expected an engine that --save-engine wrote' in process.stderr


class Weighted(nn.Module):
    def forward(self, x: torch.Tensor, weight: torch.Tensor | None = None, power: int = 2):
        return (x if weight is None else x * weight) ** power


class Counted(nn.Module):
    def forward(self, x: torch.Tensor, count: int):
        return x * count


class Unnamed(nn.Module):
    @torch.jit.export
    def other(self, x):
        return x


@pytest.mark.parametrize("command, files", [("run", ["weighted.ts"]), ("profile", ["weighted.ts"]), ("verify", ["weighted.ts"] * 2)])
@pytest.mark.parametrize("specs, says", [([], "got no input specifications"), (["(2)"] * 3, "got 3 input specifications")])
def test_too_few_and_too_many_specifications_say_what_forward_takes(tmp_path, command, files, specs, says):
    torch.jit.script(Weighted().eval()).save(str(tmp_path / "weighted.ts"))
    process = torchtrtc(command, *files, *specs, cwd=tmp_path)
    assert process.returncode == 2
    takes = "forward(x: Tensor, weight: Optional[Tensor] = None, power: int = 2) takes 1 to 2 tensors"
    example = " ".join(["torchtrtc", command, *files]) + " \"(1,3,224,224)@f32\"" * (2 if specs else 1)
    assert process.stderr.startswith(f"torchtrtc: [C002] {takes}, {says}\n") and process.stderr.endswith(f"such as: {example}\n")


@pytest.mark.parametrize("specs", [["(2)"], ["(2)", "(2)"]])
def test_specifications_may_leave_out_what_has_a_default(tmp_path, specs):
    torch.jit.script(Weighted().eval()).save(str(tmp_path / "weighted.ts"))
    assert "output: Float[2]" in succeeds("run", tmp_path / "weighted.ts", *specs, "--calls=0").stdout


def test_a_forward_that_wants_more_than_tensors_is_not_called(tmp_path):
    torch.jit.script(Counted().eval()).save(str(tmp_path / "counted.ts"))
    process = torchtrtc("run", tmp_path / "counted.ts", "(2)")
    assert process.returncode == 1
    assert '[C004] "count" of forward(x: Tensor, count: int) is no tensor' in process.stderr


def test_a_module_without_forward_is_not_called(tmp_path):
    torch.jit.script(Unnamed().eval()).save(str(tmp_path / "other.ts"))
    process = torchtrtc("run", tmp_path / "other.ts", "(2)")
    assert process.returncode == 1 and "[C004] the module has no forward" in process.stderr


def test_a_specification_is_shown_as_it_was_written(tmp_path):
    torch.jit.script(nn.ReLU().eval()).save(str(tmp_path / "relu.ts"))
    process = torchtrtc("run", tmp_path / "relu.ts", "[(1);(2)]")
    assert process.returncode == 2 and '[C002] input specification "[(1);(2)]": expected three shapes' in process.stderr


class Picky(nn.Module):
    def forward(self, x):
        assert float(x.sum()) < -1e9, "the sum is too large"
        return torch.relu(x)


def test_a_comparison_that_the_module_refuses_says_what_to_give(tmp_path):
    torch.jit.script(Picky().eval()).save(str(tmp_path / "picky.ts"))
    told = succeeds(tmp_path / "picky.ts", tmp_path / "out.ts", "(2,5)").stderr
    assert "the sum is too large; give each input the shape and dtype that the module takes, or --no-threshold-check" in told


def test_sizes_that_the_module_can_never_take_are_refused(tmp_path):
    torch.jit.script(nn.Linear(4, 2).eval()).save(str(tmp_path / "linear.ts"))
    process = torchtrtc(tmp_path / "linear.ts", tmp_path / "out.ts", "(2,5)")
    assert process.returncode == 2
    assert "[C002]" in process.stderr and "mat1 and mat2 shapes cannot be multiplied (2x5 and 4x2)" in process.stderr
    assert not (tmp_path / "out.ts").exists()
