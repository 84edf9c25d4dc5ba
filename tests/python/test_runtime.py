"""A deployment loads a compiled module elsewhere, copies, moves and forks it, and calls it from many threads."""

import copy
import io
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import pytest
import torch

import nets
import torchtrt
import torchtrt.runtime

BUILD = pathlib.Path(os.environ["TORCHTRT_BUILD"])
TOLERANCE = 1e-4
FORK_TIMEOUT_S = 60


def relative_difference(actual, expected):
    return ((actual - expected).abs().max() / expected.abs().max()).item()


@pytest.fixture(scope="module")
def compiled():
    return torchtrt.compile(torch.jit.script(nets.lenet()), inputs=[
        torchtrt.Input(min_shape=[1, 1, 32, 32], opt_shape=[1, 1, 32, 32], max_shape=[16, 1, 32, 32])])


@pytest.fixture(scope="module")
def saved(compiled, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "lenet.ts"
    compiled.save(str(path))
    return path


FRESH_PROCESS = """
import sys, torch, torchtrt.runtime
module = torch.jit.load(sys.argv[1])
torch.save(module(torch.load(sys.argv[2])), sys.argv[3])
print(open("/proc/self/maps").read())
"""


def mapped(text: str) -> set[str]:
    return {line.rpartition("/")[2].partition(".so")[0] for line in text.splitlines() if "libtorchtrt" in line or "_torchtrt." in line}


def run_in_a_fresh_process(program: str, saved, x: torch.Tensor, folder) -> tuple[torch.Tensor, str]:
    """Gives `program` the files of the module, of x and of the result. Returns the result that it saves, and the text that it prints."""
    torch.save(x, folder / "x.pt")
    done = subprocess.run([sys.executable, "-c", program, saved, folder / "x.pt", folder / "y.pt"],
                          capture_output=True, text=True, check=True)
    return torch.load(folder / "y.pt"), done.stdout


def test_a_fresh_process_with_the_runtime_alone_runs_it(compiled, saved, tmp_path):
    x = nets.images(3)
    y, printed = run_in_a_fresh_process(FRESH_PROCESS, saved, x, tmp_path)
    assert torch.equal(y, compiled(x))
    assert mapped(printed) == {"libtorchtrt_runtime", "libtorchtrt_engine"}


PREPARED = """
import sys, torch, torchtrt.runtime
module = torch.jit.load(sys.argv[1])
with torch.autograd.profiler.profile() as calls:
    assert torchtrt.runtime.prepare(module) == 1
print("calls on zeros:", [event.name for event in calls.function_events].count("tensorrt::execute_engine"))
torch.save(module(torch.load(sys.argv[2])), sys.argv[3])
assert torchtrt.runtime.prepare(torch.jit.script(torch.nn.ReLU())) == 0
try:
    torchtrt.runtime.prepare(torch.nn.ReLU())
except TypeError as error:
    print(error)
"""


def test_a_loaded_module_may_be_prepared(compiled, saved, tmp_path):
    x = nets.images(3)
    y, printed = run_in_a_fresh_process(PREPARED, saved, x, tmp_path)
    assert torch.equal(y, compiled(x))
    assert "expected a ScriptModule, as torch.jit.load returns it, got ReLU" in printed
    assert "calls on zeros: 2" in printed  # libtorch's, and the way there from Python


def test_what_compile_returns_is_prepared(saved):
    compiled = torchtrt.compile(torch.jit.script(nets.lenet()), inputs=[torchtrt.Input([1, 1, 32, 32])])
    compiled.get_debug_state()  # of the executor's plan
    with pytest.raises(RuntimeError):
        torch.jit.load(str(saved)).get_debug_state()


def test_a_cpp_process_with_the_runtime_alone_runs_it(compiled, saved, tmp_path):
    x = nets.images(2)
    torch.save([x], tmp_path / "x.pt")
    runner = next(path for path in (BUILD / "bin" / "runtime_runner", BUILD / "runtime_runner") if path.exists())
    done = subprocess.run([runner, saved, tmp_path / "x.pt", tmp_path / "y.pt", "--maps", "--calls", "3"],
                          capture_output=True, text=True, check=True)
    assert torch.equal(torch.load(tmp_path / "y.pt")[0], compiled(x))
    assert mapped(done.stdout) == {"libtorchtrt_runtime", "libtorchtrt_engine"}
    assert "median_ms" in done.stdout


def test_a_process_without_the_runtime_says_which_class_is_missing(saved):
    done = subprocess.run([sys.executable, "-c", f"import torch; torch.jit.load({str(saved)!r})"], capture_output=True, text=True,
                          check=False)
    assert done.returncode != 0 and "__torch__.torch.classes.tensorrt.Engine" in done.stderr


NAMES_ARE_TAKEN = """
import torch
other = torch.library.Library("tensorrt", "DEF")
other.define("execute_engine(Tensor[] inputs) -> Tensor[]")
try:
    import torchtrt.runtime
except RuntimeError as error:
    print(error)
"""


def test_a_name_that_another_library_holds_is_an_error_and_no_crash():
    done = subprocess.run([sys.executable, "-c", NAMES_ARE_TAKEN], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[E002] tensorrt::execute_engine is already registered by another library")


def test_deepcopy_shares_the_engine_and_answers_alike(compiled):
    x = nets.images()
    twin = copy.deepcopy(compiled)
    assert torch.equal(twin(x), compiled(x))
    (engine,) = torchtrt.runtime.engines(compiled).values()
    assert torch.equal(torch.ops.tensorrt.execute_engine([x], copy.deepcopy(engine))[0], compiled(x))
    assert torch.equal(torch.ops.tensorrt.execute_engine([x], pickle.loads(pickle.dumps(engine)))[0], compiled(x))


def test_freezing_keeps_it(compiled):
    x = nets.images()
    assert torch.equal(torch.jit.freeze(compiled)(x), compiled(x))
    assert torch.equal(torch.jit.optimize_for_inference(torch.jit.freeze(compiled))(x), compiled(x))


def test_moving_to_its_own_device_and_reading_the_state_work(compiled):
    x = nets.images()
    expected = compiled(x)
    twin = copy.deepcopy(compiled)
    assert torch.equal(twin.to("cpu").eval()(x), expected)
    twin.load_state_dict(twin.state_dict())
    assert torch.equal(twin(x), expected)


def test_loading_with_a_map_location_works(compiled, saved):
    x = nets.images()
    for where in ("cpu", torch.device("cpu"), None):
        assert torch.equal(torch.jit.load(str(saved), map_location=where)(x), compiled(x))
    with pytest.raises(RuntimeError, match=r"\[E006\].*holds no data"):
        torch.jit.load(str(saved), map_location="meta")


def test_it_runs_after_a_fork(compiled):
    x = nets.images(4)
    expected = compiled(x)
    child = os.fork()
    if child == 0:
        os._exit(0 if torch.equal(compiled(x), expected) else 1)
    ended = threading.Event()
    status = []

    def wait():
        status.append(os.waitpid(child, 0)[1])
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    if not ended.wait(FORK_TIMEOUT_S):
        os.kill(child, 9)
        pytest.fail("the forked child hangs")
    assert status == [0]


def test_inference_mode_autocast_and_grad_change_nothing(compiled):
    x = nets.images()
    expected = compiled(x)
    with torch.inference_mode():
        assert torch.equal(compiled(x), expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = compiled(x)
    assert result.dtype == torch.float32 and torch.equal(result, expected)
    result = compiled(x.clone().requires_grad_())
    assert not result.requires_grad and torch.equal(result, expected)


def test_it_is_part_of_another_script_module(compiled):
    class Around(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x) * 2

    x = nets.images()
    around = torch.jit.script(Around(compiled))
    assert torch.equal(around(x), compiled(x) * 2)
    buffer = io.BytesIO()
    torch.jit.save(around, buffer)
    buffer.seek(0)
    assert torch.equal(torch.jit.load(buffer)(x), compiled(x) * 2)


def test_sixteen_threads_of_a_thousand_calls_each_get_equal_answers(compiled):
    inputs = [nets.images(1 + i % 3, seed=i) for i in range(16)]
    expected = [compiled(x) for x in inputs]
    wrong = []

    def work(i):
        for _ in range(1000):
            if not torch.equal(compiled(inputs[i]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_meta_tensors_give_shapes(compiled):
    result = compiled(torch.empty(5, 1, 32, 32, device="meta"))
    assert result.device.type == "meta" and result.shape == (5, 10)


def test_an_engine_tells_about_itself(compiled):
    (engine,) = torchtrt.runtime.engines(compiled).values()
    assert engine.name().endswith("LeNet_trt_engine")
    assert engine.inputs() == [("x", "float32", ["s0", "1", "32", "32"], [1, 1, 32, 32], [1, 1, 32, 32], [16, 1, 32, 32])]
    ((name, dtype, dims, *_),) = engine.outputs()
    assert (name, dtype, dims) == ("output_0", "float32", ["s0", "10"])
    assert "convolution" in engine.inspect()
    weights = sum(parameter.numel() * 4 for parameter in nets.lenet().parameters())
    assert engine.memory_bytes() >= weights * 0.9
    assert engine.workspace_bytes([nets.images()]) > 0
    steps = engine.profile([nets.images()], 2)
    assert any(family == "convolution" for _, family, *_ in steps)
    assert all(microseconds >= 0 for *_, microseconds in steps)


def test_equal_weights_of_the_archive_are_stored_once(compiled, saved):
    weights = sum(parameter.numel() * 4 for parameter in nets.lenet().parameters())
    assert saved.stat().st_size < weights * 1.2


class Taken(torch.nn.Module):
    def forward(self, x, i, j):
        return x[i, j]


class Put(torch.nn.Module):
    def forward(self, x, i, j):
        y = x.clone()
        y[i, j] = 1
        return y


class OneHot(torch.nn.Module):
    def forward(self, x, i, j):
        return torch.nn.functional.one_hot(i, x.shape[0])


@pytest.mark.parametrize("make", [Taken, Put, OneHot])
@pytest.mark.parametrize("i, j", [([0, 2], [-1, 3]), ([0, 1], [4, 0]), ([0, 3], [0, -1]), ([-4, 0], [0, 0]), ([0, 0], [0, -5])])
def test_indices_out_of_range_are_errors_where_they_are_in_pytorch(make, i, j):
    x, i, j = torch.randn(3, 4), torch.tensor(i), torch.tensor(j)
    module = make().eval()
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[
        [3, 4], torchtrt.Input([2], dtype=torch.int64), torchtrt.Input([2], dtype=torch.int64)], min_block_size=1,
        require_full_compilation=True)
    try:
        expected = module(x, i, j)
    except (IndexError, RuntimeError):
        with pytest.raises(RuntimeError, match="must lie in"):
            compiled(x, i, j)
    else:
        assert torch.equal(compiled(x, i, j), expected)
