"""The sections of tests/gpu/run.sh: engines on a GPU against eager PyTorch there. Prints FAIL, CRASH and SLOW lines, goes on, and sums up."""

import argparse
import collections
import concurrent.futures
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import traceback

import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parents[1] / "bench")]

DEVICE = os.environ.get("TORCHTRT_GPU", "cuda:0")


def first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if re.match(r"(\w+\.)*(RuntimeError: )?\[[CEI]\d{3}\]", line)]
    return f"{type(error).__name__}: {(told or lines or [''])[0][:220]}"


def engines_of(module) -> dict:
    import torchtrt.runtime

    return torchtrt.runtime.engines(module)


def implementations(module) -> collections.Counter:
    """How often each implementation was chosen, over all engines."""
    return collections.Counter(name for engine in engines_of(module).values() for name in re.findall(r"\[([a-z_0-9]+)\]\s*$", engine.inspect(), re.M))


def to_gpu(x: torch.Tensor) -> torch.Tensor:
    """On the GPU with the same strides: .to() would lay it out anew."""
    whole = torch.as_strided(x, (x.untyped_storage().nbytes() // x.element_size(),), (1,), 0)
    return whole.to(DEVICE).as_strided(x.shape, x.stride(), x.storage_offset())


def synchronize() -> None:
    if DEVICE != "cpu":  # the scripts themselves are tried on the CPU
        torch.cuda.synchronize()


def exact_settings() -> None:
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


# --- operators: the table, shard by shard in processes of their own

def operators_of_shard(shard: int, shards: int, skip: int, seconds: float) -> None:
    import operator_table
    import test_operators
    import torchtrt

    exact_settings()
    pairs = [(line, dtype) for line in operator_table.TABLE[shard::shards] for dtype in line.dtypes]
    end = time.monotonic() + seconds
    for number, (line, dtype) in enumerate(pairs):
        if number < skip:
            continue
        if time.monotonic() > end:
            print(json.dumps({"number": number, "name": "", "state": "late", "left": len(pairs) - number}), flush=True)
            return
        name = f"{line.name}-{str(dtype).removeprefix('torch.')}"
        print(json.dumps({"number": number, "name": name, "state": "begun"}), flush=True)
        result = {"number": number, "name": name, "dtype": str(dtype).removeprefix("torch."), "state": "passed", "host": 0, "native": 0}
        try:
            result["state"] = "passed" if _operator(line, dtype, result, test_operators, torchtrt) else "none"
        except AssertionError as error:
            where = traceback.extract_tb(error.__traceback__)[-1].line  # an assertion without a text says what it asserts
            result.update(state="failed", text="differs: " + (" ".join(str(error).split()) or where)[:200])
        except Exception as error:  # noqa: BLE001 - told, and the table goes on
            result.update(state="failed", text=first_line(error))
        print(json.dumps(result), flush=True)


@torch.inference_mode()
def _operator(line, dtype, result, test_operators, torchtrt) -> bool:
    ran = False
    for case in range(len(line.cases)):
        on_cpu = line.inputs(case, dtype)
        inputs = [to_gpu(x) for x in on_cpu]
        try:
            expected = line.function(*inputs)
        except (RuntimeError, NotImplementedError, IndexError, ValueError, TypeError) as error:
            if "CUDA error" in str(error):
                raise
            continue  # eager takes no such dtype there
        if not isinstance(expected, torch.Tensor) or expected.dtype not in test_operators.TOLERANCES and expected.dtype.is_floating_point:
            continue
        traced = torch.jit.trace(line.function, tuple(inputs), check_trace=False)
        specs = [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs]
        compiled = torchtrt.compile(traced, inputs=specs, require_full_compilation=True, device=DEVICE)
        got = compiled(*inputs)
        synchronize()
        assert got.device == expected.device, f"on {got.device}, expected {expected.device}"
        again = compiled(*inputs)
        assert got.shape != again.shape or torch.equal(torch.nan_to_num(got), torch.nan_to_num(again)), "two calls differ in their bits"
        test_operators.assert_equal(got.cpu(), expected.cpu(), line, on_cpu)
        chosen = implementations(compiled)
        result["host"] += chosen["host"]
        result["native"] += sum(chosen.values()) - chosen["host"]
        ran = True
    return ran


def operators(arguments) -> None:
    shards = min(14, os.cpu_count() or 1)
    end = time.monotonic() + arguments.seconds - 5
    results: list[dict] = []
    lock = threading.Lock()

    def serve(shard: int) -> None:
        skip = 0
        while time.monotonic() < end:
            process = subprocess.Popen(
                [sys.executable, __file__, "operators-of-shard", "--shard", str(shard), "--shards", str(shards), "--skip", str(skip),
                 "--seconds", str(end - time.monotonic())], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            begun = None
            hangs = threading.Timer(max(1.0, end - time.monotonic()), process.kill)
            hangs.start()
            for text in process.stdout:
                if not text.startswith("{"):
                    continue
                told = json.loads(text)
                begun = told if told["state"] == "begun" else None
                if begun is None:
                    with lock:
                        results.append(told)
            hangs.cancel()
            process.wait()
            if begun is None:
                return
            with lock:
                is_late = time.monotonic() >= end - 1
                results.append({**begun, "state": "late" if is_late else "crashed", "text": f"exit {process.returncode}", "left": int(is_late)})
            skip = begun["number"] + 1

    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        list(pool.map(serve, range(shards)))
    (pathlib.Path(arguments.out) / "operators.json").write_text(json.dumps(results))
    reasons = collections.Counter()
    for each in results:
        if each["state"] in ("failed", "crashed"):
            print("FAIL" if each["state"] == "failed" else "CRASH", each["name"], each.get("text", ""))
            reasons[re.sub(r"\d[\d.e+-]*", "N", each.get("text", ""))[:90]] += 1
    for reason, count in reasons.most_common(12):
        print(f"SUM {count} x {reason}")
    by_dtype = collections.defaultdict(collections.Counter)
    for each in results:
        by_dtype[each.get("dtype", "-")][each["state"]] += 1
    for dtype, states in by_dtype.items():
        print(f"TABLE {dtype:10}", dict(states))
    states = collections.Counter(each["state"] for each in results)
    late = sum(each.get("left", 0) for each in results)
    print(f"SUM operators: {states['passed']} passed, {states['failed']} failed, {states['crashed']} crashed, {late} not reached; "
          f"steps: {sum(each.get('native', 0) for each in results)} on the GPU, {sum(each.get('host', 0) for each in results)} on the host")


# --- models

def _vision(name):
    def make():
        import torchvision

        return torchvision.models.get_model(name, weights=None), lambda batch: (torch.randn(batch, 3, 224, 224),)

    return make


def _timm(name, size=224):
    def make():
        import timm

        return timm.create_model(name, pretrained=False), lambda batch: (torch.randn(batch, 3, size, size),)

    return make


class _First(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *arguments):
        return self.model(*arguments, return_dict=False)[0]


def _text(kind, **settings):
    def make():
        import transformers

        config = getattr(transformers, kind + "Config")(**settings)
        model = getattr(transformers, kind + "Model")(config)
        return _First(model), lambda batch: (torch.randint(0, 1000, (batch, 64)),)

    return make


SMALL = {"hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 512, "vocab_size": 1000}
MODELS = {
    **{name: _vision(name) for name in (
        "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "densenet121", "vgg11", "squeezenet1_1",
        "shufflenet_v2_x1_0", "mnasnet0_5", "regnet_y_400mf", "convnext_tiny", "vit_b_16", "swin_t", "googlenet", "alexnet")},
    **{name: _timm(name) for name in (
        "mixer_s32_224", "deit_tiny_patch16_224", "ghostnet_100", "hardcorenas_a", "lcnet_050", "mobilevitv2_050", "poolformer_s12",
        "resmlp_12_224", "visformer_tiny", "xcit_nano_12_p16_224", "repvgg_a0", "res2net50_26w_4s", "levit_128s", "coat_tiny")},
    "bert": _text("Bert", **SMALL), "roberta": _text("Roberta", **SMALL), "electra": _text("Electra", **SMALL),
    "distilbert": _text("DistilBert", dim=256, n_layers=3, n_heads=4, hidden_dim=512, vocab_size=1000),
    "gpt2": _text("GPT2", n_embd=256, n_layer=3, n_head=4, vocab_size=1000),
    "albert": _text("Albert", **SMALL), "mpnet": _text("MPNet", **SMALL),
}


def _cast(values, dtype):
    return tuple(x.to(DEVICE, dtype if x.is_floating_point() else x.dtype) for x in values)


@torch.inference_mode()
def one_model(name: str, dtype_name: str, batch: int) -> None:
    import torchtrt

    exact_settings()
    dtype = getattr(torch, dtype_name)
    torch.manual_seed(0)
    model, inputs_of = MODELS[name]()
    model = model.eval().to(DEVICE)
    torch.manual_seed(1)
    given = inputs_of(batch)
    exact = copy.deepcopy(model).double()(*_cast(given, torch.float64)).double()  # a model may keep what it computed
    model = model.to(dtype)
    inputs = _cast(given, dtype)
    expected = model(*inputs)
    traced = torch.jit.trace(model, inputs, check_trace=False, strict=False)
    started = time.monotonic()
    specs = [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs]
    compiled = torchtrt.compile(traced, inputs=specs, device=DEVICE, enabled_precisions={torch.float32, dtype})
    seconds = time.monotonic() - started
    got = compiled(*inputs)
    synchronize()
    largest = max(exact.abs().max().item(), 1e-30)
    ours, theirs = (got.double() - exact).abs().max().item() / largest, (expected.double() - exact).abs().max().item() / largest
    allowed = max({"float32": 1e-4}.get(dtype_name, 2e-2), 2 * theirs)
    chosen = implementations(compiled)
    summary = re.search(r"(\d+)% of (\d+) nodes? in engines", torchtrt.report(compiled).summary() if hasattr(torchtrt.report(compiled), "summary") else str(torchtrt.report(compiled)))
    print(json.dumps({"ok": ours <= allowed and got.dtype == expected.dtype and got.device == expected.device, "ours": ours, "theirs": theirs,
                      "engines": len(engines_of(compiled)), "share": summary[1] if summary else "?", "host": chosen["host"],
                      "steps": sum(chosen.values()), "seconds": seconds}), flush=True)


def models(arguments) -> None:
    end = time.monotonic() + arguments.seconds - 5
    cases = [(name, dtype, batch) for batch in (1, 4) for dtype in ("float32", "float16") for name in MODELS]

    def run(case):
        left = end - time.monotonic()
        if left < 10:
            return case, None, "late"
        try:
            process = subprocess.run([sys.executable, __file__, "one-model", *map(str, case)], capture_output=True, text=True,
                                     timeout=min(120.0, left), check=False)
        except subprocess.TimeoutExpired:
            return case, None, "takes too long"
        lines = [line for line in process.stdout.splitlines() if line.startswith("{")]
        if not lines:
            told = [line for line in process.stderr.splitlines() if line.strip()]
            errors = [line for line in told if re.search(r"\[[CEI]\d{3}\]|Error", line)]
            return case, None, f"exit {process.returncode}: {(errors or told or [''])[-1][:220]}"
        return case, json.loads(lines[-1]), ""

    passed, failed, late, rows = 0, 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(7) as pool:
        for case, result, problem in pool.map(run, cases):
            label = f"{case[0]} {case[1]} batch {case[2]}"
            if problem == "late":
                late += 1
                continue
            if result is None:
                failed += 1
                print("FAIL", label, problem, flush=True)
            else:
                passed, failed = passed + result["ok"], failed + (not result["ok"])
                rows.append((label, result))
                print("TABLE" if result["ok"] else "FAIL", f"{label:38} engines {result['engines']:2}  nodes {result['share']:>3}%  steps {result['steps']:4}  "
                      f"host {result['host']:3}  error {result['ours']:.1e}  eager's {result['theirs']:.1e}  compiled in {result['seconds']:.1f} s", flush=True)
    print(f"SUM models: {passed} equal, {failed} failed, {late} not reached; {sum(r['host'] for _, r in rows)} of {sum(r['steps'] for _, r in rows)} steps on the host")


# --- small modules for what is not about kernels

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 10))

    def forward(self, x):
        return torch.softmax(self.body(x), -1)


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

    @check("verify and profile")
    def _():
        module, compiled = small(device=DEVICE)
        print(torchtrt.verify(torch.jit.script(module.to(DEVICE)), compiled, [x.to(DEVICE)]))
        print(torchtrt.profile(compiled, [x.to(DEVICE)]))

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
            synchronize()

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

        raises(calls, "[E0")
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


# --- bench

@torch.inference_mode()
def bench(arguments) -> None:
    import torchtrt

    end = time.monotonic() + arguments.seconds - 10
    cases = [(name, batch) for batch in (1, 32) for name in ("resnet50", "bert-base", "vit_b_16", "mobilenet_v3_large")]
    MODELS["bert-base"] = _text("Bert", vocab_size=30522)
    for name, batch in cases:
        if time.monotonic() > end:
            print(f"SLOW {name} batch {batch} was not reached")
            continue
        try:
            torch.manual_seed(0)
            model, inputs_of = MODELS[name]()
            model = model.eval().to(DEVICE).half()
            inputs = _cast(inputs_of(batch), torch.float16)
            traced = torch.jit.trace(model, inputs, check_trace=False, strict=False)
            specs = [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs]
            ways = {"eager": model, "freeze": torch.jit.freeze(traced),
                    "engine": torchtrt.compile(traced, inputs=specs, device=DEVICE, enabled_precisions={torch.float16})}
        except Exception as error:  # noqa: BLE001 - told, and the others run
            print("FAIL", name, batch, first_line(error))
            continue
        row = []
        for way, module in ways.items():
            for with_graph in (False, True):
                try:
                    row.append(f"{way}{'+graph' if with_graph else ''} {_milliseconds(module, inputs, with_graph):.3f}")
                except Exception as error:  # noqa: BLE001 - told, and the others run
                    row.append(f"{way}{'+graph' if with_graph else ''} -")
                    print("FAIL", name, batch, way, with_graph, first_line(error))
        print(f"TABLE {name:20} batch {batch:2} fp16 ms: " + ", ".join(row), flush=True)
    print("SUM bench done on", torch.cuda.get_device_name(0))


def _milliseconds(module, inputs, with_graph: bool) -> float:
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(4):
            module(*inputs)
    synchronize()
    run = lambda: module(*inputs)  # noqa: E731 - replaced below
    if with_graph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            module(*inputs)
        run = graph.replay
    times = []
    for _ in range(7):
        begin, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(10):
            run()
        stop.record()
        synchronize()
        times.append(begin.elapsed_time(stop) / 10)
    return sorted(times)[len(times) // 2]


SECTIONS = {each.__name__: each for each in (smoke, operators, models, files, threads, capture, misuse, bench)}


def main() -> None:
    if sys.argv[1] == "pack":
        pack(sys.argv[2])
    elif sys.argv[1] == "one-model":
        one_model(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        parser = argparse.ArgumentParser()
        parser.add_argument("section", choices=[*SECTIONS, "operators-of-shard"])
        parser.add_argument("--out", default=".")
        parser.add_argument("--seconds", type=float, default=270)
        parser.add_argument("--shard", type=int, default=0)
        parser.add_argument("--shards", type=int, default=1)
        parser.add_argument("--skip", type=int, default=0)
        arguments = parser.parse_args()
        if arguments.section == "operators-of-shard":
            operators_of_shard(arguments.shard, arguments.shards, arguments.skip, arguments.seconds)
        else:
            SECTIONS[arguments.section](arguments)


if __name__ == "__main__":
    main()
