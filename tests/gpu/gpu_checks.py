"""Files, threads, capture and misuse of engines on a GPU, on small modules."""

import concurrent.futures
import copy
import os
import pathlib
import subprocess
import sys
import time
import traceback

import torch
from torch import nn

from gpu_common import DEVICE, HERE, engines_of, exact_settings, first_line, implementations, synchronize


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 10))

    def forward(self, x):
        return torch.softmax(self.body(x), -1)


class Projected(nn.Module):
    """The first block of ResNet-50's last stage, whose shortcut has a convolution of its own."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Conv2d(1024, 512, 1), nn.Conv2d(512, 512, 3, 2, 1), nn.Conv2d(512, 2048, 1)
        self.shortcut = nn.Conv2d(1024, 2048, 1, 2)

    def forward(self, x):
        y = torch.relu(self.second(torch.relu(self.first(x))))
        return torch.relu(self.third(y) + self.shortcut(x))


class Counted(nn.Module):
    def forward(self, x):
        return torch.nonzero(torch.relu(x))


def small(**options):
    import torchtrt

    torch.manual_seed(0)
    module = Small().eval()
    inputs = options.pop("inputs", [torchtrt.Input([2, 3, 16, 16])])
    return module, torchtrt.compile(torch.jit.script(module), inputs=inputs, **options)


def pack(file: str) -> None:
    _, compiled = small(device=DEVICE, target="sm_90")
    torch.jit.save(compiled, file)


ALONE = """
import sys, torch, torchtrt
module, (x, expected) = torch.jit.load(sys.argv[1]), torch.load(sys.argv[2])
torch.testing.assert_close(module(x.to("cuda:0")).cpu(), expected, rtol=1e-4, atol=1e-5)
"""


def without_compiler(folder: pathlib.Path, file: str, values: pathlib.Path) -> str:
    """Runs the file on the GPU in a process that finds no NVRTC and no kernel compiled before; returns what it writes if it fails."""
    stub, kernels = folder / "libnvrtc.so.13", folder / f"kernels of {pathlib.Path(file).stem}"
    # Has none of the functions, and is found before the one that PyTorch loads.
    subprocess.run(["g++", "-shared", f"-Wl,-soname,{stub.name}", "-o", str(stub), "-x", "c++", "/dev/null"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(stub), "TORCHTRT_CUDA_CACHE": str(kernels)}
    process = subprocess.run([sys.executable, "-c", ALONE, file, str(values)], env=environment, capture_output=True, text=True, timeout=120)
    stub.unlink()
    assert not kernels.exists(), "something was compiled"
    return "" if process.returncode == 0 else process.stderr


class Checks:
    """Named checks: what one raises is printed, and the others run."""

    def __init__(self, section):
        self.section, self.passed, self.failed = section, 0, 0

    def __call__(self, name):
        def run(check):
            try:
                check()
                self.passed += 1
                print("TABLE passed:", name, flush=True)
            except Exception as error:  # noqa: BLE001 - told, and the others run
                self.failed += 1
                print("FAIL", name, "-", first_line(error), flush=True)
                traceback.print_exc()
            return check

        return run

    def close(self):
        print(f"SUM {self.section}: {self.passed} passed, {self.failed} failed")


def _close(got, expected):
    torch.testing.assert_close(got.cpu(), expected.cpu(), rtol=1e-4, atol=1e-5)


def smoke(arguments) -> None:
    import torchtrt

    check = Checks("smoke")
    x = torch.randn(2, 3, 16, 16)

    @check("the CPU still runs engines")
    def _():
        module, compiled = small(device="cpu")
        _close(compiled(x), module(x))

    @check("relu on the GPU")
    def _():
        compiled = torchtrt.compile(torch.jit.script(nn.ReLU().eval()), inputs=[torchtrt.Input([2, 3])], device=DEVICE)
        y = torch.randn(2, 3, device=DEVICE)
        _close(compiled(y), y.relu())

    @check("a small network on the GPU, named by the option")
    def _():
        module, compiled = small(device=DEVICE)
        print({name: (str(engine.device()), engine.device_info()) for name, engine in engines_of(compiled).items()}, dict(implementations(compiled)))
        _close(compiled(x.to(DEVICE)), module(x))

    @check("a small network on the GPU, by its parameters")
    def _():
        torch.manual_seed(0)
        module = Small().eval().to(DEVICE)
        compiled = torchtrt.compile(torch.jit.script(module), inputs=[x.to(DEVICE)])
        _close(compiled(x.to(DEVICE)), module(x.to(DEVICE)))

    @check("TF32 where PyTorch is told so, and nowhere else")
    def _():
        torch.manual_seed(0)
        module = nn.Sequential(nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(2), nn.Linear(196, 128)).eval().to(DEVICE)
        images = torch.randn(8, 64, 16, 16, device=DEVICE)
        exact = copy.deepcopy(module).double()(images.double())
        for convolutions, products in ((False, False), (True, False), (False, True), (True, True)):
            torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32 = convolutions, products
            try:
                compiled = torchtrt.compile(torch.jit.script(module), inputs=[images])
                error = float(((compiled(images) - exact).abs().max() / exact.abs().max()).detach())
                of_pytorch = float(((module(images) - exact).abs().max() / exact.abs().max()).detach())
            finally:
                exact_settings()
            print(f"TABLE tf32 in convolutions {convolutions}, in products {products}: off by {error:.1e}, PyTorch {of_pytorch:.1e}", dict(implementations(compiled)))
            assert (5e-5 < error < 5e-3) if convolutions or products else error < 1e-5, error

    @check("made-up indices out of range leave the GPU alone")
    def _():
        class Rows(nn.Module):
            def forward(self, table, rows):
                return torch.relu(table[rows] + 1)

        module = torch.jit.script(Rows().eval())
        inputs = [torchtrt.Input([3, 4]), torchtrt.Input([5], dtype=torch.int64, tensor_domain=(0, 1000))]
        compiled = torchtrt.compile(module, inputs=inputs, device=DEVICE, torch_executed_ops=["aten::index"], min_block_size=1)
        table, rows = torch.randn(3, 4, device=DEVICE), torch.tensor([0, 2, 1, 1, 0], device=DEVICE)
        synchronize()
        _close(compiled(table, rows), module(table, rows))

    @check("a residual is read when the kernel in front has written it")
    def _():
        torch.manual_seed(0)
        module = Projected().eval().to(DEVICE, torch.float16)
        x = torch.randn(32, 1024, 14, 14, device=DEVICE, dtype=torch.float16).relu().contiguous(memory_format=torch.channels_last)
        exact = copy.deepcopy(module).double()(x.double())
        compiled = torchtrt.compile(torch.jit.trace(module, x), inputs=[x], enabled_precisions={torch.float16})
        results = [compiled(x) for _ in range(20)]
        worst = max(float((result.double() - exact).abs().max() / exact.abs().max()) for result in results)
        assert worst < 5e-3 and all(torch.equal(result, results[0]) for result in results), f"off by {worst:.1e}"

    @check("verify and profile")
    def _():
        module, compiled = small(device=DEVICE)
        print(torchtrt.verify(torch.jit.script(module.to(DEVICE)), compiled, [x.to(DEVICE)]))
        print(torchtrt.profile(compiled, [x.to(DEVICE)]))

    @check("a profile waits for the caller's stream, which still computes the indices")
    def _():
        table = nn.Embedding(8, 4).eval().to(DEVICE)
        good = torch.randint(0, 8, (64,), device=DEVICE)
        compiled = torchtrt.compile(torch.jit.script(table), inputs=[good], device=DEVICE)
        indices = torch.full((64,), 10**6, device=DEVICE)
        synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda._sleep(200_000_000)
            indices.copy_(good)
            next(iter(engines_of(compiled).values())).profile([indices], 1)
        _close(compiled(good), table(good))  # an index out of range would show here

    check.close()


def files(arguments) -> None:
    import torchtrt

    check = Checks("files")
    x = torch.randn(2, 3, 16, 16)
    folder = pathlib.Path(arguments.out)
    module, on_gpu = small(device=DEVICE)
    _, on_cpu = small(device="cpu")
    expected = module(x)
    torch.jit.save(on_gpu, str(folder / "gpu.ts"))
    torch.jit.save(on_cpu, str(folder / "cpu.ts"))

    def runs(load, where):
        def body():
            loaded = load()
            (engine,) = engines_of(loaded).values()
            assert str(engine.device()) == where, f"it runs on {engine.device()}, expected {where}"
            _close(loaded(x.to(where)), expected)
            torch.jit.save(loaded, str(folder / "again.ts"))
            _close(torch.jit.load(str(folder / "again.ts"))(x.to(where)), expected)

        return body

    for file, location, where in (("gpu.ts", None, DEVICE), ("gpu.ts", "cpu", "cpu"), ("gpu.ts", DEVICE, DEVICE), ("cpu.ts", None, "cpu"),
                                  ("cpu.ts", "cpu", "cpu"), ("cpu.ts", DEVICE, DEVICE)):
        check(f"torch.jit.load of {file} with map_location={location}")(runs(lambda f=file, m=location: torch.jit.load(str(folder / f), map_location=m), where))
        check(f"torchtrt.load of {file} with map_location={location}")(runs(lambda f=file, m=location: torchtrt.load(str(folder / f), map_location=m), where))
    made_elsewhere = str(HERE.parents[1] / "build" / "gpu" / "for_sm_90.ts")
    check("a file that was compiled for sm_90 without a GPU")(runs(lambda: torch.jit.load(made_elsewhere), DEVICE))
    check("the same on the CPU, as torchtrt.load is told")(runs(lambda: torchtrt.load(made_elsewhere, map_location="cpu"), "cpu"))

    major, minor = torch.cuda.get_device_capability(0)
    values = folder / "values.pt"
    torch.save((x, expected), values)
    _, carries_code = small(device=DEVICE, target=f"sm_{major}{minor}")
    torch.jit.save(carries_code, str(folder / "carries_code.ts"))

    @check("a file with machine code for this GPU runs without NVRTC")
    def _():
        failure = without_compiler(folder, str(folder / "carries_code.ts"), values)
        assert not failure, failure

    if (major, minor) == (9, 0):

        @check("a file that was compiled for sm_90 without a GPU runs without NVRTC")
        def _():
            failure = without_compiler(folder, made_elsewhere, values)
            assert not failure, failure

    @check("without NVRTC a file without machine code names the kernel that is missing")
    def _():
        failure = without_compiler(folder, str(folder / "gpu.ts"), values)
        assert "was not compiled for sm_" in failure and "NVRTC, which compiles kernels for the GPU, is missing" in failure, failure

    @check("a deep copy shares its engine's device")
    def _():
        (engine,) = engines_of(copy.deepcopy(on_gpu)).values()
        assert str(engine.device()) == DEVICE

    @check("a kept segment runs on the GPU for another shape")
    def _():
        y = torch.randn(2, 3, 20, 20)
        _close(on_gpu(y.to(DEVICE)), module(y))

    @check("an engine's bytes, embedded")
    def _():
        plan = torchtrt.convert_method_to_trt_engine(torch.jit.script(module.cpu()), inputs=[torchtrt.Input([2, 3, 16, 16])])
        _close(torchtrt.ts.embed_engine_in_new_module(plan, device=DEVICE)(x.to(DEVICE)), expected)

    check.close()


@torch.inference_mode()
def threads(arguments) -> None:
    import torchtrt

    check = Checks("threads")
    module, compiled = small(device=DEVICE, inputs=[torchtrt.Input(min_shape=[1, 3, 16, 16], opt_shape=[2, 3, 16, 16], max_shape=[8, 3, 16, 16])])
    batches = [torch.randn(n, 3, 16, 16, device=DEVICE) for n in range(1, 9)]
    expected = [module.to(DEVICE)(batch) for batch in batches]
    synchronize()

    @check("8 threads x 4 streams x 1,000 calls with changing shapes")
    def _():
        def work(number):
            streams = [torch.cuda.Stream() for _ in range(4)]
            for call in range(1000):
                with torch.inference_mode(), torch.cuda.stream(streams[call % 4]):
                    which = (call * 7 + number) % 8
                    got = compiled(batches[which])
                    if call % 50 == number:
                        torch.testing.assert_close(got, expected[which], rtol=1e-4, atol=1e-5)
            for stream in streams:  # torch.cuda.synchronize() may not be called while another thread records
                stream.synchronize()

        for repeat in range(3):
            started = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                list(pool.map(work, range(8)))
            free, total = torch.cuda.mem_get_info()
            print(f"TABLE round {repeat}: {8000 / (time.monotonic() - started):.0f} calls a second, {(total - free) >> 20} MiB in use, "
                  f"{torch.cuda.memory_allocated() >> 20} MiB allocated", flush=True)

    @check("inputs that are freed right after the call")
    def _():
        for call in range(300):
            got = compiled(batches[3] + 0)
            torch.empty(4, 3, 16, 16, device=DEVICE).fill_(float("nan"))
            if call % 50 == 0:
                torch.testing.assert_close(got, expected[3], rtol=1e-4, atol=1e-5)

    check.close()


@torch.inference_mode()
def capture(arguments) -> None:
    import torchtrt

    check = Checks("capture")

    @check("a captured call computes what the input then holds")
    def _():
        module, compiled = small(device=DEVICE)
        module = module.to(DEVICE)
        x = torch.randn(2, 3, 16, 16, device=DEVICE)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                compiled(x)
        synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            got = compiled(x)
        for seed in range(3):
            torch.manual_seed(seed)
            x.copy_(torch.randn_like(x))
            graph.replay()
            synchronize()
            torch.testing.assert_close(got, module(x), rtol=1e-4, atol=1e-5)

    @check("an engine whose sizes depend on data refuses by name")
    def _():
        compiled = torchtrt.compile(torch.jit.script(Counted().eval()), inputs=[torchtrt.Input([8])], device=DEVICE, require_full_compilation=True)
        x = torch.randn(8, device=DEVICE)
        compiled(x)
        synchronize()
        try:
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                compiled(x)
        except RuntimeError as error:
            assert "cannot be captured" in str(error), first_line(error)
        else:
            raise AssertionError("it was captured")
        synchronize()

    check.close()


def misuse(arguments) -> None:
    import torchtrt

    check = Checks("misuse")
    module, compiled = small(device=DEVICE)
    x = torch.randn(2, 3, 16, 16)

    def raises(body, *words):
        try:
            body()
        except (RuntimeError, ValueError) as error:
            missing = [word for word in words if word not in str(error)]
            assert not missing, f"{missing} not in {first_line(error)}"
            print(first_line(error))
        else:
            raise AssertionError("nothing was raised")

    check("an input on the CPU")(lambda: raises(lambda: compiled(x), "[E006]", "is on device cpu, expected cuda:0"))
    check("a GPU that is not there")(lambda: raises(lambda: small(device="cuda:99"), "[C003]", "cuda:99"))
    check("parameters on two devices")(lambda: raises(_two_devices, "[C003]", "on cuda:0 and on cpu"))

    @check("an engine for the CPU with an input on the GPU")
    def _():
        _, on_cpu = small(device="cpu")
        raises(lambda: on_cpu(x.to(DEVICE)), "[E006]", "expected cpu")

    @check("a module that was moved behind its compile still says where it runs")
    def _():
        moved = compiled.to("cpu")
        raises(lambda: moved(x), "[E006]", "moves a module's parameters, and no engine")

    @check("a process that was forked after CUDA was used")
    def _():
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                compiled(x.to("cpu"))
                text = "nothing was raised"
            except BaseException as error:  # noqa: BLE001 - told to the parent
                text = str(error)
            os.write(writer, text[-1500:].encode())
            os._exit(0)
        os.waitpid(child, 0)
        text = os.read(reader, 4000).decode()
        assert "fork" in text, text[:200]

    @check("out of memory says how much, and the module stays usable")
    def _():
        big = torchtrt.compile(torch.jit.script(nn.Softmax(-1).eval()), device=DEVICE,
                               inputs=[torchtrt.Input(min_shape=[1, 1], opt_shape=[2, 2], max_shape=[1 << 20, 1 << 20])])
        huge = torch.zeros(1, 1, device=DEVICE).expand(1 << 19, 1 << 19)
        raises(lambda: big(huge), "[E00")
        y = torch.randn(2, 2, device=DEVICE)
        _close(big(y), torch.softmax(y, -1))

    @check("an index out of range shows at the next call at the latest")
    def _():
        embedding = torchtrt.compile(torch.jit.script(nn.Embedding(10, 4).eval()), inputs=[torchtrt.Input([3], dtype=torch.int64)], device=DEVICE)

        def calls():
            embedding(torch.tensor([1, 2, 99], device=DEVICE))
            synchronize()
            embedding(torch.tensor([1, 2, 3], device=DEVICE))

        raises(calls, "[E008] step", "an index was out of range in an earlier call")
        embedding(torch.tensor([1, 2, 3], device=DEVICE))
        synchronize()

    check.close()


def _two_devices():
    import torchtrt

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2).to(DEVICE), nn.Linear(2, 2)

        def forward(self, x):
            return self.b(self.a(x))

    torchtrt.compile(torch.jit.script(Two().eval()), inputs=[torchtrt.Input([1, 2])])
