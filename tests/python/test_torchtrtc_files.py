"""The files that torchtrtc writes: whole or not at all, with the permissions and links that were there."""

import os
import re
import resource
import signal
import subprocess
import time

import pytest
import torch
from torch import nn

import models
from test_torchtrtc import BUILD, LENET_INPUT, Inverse, succeeds, torchtrtc


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    torch.jit.script(models.build("lenet")).save(str(path / "lenet.ts"))
    torch.jit.script(nn.ReLU().eval()).save(str(path / "relu.ts"))
    torch.jit.script(Inverse().eval()).save(str(path / "inverse.ts"))
    return path


def test_failed_compile_leaves_the_old_file(folder):
    target = folder / "kept.ts"
    target.write_text("old")
    process = torchtrtc("--require-full-compilation", folder / "inverse.ts", target, "(2,2)")
    assert process.returncode == 1 and "[C001]" in process.stderr
    assert target.read_text() == "old"


def test_full_disk_leaves_the_old_file_and_no_other(folder, tmp_path):
    target = tmp_path / "kept.ts"
    target.write_text("old")

    def limit_file_size():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    process = torchtrtc(folder / "lenet.ts", target, LENET_INPUT, preexec_fn=limit_file_size, restore_signals=False)
    assert process.returncode == 1
    assert "[C007] cannot write" in process.stderr and "untouched" in process.stderr
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("target, says", [("none/out.ts", "No such file"), (".", "it is a folder"), ("/dev/null", "it is a folder or a device")])
def test_an_output_that_cannot_be_written_is_told_before_compiling(folder, target, says):
    process = torchtrtc(folder / "lenet.ts", target, LENET_INPUT, cwd=folder)
    assert process.returncode == 1
    assert re.match(rf'torchtrtc: \[C007\] cannot write "{re.escape(target)}": {says}.*\n  .*\n$', process.stderr), process.stderr


def test_finished_compile_replaces_the_old_file(folder):
    target = folder / "replaced.ts"
    target.write_text("old")
    succeeds(folder / "relu.ts", target, "(2)")
    assert torch.equal(torch.jit.load(str(target))(torch.ones(2)), torch.ones(2))


def test_permissions_of_the_old_file_stay_and_links_lead_to_it(folder, tmp_path):
    secret, link = tmp_path / "secret.ts", tmp_path / "link.ts"
    secret.touch(0o600)
    link.symlink_to("secret.ts")
    succeeds(folder / "relu.ts", link, "(2)")
    assert link.is_symlink() and secret.stat().st_mode & 0o777 == 0o600
    assert torch.equal(torch.jit.load(str(secret))(-torch.ones(2)), torch.zeros(2))
    assert sorted(tmp_path.iterdir()) == [link, secret]


def test_a_new_file_gets_what_the_umask_leaves(folder, tmp_path):
    succeeds(folder / "relu.ts", tmp_path / "new.ts", "(2)", preexec_fn=lambda: os.umask(0o027))
    assert (tmp_path / "new.ts").stat().st_mode & 0o777 == 0o640


def test_planted_links_of_foreseeable_names_are_not_written_through(folder, tmp_path):
    """The draft's name cannot be guessed, so links for every process id lead nowhere."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    output = tmp_path / "out.ts"
    with open("/proc/sys/kernel/ns_last_pid", encoding="utf-8") as last:
        pid = int(last.read())
    for each in range(pid, pid + 500):
        (tmp_path / f"out.ts.part{each}").symlink_to(victim)
    succeeds(folder / "relu.ts", output, "(2)")
    assert victim.read_text() == "precious" and not output.is_symlink()


def open_files(pid: int) -> list[str]:
    """None where the process has just ended."""
    folder = f"/proc/{pid}/fd"
    try:
        return [os.path.realpath(f"{folder}/{each}") for each in os.listdir(folder)]
    except FileNotFoundError:
        return []


@pytest.mark.parametrize("end, status", [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_compile_that_is_killed_while_it_writes_leaves_nothing(tmp_path, end, status):
    """A network file system's slowness is played by a size: some 200 MB take long enough to be met while they are written."""
    module = nn.Linear(7000, 7000, bias=False).eval()
    torch.jit.trace(module, torch.zeros(1, 7000)).save(str(tmp_path / "large.ts"))
    target = tmp_path / "out.ts"
    target.write_text("old")
    process = subprocess.Popen([BUILD / "bin" / "torchtrtc", tmp_path / "large.ts", target, "(1,7000)", "--no-threshold-check"],
                               stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    writing = False
    while process.poll() is None and not writing:
        writing = any(each.startswith(f"{tmp_path}/#") for each in open_files(process.pid))
        time.sleep(0.001)
    assert writing, "the draft was not met"
    process.send_signal(end)
    assert process.wait() == status
    assert target.read_text() == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["large.ts", "out.ts"]
