"""Engines in started processes and on several GPUs, and the memory that they take from PyTorch's allocator."""

import gc
import multiprocessing
import pathlib

import torch

from gpu_checks import Checks, small
from gpu_common import DEVICE, engines_of, first_line, synchronize


def _loads(file: str, location: str, values, queue) -> None:
    """Runs it in a process of its own."""
    try:
        import torchtrt  # noqa: F401 - registers the class of engines

        module = torch.jit.load(file, map_location=location)
        queue.put((module(torch.tensor(values, device=location)).tolist(), ""))
    except Exception as error:  # noqa: BLE001 - told to the parent
        queue.put((None, first_line(error)))


def _close(got, expected):
    torch.testing.assert_close(got.cpu(), expected.cpu(), rtol=1e-4, atol=1e-5)


@torch.inference_mode()
def processes(arguments) -> None:
    import torchtrt

    check = Checks("processes")
    module, compiled = small(device=DEVICE)
    x = torch.randn(2, 3, 16, 16)
    expected = module.cpu()(x)
    file = str(pathlib.Path(arguments.out) / "spawned.ts")
    torch.jit.save(compiled, file)
    _close(compiled(x.to(DEVICE)), expected)  # CUDA is in use here before the others begin

    @check("two processes that were started with spawn")
    def _():
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        started = [context.Process(target=_loads, args=(file, DEVICE, x.tolist(), queue)) for _ in range(2)]
        for process in started:
            process.start()
        for _ in started:
            got, error = queue.get(timeout=120)
            assert not error, error
            _close(torch.tensor(got), expected)
        for process in started:
            process.join(timeout=30)
            assert process.exitcode == 0, f"exit code {process.exitcode}"

    @check("memory of calls comes from PyTorch's allocator and goes back to it")
    def _():
        batches = torchtrt.Input(min_shape=[1, 3, 16, 16], opt_shape=[8, 3, 16, 16], max_shape=[256, 3, 16, 16])
        _, dynamic = small(device=DEVICE, inputs=[batches])
        (engine,) = engines_of(dynamic).values()
        inputs = torch.randn(256, 3, 16, 16, device=DEVICE)
        needed = engine.workspace_bytes([inputs])
        dynamic(inputs)
        synchronize()
        before = torch.cuda.memory_allocated(DEVICE)
        torch.cuda.reset_peak_memory_stats(DEVICE)
        got = dynamic(inputs)
        synchronize()
        peak = torch.cuda.max_memory_allocated(DEVICE)
        assert peak - before >= needed, f"a call allocated {peak - before} bytes, its workspace alone has {needed}"
        del got
        assert torch.cuda.memory_allocated(DEVICE) == before, "a call keeps memory"
        print(f"TABLE a call allocates {peak - before} bytes, {needed} of workspace")

    @check("an allocator that is full says how much was wanted, and is used again")
    def _():
        batches = torchtrt.Input(min_shape=[1, 3, 16, 16], opt_shape=[8, 3, 16, 16], max_shape=[4096, 3, 16, 16])
        plain, dynamic = small(device=DEVICE, inputs=[batches])
        large = torch.randn(4096, 3, 16, 16, device=DEVICE)
        synchronize()
        torch.cuda.empty_cache()
        _, total = torch.cuda.mem_get_info(DEVICE)
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved(DEVICE) + (1 << 20)) / total, DEVICE)
        try:
            dynamic(large)
        except RuntimeError as error:
            assert "[E007]" in str(error) and "wanted" in str(error), first_line(error)
        else:
            raise AssertionError("nothing was raised")
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0, DEVICE)
        _close(dynamic(large[:4]), plain.cpu()(large[:4].cpu()))

    if torch.cuda.device_count() > 1:
        _several(check, file, x, expected)
    else:
        print("TABLE not tried: several GPUs, since this machine has one")
    check.close()


def _several(check, file: str, x, expected) -> None:
    devices = [f"cuda:{index}" for index in range(min(torch.cuda.device_count(), 4))]

    @check("a file on every GPU at a time")
    def _():
        modules = {device: torch.jit.load(file, map_location=device) for device in devices}
        for _ in range(6):  # recorded and replayed on each
            for device, module in modules.items():
                got = module(x.to(device))
                assert str(got.device) == device, f"the result is on {got.device}"
                _close(got, expected)

    @check("another GPU is the current one")
    def _():
        module = torch.jit.load(file, map_location=devices[1])
        with torch.cuda.device(0):
            _close(module(x.to(devices[1])), expected)
            assert torch.cuda.current_device() == 0, "a call left another device behind"

    @check("an input on the other GPU is named")
    def _():
        module = torch.jit.load(file, map_location=devices[1])
        try:
            module(x.to(devices[0]))
        except RuntimeError as error:
            assert f"is on device {devices[0]}, expected {devices[1]}" in str(error), first_line(error)
        else:
            raise AssertionError("nothing was raised")

    @check("streams of two GPUs in one thread")
    def _():
        module = {device: torch.jit.load(file, map_location=device) for device in devices[:2]}
        streams = {device: torch.cuda.Stream(device) for device in devices[:2]}
        results = []
        for call in range(40):
            device = devices[call % 2]
            with torch.cuda.stream(streams[device]):
                results.append(module[device](x.to(device)))
        for device in devices[:2]:
            torch.cuda.synchronize(device)
        for got in results:
            _close(got, expected)
        del module
        gc.collect()
