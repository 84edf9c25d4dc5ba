"""Processes that load one file have its weights in memory once: proportional memory, equal results, and what happens where it cannot be."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest
import torch
import torchtrt

# Loads a file, calls it, prints a line, and waits to be told to end.
WORKER = """
import json, sys, torch, torchtrt.runtime
torch.set_num_threads(1)
module = torch.jit.load(sys.argv[1])
torch.manual_seed(0)
result = module(torch.randn(3, 512))
(engine,) = torchtrt.runtime.engines(module).values()
print(json.dumps({"shared": engine.shared_bytes(), "sum": float(result.double().sum())}), flush=True)
sys.stdin.readline()
result = module(torch.randn(3, 512))
print(json.dumps({"finite": bool(result.isfinite().all())}), flush=True)
"""
WEIGHT_BYTES = (512 * 4096 + 4096 * 512 + 4096 + 512) * 4


class Worker:
    def __init__(self, file, share="1"):
        environment = {**os.environ, "TORCHTRT_SHARE_WEIGHTS": share}
        self.process = subprocess.Popen([sys.executable, "-c", WORKER, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)

    def answer(self):
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return json.loads(line)

    def shared_memory(self):
        """Bytes of memory files of torchtrt: mapped, and this process's share of them."""
        resident = share = 0
        ours = False
        for line in pathlib.Path(f"/proc/{self.process.pid}/smaps").read_text().splitlines():
            first = line.split()[0]
            if not first.endswith(":"):
                ours = "/memfd:torchtrt:" in line
            elif ours and first == "Rss:":
                resident += int(line.split()[1]) * 1024
            elif ours and first == "Pss:":
                share += int(line.split()[1]) * 1024
        return resident, share

    def end(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.answer()
        assert self.process.wait(60) == 0
        return answer


@pytest.fixture
def workers():
    started = []

    def start(*arguments, **options):
        started.append(Worker(*arguments, **options))
        return started[-1]

    yield start
    for worker in started:
        worker.process.kill()
        worker.process.communicate()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(512, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 512)).eval()
    path = tmp_path_factory.mktemp("shared") / "compiled.ts"
    torchtrt.compile(torch.jit.script(model), inputs=[torchtrt.Input([3, 512])]).save(str(path))
    return path


def test_three_processes_have_one_copy(workers, file, tmp_path):
    started = [workers(file, share=str(tmp_path)) for _ in range(3)]
    answers = [worker.answer() for worker in started]
    assert all(answer["shared"] >= WEIGHT_BYTES * 0.99 for answer in answers)
    assert len({answer["sum"] for answer in answers}) == 1
    memory = [worker.shared_memory() for worker in started]
    assert sum(share for _, share in memory) < 1.2 * max(resident for resident, _ in memory)
    assert [worker.end()["finite"] for worker in started] == [True] * 3


def test_results_are_those_of_private_weights(workers, file, tmp_path):
    private, shared = workers(file, share="0"), workers(file, share=str(tmp_path))
    private_answer, shared_answer = private.answer(), shared.answer()
    assert private_answer["shared"] == 0 and shared_answer["shared"] > 0
    assert private_answer["sum"] == shared_answer["sum"]


def test_the_others_go_on_when_the_first_is_killed(workers, file, tmp_path):
    first = workers(file, share=str(tmp_path))
    expected = first.answer()
    second = workers(file, share=str(tmp_path))
    assert second.answer() == expected
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    third = workers(file, share=str(tmp_path))
    assert third.answer() == expected
    resident, share = third.shared_memory()
    assert share < 0.7 * resident, "the third found the second's"
    assert second.end()["finite"] and third.end()["finite"]


def test_no_room_for_an_offer_is_a_copy(workers, file, tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "nr_inodes=2", "tmpfs", str(full)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("mounting a small file system is not allowed here")
    try:
        worker = workers(file, share=str(full))
        assert worker.answer()["shared"] == 0
        assert worker.end()["finite"]
    finally:
        subprocess.run(["umount", "--lazy", str(full)], check=True)


def test_a_saved_and_a_copied_module_have_all_weights(file, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHTRT_SHARE_WEIGHTS", str(tmp_path))
    module = torch.jit.load(str(file))
    (engine,) = torchtrt.runtime.engines(module).values()
    assert engine.shared_bytes() > 0
    module.save(str(tmp_path / "again.ts"))
    monkeypatch.setenv("TORCHTRT_SHARE_WEIGHTS", "0")
    again = torch.jit.load(str(tmp_path / "again.ts"))
    images = torch.randn(3, 512)
    assert torch.equal(module(images), again(images))


def test_the_switch_is_for_processes_that_follow(monkeypatch):
    monkeypatch.setenv("TORCHTRT_SHARE_WEIGHTS", "0")
    torchtrt.runtime.share_weights()
    assert os.environ["TORCHTRT_SHARE_WEIGHTS"] == "1"
    torchtrt.runtime.share_weights(False)
    assert os.environ["TORCHTRT_SHARE_WEIGHTS"] == "0"
