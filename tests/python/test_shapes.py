"""bench/shapes.py: random shapes of a model's range are eager's, and it tells preparing again from having had no room."""

import os
import subprocess
import sys

import pytest
import shapes


@pytest.mark.parametrize("name", ["lstm, scripted", "u-net, traced"])
def test_random_shapes(name):
    cells, is_right = shapes.measure(name, 8, seed=1)
    assert is_right and cells[0] == name and cells[5].endswith(", 0 again")
    engines = int(cells[3].split()[0])
    assert int(cells[5].split(",")[0]) == engines * int(cells[2]) >= 6  # once for every shape


@pytest.mark.parametrize("kept, again", [([1, 2, 3], 1), ([1, 1, 1], 0)])
def test_preparing_again(kept, again):
    """Calls a shape that is still kept, and one that had to go."""
    with shapes.Prepared() as prepared:
        for count, size in zip(kept, (2, 3, 2)):
            os.write(2, f"DEBUG: engine net is prepared for [{size}, 4] [1]: {count} kept, 100 of 200 bytes\n".encode())
    assert prepared.again == again and prepared.made == {("net", "[2, 4] [1]"): 2, ("net", "[3, 4] [1]"): 1}


def test_what_an_engine_was_not_made_for_is_seen():
    with shapes.Prepared() as prepared:
        os.write(2, b"WARNING: PyTorch runs what an engine was not made for, now and in later calls like this one\n")
    assert len(prepared.refused) == 1


FLAT = """
import ctypes, random, sys, torch, torchtrt
def resident():
    ctypes.CDLL(None).malloc_trim(0)
    return int(open("/proc/self/statm").read().split()[1]) * 4096
torch.manual_seed(0)
layers = [torch.nn.Conv2d(3, 128, 3, stride=2, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(128, 128, 3, stride=2, padding=1), torch.nn.ReLU()]
net = torch.nn.Sequential(*layers).eval()
spec = torchtrt.Input(min_shape=[1, 3, 16, 16], opt_shape=[1, 3, 64, 64], max_shape=[1, 3, 96, 96])
compiled = torchtrt.compile(torch.jit.script(net), inputs=[spec])
chance = random.Random(0)
def call(times):
    with torch.no_grad():
        for _ in range(times):
            compiled(torch.zeros(1, 3, chance.randint(16, 96), chance.randint(16, 96)))
call(700)
before = resident()
call(700)
print(resident() - before)
compiled.save(sys.argv[1])
def load(times):
    for _ in range(times):
        torch.jit.load(sys.argv[1])(torch.zeros(1, 3, 64, 64))
load(10)
before = resident()
load(60)
print(resident() - before)
"""


def test_memory_stays_flat_over_shapes_and_over_loads(tmp_path):
    ran = subprocess.run([sys.executable, "-c", FLAT, tmp_path / "net.ts"], capture_output=True, text=True, check=True)
    for growth in ran.stdout.split():
        assert int(growth) < 8 << 20
