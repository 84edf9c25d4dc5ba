"""A process works after a fork although its parent had used PyTorch's threads. Each child has an alarm, which ends it: nothing here
hangs."""

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import os, signal, sys, threading
    import numpy, torch, torchtrt

    torch.manual_seed(0)
    torch.set_num_threads(2)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(32, 8, 3, padding=1)).eval()
    script = torch.jit.trace(net, torch.randn(2, 3, 48, 48))
    spec = torchtrt.Input(min_shape=[1, 3, 48, 48], opt_shape=[2, 3, 48, 48], max_shape=[4, 3, 48, 48])
    compiled = torchtrt.compile(script, inputs=[spec])
    compiled.save(sys.argv[1])
    inputs = {batch: torch.randn(batch, 3, 48, 48) for batch in (2, 3, 5)}
    with torch.no_grad():
        expected = {batch: net(x).numpy() for batch, x in inputs.items()}
        compiled(inputs[2])

    def right(module, batch):  # numpy compares: PyTorch would share the comparison out among threads
        with torch.no_grad():
            got = module(inputs[batch]).numpy()
        return numpy.allclose(got, expected[batch], atol=1e-4)

    def in_fork(body):
        child = os.fork()
        if child == 0:
            signal.alarm(40)
            try:
                os._exit(0 if body() else 1)
            except BaseException as error:
                print(error, file=sys.stderr, flush=True)
                os._exit(2)
        return os.WEXITSTATUS(status) if os.WIFEXITED(status := os.waitpid(child, 0)[1]) else -os.WTERMSIG(status)

    def call():
        return right(compiled, 2)

    def new_shape():
        return right(compiled, 3)

    def what_pytorch_runs():
        return right(compiled, 5)

    def load():
        return right(torchtrt.load(sys.argv[1]), 2)

    def thread():
        done = []
        one = threading.Thread(target=lambda: done.append(right(compiled, 2)))
        one.start()
        one.join()
        return done == [True]

    def grandchild():
        return right(compiled, 2) and in_fork(call) == 0

    def compile():
        try:
            torchtrt.compile(script, inputs=[spec])
        except torchtrt.CompileError as error:
            return error.code == "C006" and "fork" in str(error)

    print(in_fork(globals()[sys.argv[2]]))
"""


@pytest.mark.parametrize("what", ["call", "new_shape", "what_pytorch_runs", "load", "thread", "grandchild"])
def test_works_after_a_fork(what, tmp_path):
    assert run(what, tmp_path) == "0"


def test_compiling_after_a_fork_is_refused(tmp_path):
    """PyTorch's kernels, which it needs, wait for threads that the fork lost."""
    assert run("compile", tmp_path) == "0"


def run(what, folder):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(PROGRAM), str(folder / "module.ts"), what],
                          capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()[-1] if done.stdout.split()[-1] == "0" else done.stdout + done.stderr[-1000:]
