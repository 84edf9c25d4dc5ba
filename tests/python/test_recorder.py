"""The flight recorder and its replay: records of C++, Python and serving processes, and a planted wrong result that replay names."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import torchtrt
from test_torchtrtc import BUILD, succeeds, torchtrtc

WRONG = BUILD / "lib" / "libwrong_converter.so"  # computes a sine for special_bessel_y1
SPEC = "(8,4)"


class Bessel(nn.Module):
    def forward(self, x):
        y = torch.relu(x) + 1
        y = torch.special.bessel_y1(y)
        return y * 2


class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 4)

    def forward(self, i):
        return torch.relu(self.table(i)) + 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """bessel.ts, which the wrong converter compiled to wrong.ts, and right.ts, which has no fault."""
    path = tmp_path_factory.mktemp("recorder")
    torch.manual_seed(0)
    torch.jit.script(Bessel().eval()).save(str(path / "bessel.ts"))
    succeeds("bessel.ts", "wrong.ts", SPEC, "--custom-converters", WRONG, "--no-threshold-check", "--mbs=1", cwd=path)
    mlp = torch.jit.script(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)).eval())
    inputs = [torchtrt.Input(min_shape=[1, 4], opt_shape=[8, 4], max_shape=[16, 4])]
    torchtrt.compile(mlp, inputs=inputs, min_block_size=1).save(str(path / "right.ts"))
    lookup = torch.jit.script(Lookup().eval())
    torchtrt.compile(lookup, inputs=[torchtrt.Input([3], dtype=torch.int64)], min_block_size=1).save(str(path / "lookup.ts"))
    return path


def variables(records, **others):
    return {**os.environ, "TORCHTRT_RECORD": str(records), **{f"TORCHTRT_RECORD_{name}": str(value) for name, value in others.items()}}


def records_in(records: Path) -> list[Path]:
    found = sorted(path for path in records.iterdir() if path.is_dir())
    assert not any(path.name.startswith(".") for path in found), "no draft is left"
    return found


def test_a_planted_wrong_result_is_named_in_three_commands(folder, tmp_path):
    succeeds("bessel.ts", tmp_path / "compiled.ts", SPEC, "--custom-converters", WRONG, "--no-threshold-check", "--mbs=1", cwd=folder)
    process = torchtrtc("run", "compiled.ts", SPEC, cwd=tmp_path, env=variables("records", CALLS="wrong"))
    assert process.returncode == 0, "a call that is recorded goes on as it would"
    assert "disagrees with PyTorch and is recorded as" in process.stderr
    process = torchtrtc("replay", "records", "--custom-torch-ops", WRONG, cwd=tmp_path)
    assert process.returncode == 1, process.stdout
    assert "wrong, as recorded" in process.stdout and "the largest difference is" in process.stdout
    named = "first layer that disagrees: aten::special_bessel_y1"
    assert named in process.stdout and "test_recorder.py:" in process.stdout.split(named)[1].splitlines()[0], process.stdout
    assert "1 of 1 call is not right" in process.stderr and "special_bessel_y1" in process.stderr


def test_without_the_faulty_library_a_replay_says_that_an_engine_made_anew_is_right(folder, tmp_path):
    torchtrtc("run", folder / "wrong.ts", SPEC, "--calls=0", "--record", "records", cwd=tmp_path)
    process = torchtrtc("replay", "records", cwd=tmp_path)
    assert process.returncode == 1 and "wrong, as recorded" in process.stdout
    assert "which operator it is could not be found" in process.stdout or "made anew of its operators agrees" in process.stdout


def test_the_table_lines_up(folder, tmp_path):
    env = variables(tmp_path / "records", CALLS="every:1")
    succeeds("run", "right.ts", SPEC, "--calls=3", cwd=folder, env=env)
    succeeds("run", "lookup.ts", "(3)@i64", "--calls=1", cwd=folder, env=env)
    out = succeeds("replay", tmp_path / "records").stdout
    header, *rows = out.split("\n\n")[0].splitlines()
    assert len(rows) == 6, out
    engine, record = header.index("engine"), header.index("record", header.index("engine"))
    for row in rows:
        assert " agrees " in row and row[engine - 2 : engine] == row[record - 2 : record] == "  ", out
        assert (tmp_path / "records" / row[record:]).is_dir(), "the last column is the record's name"
    assert out.endswith("all 6 calls are right\n")


def test_one_record_is_replayed_and_python_opens_its_files(folder, tmp_path):
    succeeds("run", "right.ts", SPEC, "--calls=0", "--record", tmp_path / "records", cwd=folder)
    [record] = records_in(tmp_path / "records")
    [x] = torch.load(record / "inputs.pt")
    [y] = torch.load(record / "outputs.pt")
    assert torch.equal(torch.jit.load(str(record / "module.ts"))(x), y)
    summary = json.loads((record / "record.json").read_text())
    assert summary["inputs"][0]["shape"] == [8, 4] and summary["inputs"][0]["nan"] == 0
    assert summary["inputs"][0]["max"] == pytest.approx(x.max().item(), rel=1e-6)
    assert summary["environment"]["versions"]["torchtrt"] == torchtrt.__version__.split("+")[0]
    assert summary["milliseconds"] > 0 and summary["call"] == 1 and summary["error"] == ""
    out = succeeds("replay", record).stdout
    assert record.name in out and "the call is right" in out
    assert "output: Float[8, 3]" in succeeds("run", record / "module.ts", f"--inputs={record / 'inputs.pt'}", "--calls=0").stdout


def test_a_changed_output_is_wrong_in_the_record_alone(folder, tmp_path):
    succeeds("run", "right.ts", SPEC, "--calls=0", "--record", tmp_path / "records", cwd=folder)
    [record] = records_in(tmp_path / "records")
    [y] = torch.load(record / "outputs.pt")
    torch.save((y + 1,), record / "outputs.pt")
    process = torchtrtc("replay", tmp_path / "records")
    assert process.returncode == 1 and "wrong in the record alone" in process.stdout
    assert "from the record: value 0: the largest difference is 1," in process.stdout, process.stdout


def test_a_call_that_fails_is_recorded_and_fails_again(folder, tmp_path):
    torch.save((torch.tensor([1, 2, 99]),), tmp_path / "beyond.pt")
    process = torchtrtc("run", folder / "lookup.ts", f"--inputs={tmp_path / 'beyond.pt'}", env=variables(tmp_path / "records", CALLS="failing"))
    assert process.returncode == 1 and "[E008]" in process.stderr
    [record] = records_in(tmp_path / "records")
    assert "[E008]" in (record / "error.txt").read_text() and not (record / "outputs.pt").exists()
    process = torchtrtc("replay", tmp_path / "records")
    assert process.returncode == 1 and "fails, as recorded" in process.stdout and "[E008]" in process.stdout, process.stdout


def test_redacted_records_hold_no_values(folder, tmp_path):
    x = torch.full((8, 4), 1234.5)
    torch.save((x,), tmp_path / "x.pt")
    env = {**os.environ, "SECRET_KEY": "not to be told", "OMP_NUM_THREADS": "2"}
    succeeds("run", folder / "right.ts", f"--inputs={tmp_path / 'x.pt'}", "--calls=0", "--record", tmp_path / "records", "--redact", env=env)
    [record] = records_in(tmp_path / "records")
    assert [path.name for path in record.iterdir()] == ["record.json"]
    text = (record / "record.json").read_text()
    assert "not to be told" not in text and json.loads(text)["environment"]["variables"]["OMP_NUM_THREADS"] == "2"
    assert json.loads(text)["inputs"][0] == {"dtype": "Float", "shape": [8, 4], "device": "cpu", "nan": 0, "min": 1234.5,
                                             "max": 1234.5, "mean": 1234.5}
    process = torchtrtc("replay", tmp_path / "records")
    assert process.returncode == 1 and "it was redacted" in process.stderr


SERVER = """
import sys, threading
from multiprocessing import get_context
import torch, torchtrt

def serve(seed):
    module = torch.jit.load(sys.argv[1])
    def calls():
        for i in range(5):
            x = torch.randn(1 + i, 4, generator=torch.Generator().manual_seed(seed * 100 + i))
            assert module(x).shape == (1 + i, 3)
    threads = [threading.Thread(target=calls) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

if __name__ == "__main__":
    workers = [get_context(sys.argv[2]).Process(target=serve, args=(seed,)) for seed in range(3)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    assert all(worker.exitcode == 0 for worker in workers)
"""


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_threads_of_several_processes_record_at_once(folder, tmp_path, way):
    (tmp_path / "serve.py").write_text(SERVER)
    env = variables(tmp_path / "records", CALLS="first:100", MOST=25)
    process = subprocess.run([sys.executable, "serve.py", str(folder / "right.ts"), way], cwd=tmp_path, env=env,
                             capture_output=True, text=True, check=False, timeout=300)
    assert process.returncode == 0, process.stderr
    found = records_in(tmp_path / "records")
    assert len(found) == 25 and len({record.name.split("-")[2] for record in found}) > 1
    assert "all 25 calls are right" in succeeds("replay", tmp_path / "records").stdout


def test_a_cpp_process_that_links_the_runtime_alone_records(folder, tmp_path):
    torch.save([torch.ones(8, 4)], tmp_path / "x.pt")
    runner = next(path for path in (BUILD / "bin" / "runtime_runner", BUILD / "runtime_runner") if path.exists())
    subprocess.run([runner, folder / "right.ts", tmp_path / "x.pt", tmp_path / "y.pt", "--calls", "3"], check=True, capture_output=True,
                   env=variables(tmp_path / "records", CALLS="first:2"))
    assert [torch.equal(torch.load(record / "inputs.pt")[0], torch.ones(8, 4)) for record in records_in(tmp_path / "records")] == [True, True]
    succeeds("replay", tmp_path / "records")


def test_compiling_records_nothing(tmp_path):
    program = "import torch, torchtrt\ntorchtrt.compile(torch.jit.script(torch.nn.Hardswish().eval()), inputs=[torch.ones(3)], min_block_size=1)"
    process = subprocess.run([sys.executable, "-c", program], env=variables(tmp_path / "records"), capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    assert not (tmp_path / "records").exists()


@pytest.mark.parametrize(("wish", "said"), [({"CALLS": "often"}, "expected first:N, every:N, failing or wrong"),
                                            ({"MOST": "0"}, "TORCHTRT_RECORD_MOST: expected a whole number")])
def test_wishes_that_make_no_sense_are_a_warning(folder, tmp_path, wish, said):
    process = succeeds("run", "right.ts", SPEC, "--calls=1", cwd=folder, env=variables(tmp_path / "records", **wish))
    assert f"calls are not recorded: {said}" in process.stderr or said in process.stderr
    assert not (tmp_path / "records").exists()


def test_a_folder_that_cannot_be_made_is_one_warning(folder):
    if not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full, which is a file")
    process = succeeds("run", "right.ts", SPEC, "--calls=5", cwd=folder, env=variables("/dev/full/records", CALLS="every:1"))
    assert process.stderr.count("calls are not recorded") == 1, process.stderr
