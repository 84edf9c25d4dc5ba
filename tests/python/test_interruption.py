"""Signals and watchers end a compile, and a line says where one is. Tests that could hang run in processes with a time limit."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest
import torch

import nets
import torchtrt
from torchtrt.graph_rewriting import PatternRewriter, RewritePatternManager

LIMIT = 120  # seconds, for what cannot be that long on a busy machine either
PROMPT = 5  # seconds from a signal to the end: one is promised on a quiet machine

HEAD = """
import sys, torch, torchtrt

def told(progress):
    if progress.phase == sys.argv[1] and not progress.is_done:
        print("begun", flush=True)

def end_of(module, inputs, **options):
    module = torch.jit.script(module.eval())
    try:
        torchtrt.compile(module, inputs=inputs, progress=told, **options)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""

# Every one of these takes a minute or more, unless it is ended.
LONG = {
    # Example runs of a loop that stays in PyTorch.
    "conversion": """
class Slow(torch.nn.Module):
    def forward(self, x):
        y = x
        for i in range(int(x.sum()) * 0 + 9000):
            y = torch.linalg.inv(y + 20.0) @ torch.linalg.inv(torch.relu(x) + 3.0)
        return torch.relu(y) * 2 + torch.sigmoid(y)

end_of(Slow(), [torchtrt.Input([200, 200])])
""",
    # The same loop in PyTorch's run of the module, whose results are compared.
    "validation": """
class Slow(torch.nn.Module):
    def forward(self, x):
        y = torch.relu(x) * 2 + torch.sigmoid(x)
        for i in range(9000):
            y = torch.linalg.inv(y + 20.0 * torch.eye(300))
        return y

end_of(Slow(), [torch.rand(300, 300)])
""",
    "tuning": """
from torch import nn
layers = [nn.Sequential(nn.Conv2d(8 + i, 9 + i, 3, padding=1), nn.ReLU()) for i in range(200)]
end_of(nn.Sequential(*layers), [torch.rand(1, 8, 96, 96)], tune=True, tuning_seconds=1000.0, timing_cache=sys.argv[2])
""",
}


def started(*arguments, **options) -> subprocess.Popen:
    """Starts it in the foreground's way: shells let what they start in the background ignore SIGINT."""
    return subprocess.Popen(
        [str(each) for each in arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler), **options,
    )


def wait_for(process: subprocess.Popen, text: bytes) -> None:
    """Until its output has the text; fails when time is up, or the process has ended."""
    seen, end = b"", time.monotonic() + LIMIT
    while text not in seen:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
        piece = os.read(process.stdout.fileno(), 4096) if ready else b""
        if not piece:
            process.kill()
            pytest.fail(f"no {text!r} came, but {seen!r} and {process.communicate()[1][-2000:]!r}")
        seen += piece


def ended(process: subprocess.Popen, how: int) -> tuple[str, str, float]:
    """Returns a signalled process's last output, and the seconds until it ended."""
    sent = time.monotonic()
    process.send_signal(how)
    try:
        out, err = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
    return out.decode(), err.decode(), time.monotonic() - sent


@pytest.mark.parametrize("phase", LONG)
def test_control_c_ends_a_compile_and_leaves_nothing_half_written(phase, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(HEAD + LONG[phase])
    process = started(sys.executable, program, phase, tmp_path / "kernels.txt")
    wait_for(process, b"begun")
    out, err, took = ended(process, signal.SIGINT)
    assert "interrupted" in out.splitlines(), err
    assert took < PROMPT
    assert list(tmp_path.iterdir()) == [program]


class Told:
    def __init__(self, raised=None):
        self.seen = []
        self.raised = raised

    def __call__(self, progress):
        self.seen.append(progress)
        if self.raised and not progress.is_done:
            raise self.raised


def test_a_watcher_is_told_where_the_compile_is():
    told = Told()
    compiled = torchtrt.compile(torch.jit.script(nets.lenet()), inputs=[[1, 1, 32, 32]], progress=told)
    assert torch.is_tensor(compiled(nets.images()))
    assert told.seen[0].phase == "checking" and not told.seen[0].is_done
    assert [each.is_done for each in told.seen] == [False] * (len(told.seen) - 1) + [True]
    assert all(0 <= each.seconds < LIMIT for each in told.seen)
    assert repr(told.seen[0]).startswith("CompileProgress(phase='checking', engine=0, engines=0, seconds=0.")


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), ValueError("no more"), SystemExit(3)])
def test_what_a_watcher_raises_ends_the_compile(raised):
    module = torch.jit.script(nets.lenet())
    told = Told(raised)
    with pytest.raises(type(raised)) as error:
        torchtrt.compile(module, inputs=[nets.images()], progress=told)
    assert error.value is raised
    assert len(told.seen) == 2 and told.seen[1].is_done
    with pytest.raises(type(raised)):
        torchtrt.convert_method_to_trt_engine(module, inputs=[[1, 1, 32, 32]], progress=told)
    assert torch.is_tensor(torchtrt.compile(module, inputs=[nets.images()])(nets.images()))


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_rewriter_is_raised_as_it_is(raised):
    class Interrupts(PatternRewriter):
        def match_and_rewrite(self, layer):
            raise raised

    def interrupts(network):
        raise raised

    manager = RewritePatternManager()
    manager.add(label="interrupts", pattern=Interrupts("interrupts"))
    for rewriter in (interrupts, manager):
        with pytest.raises(raised):
            torchtrt.compile(torch.jit.script(nets.lenet()), inputs=[[1, 1, 32, 32]], rewriters=[rewriter])


def test_what_no_watcher_is():
    with pytest.raises(torchtrt.CompileError, match=r"\[C003\] option progress does not take 'yes'"):
        torchtrt.compile(nets.lenet(), inputs=[[1, 1, 32, 32]], progress="yes")


SHOWN = """
import time, torch, torchtrt
from torchtrt import graph_rewriting

def slow(network):
    time.sleep(2.5)

module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU()).eval()
torchtrt.compile(torch.jit.script(module), inputs=[[1, 3, 8, 8]], rewriters=[slow], progress=PROGRESS)
"""


def on_terminal(program: str, **environment) -> str:
    """Returns the text that a program writes to stderr if that is a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, **environment})
    os.close(theirs)
    written, end = b"", time.monotonic() + LIMIT
    try:
        while time.monotonic() < end and select.select([ours], [], [], max(0.0, end - time.monotonic()))[0]:
            piece = os.read(ours, 4096)
            if not piece:
                break
            written += piece
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
        process.kill()
        process.wait()
    return written.decode()


def test_a_terminal_is_shown_one_line_which_goes_at_the_end():
    written = on_terminal(SHOWN.replace("PROGRESS", "None"), NO_COLOR="1")
    assert "\x1b" not in written
    line = re.search(r"[|/\\-] torchtrt: \w+, engine 1 of 1, \d+ s\r", written)
    assert line, written
    blanks = " " * (len(line[0]) - 1)
    assert f"\r{blanks}\r" in written[line.end() - 1:]
    assert written.rstrip("\r\n").split("\r")[-1].startswith("[Torch-TensorRT] - ")


@pytest.mark.parametrize("progress, lines", [("None", 0), ("False", 0), ("True", 1)])
def test_no_terminal_is_shown_nothing_unless_that_is_asked_for(progress, lines):
    process = subprocess.run([sys.executable, "-c", SHOWN.replace("PROGRESS", progress)], capture_output=True, text=True, timeout=LIMIT, check=True)
    assert process.stderr.count("torchtrt: ") == lines
    assert "\r" not in process.stderr


@pytest.mark.parametrize("how, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_torchtrtc_ends_on_a_signal_and_keeps_the_old_file(how, code, tmp_path):
    layers = [torch.nn.Conv2d(8 + i, 9 + i, 3, padding=1) for i in range(200)]
    torch.jit.script(torch.nn.Sequential(*layers).eval()).save(str(tmp_path / "long.ts"))
    (tmp_path / "out.ts").write_text("old")
    process = started("torchtrtc", "--tune", f"--timing-cache={tmp_path / 'kernels.txt'}", "--tuning-seconds=1000", "--verbose",
                      tmp_path / "long.ts", tmp_path / "out.ts", "(1,8,96,96)", stdin=subprocess.DEVNULL)
    os.set_blocking(process.stderr.fileno(), True)
    seen, end = b"", time.monotonic() + LIMIT
    while b"phase tuning" not in seen and time.monotonic() < end:
        ready, _, _ = select.select([process.stderr], [], [], 1)
        seen += os.read(process.stderr.fileno(), 4096) if ready else b""
        assert process.poll() is None, seen
    _, err, took = ended(process, how)
    assert process.returncode == code
    assert err.splitlines()[-1] == f"torchtrtc: interrupted by {how.name}, no file is half written"
    assert took < PROMPT
    assert (tmp_path / "out.ts").read_text() == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["long.ts", "out.ts"]
