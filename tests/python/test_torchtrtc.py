"""The command line: compile, inspect, run and check, their options, the input specifications and the exit codes."""

import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
import torch
from torch import nn

import models
import torchtrt.runtime

BUILD = Path(os.environ["TORCHTRT_BUILD"])
LENET_INPUT = "(1,1,32,32)"


def torchtrtc(*arguments, **options) -> subprocess.CompletedProcess:
    command = [BUILD / "bin" / "torchtrtc", *arguments]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)


def succeeds(*arguments, **options) -> subprocess.CompletedProcess:
    process = torchtrtc(*arguments, **options)
    assert process.returncode == 0, process.stdout + process.stderr
    return process


class Inverse(nn.Module):
    def forward(self, x):
        return torch.linalg.inv(x)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("torchtrtc")
    torch.jit.script(models.build("lenet")).save(str(path / "lenet.ts"))
    torch.jit.script(nn.ReLU().eval()).save(str(path / "relu.ts"))
    torch.jit.script(Inverse().eval()).save(str(path / "inverse.ts"))
    return path


@pytest.fixture(scope="module")
def compiled(folder):
    """The compiled LeNet's file, and what torchtrtc said while compiling."""
    process = succeeds("lenet.ts", "compiled.ts", LENET_INPUT, cwd=folder)
    return folder / "compiled.ts", process.stderr


def assert_is_lenet(path):
    x = models.sample("lenet")
    expected = models.build("lenet")(x)
    actual = torch.jit.load(str(path))(x)
    assert actual.shape == expected.shape
    assert (actual - expected).abs().max() <= 1e-4 * expected.abs().max()


def test_compiled_module_gives_the_same_results(compiled):
    assert_is_lenet(compiled[0])


def test_compiling_tells_the_summary_the_check_and_the_file(compiled):
    made, engines, check, written = compiled[1].splitlines()
    assert re.fullmatch(r"compiled    __torch__\.\S+\.forward in [\d.]+ s", made)
    assert re.fullmatch(r"engines     1 engine, 0 segments in PyTorch, 100% of \d+ nodes in engines", engines)
    difference, allowed = re.fullmatch(r"check       largest difference from PyTorch (\S+), allowed (\S+)", check).groups()
    assert 0 <= float(difference) <= float(allowed)
    assert re.fullmatch(r"wrote       compiled\.ts, \d+\.\d KB", written)


def test_explain_lists_phases_and_every_node(folder):
    told = succeeds("inverse.ts", "explained.ts", "(2,2)", "--explain", cwd=folder).stderr
    assert re.search(r"compiled in .*\n  checking .*\n", told) and re.search(r"\n  node     aten::linalg_inv .*\n  because  ", told), told
    assert len(succeeds("inverse.ts", "explained.ts", "(2,2)", cwd=folder).stderr.splitlines()) == 5


class Several(nn.Module):
    def forward(self, x):
        return {"a": torch.relu(x), "b": [torch.tanh(x), x > 0]}, x.size(0)


def test_the_check_names_the_output_that_is_nearest_to_its_limit(folder):
    torch.jit.script(Several().eval()).save(str(folder / "several.ts"))
    told = succeeds("several.ts", "out.ts", "(64)", cwd=folder).stderr
    assert re.search(r"\ncheck       largest difference from PyTorch \S+, allowed \S+, in output \d of 3\n", told), told


class Size(nn.Module):
    def forward(self, x):
        return x.size(0)


def test_no_tensor_no_comparison(folder):
    torch.jit.script(Size().eval()).save(str(folder / "size.ts"))
    assert "not compared with PyTorch: no result is a tensor\n" in succeeds("size.ts", "out.ts", "(64)", cwd=folder).stderr


def test_difference_beyond_the_threshold_is_a_warning(folder):
    process = succeeds(folder / "lenet.ts", folder / "strict.ts", LENET_INPUT, "--atol=0", "--rtol=-1")
    assert "differs by more than --atol and --rtol allow" in process.stderr
    assert_is_lenet(folder / "strict.ts")


def test_threshold_check_can_be_left_out(folder):
    process = succeeds(folder / "relu.ts", folder / "unchecked.ts", "(2)", "--no-threshold-check")
    assert "difference" not in process.stderr


@pytest.mark.parametrize("option", ["-v", "--verbose", "-i", "--i", "--info"])
def test_verbosity_says_more(folder, compiled, option):
    told = succeeds(folder / "lenet.ts", folder / "told.ts", LENET_INPUT, option).stderr
    assert len(told) > len(compiled[1])


@pytest.mark.parametrize("options", [[], ["-w"], ["--info"], ["-v"]])
def test_the_summary_and_the_phases_are_told_once(folder, options):
    told = succeeds(folder / "relu.ts", folder / "told.ts", "(2)", *options).stderr
    assert told.count(" 1 engine, 0 segments in PyTorch, 100% of 1 node in engines\n") == 1, told
    explained = options == ["--info"] or options == ["-v"]
    assert (told.count("compiled in "), told.count("segment 0: engine, 1 node\n")) == (explained, explained), told
    told = succeeds(folder / "relu.ts", folder / "told.ts", "(2)", "--explain", *options).stderr
    assert told.count(" 1 engine, 0 segments in PyTorch, 100% of 1 node in engines\n") == 1, told
    assert told.count("compiled in ") == 1 and told.count("segment 0: engine, 1 node\n") == 1, told


@pytest.mark.parametrize("option", ["-w", "--warnings"])
def test_warnings_can_be_turned_off(folder, option):
    arguments = [folder / "lenet.ts", folder / "silent.ts", LENET_INPUT, "--atol=0", "--rtol=-1", option]
    assert "differs by more" not in succeeds(*arguments).stderr


EVERY_OTHER_OPTION = [
    "--build-debuggable-engine", "--allow-gpu-fallback", "--require-full-compilation", "--disable-tf32", "--sparse-weights",
    "-p", "float", "--enable-precision=f16", "-p", "int8", "-d", "cpu", "--gpu-id=0", "--dla-core=0",
    "--engine-capability=standard", "--calibration-cache-file=cache.txt", "--mbs=1", "--num-avg-timing-iters=2",
    "--workspace-size=1048576", "--dla-sram-size=4096", "--dla-local-dram-size=4096", "--dla-global-dram-size=4096",
    "--atol=1e-6", "--rtol=1e-4", "--no-threshold-check", "--truncate", "--allow-shape-tensors",
]


def test_every_option_of_the_reference_system_is_taken(folder):
    (folder / "cache.txt").write_text("torchtrt calibration 1\nmethod entropy\n", encoding="utf-8")
    succeeds(*EVERY_OTHER_OPTION, folder / "relu.ts", folder / "options.ts", "(2)", cwd=folder)
    x = torch.randn(2)
    assert torch.equal(torch.jit.load(str(folder / "options.ts"))(x), torch.relu(x))


def test_other_spellings_are_taken(folder):
    spellings = ["--min-block-size=1", "--truncate-long-double", "--truncate-64bit", "--device-type=cpu",
                 "--teo=aten::linalg_inv", "--torch-executed-op", "aten::digamma"]
    succeeds(*spellings, folder / "relu.ts", folder / "spellings.ts", "(2)")


@pytest.mark.parametrize("option", ["--tem", "--torch-executed-mod"])
def test_a_module_can_be_kept_in_pytorch(folder, option):
    process = succeeds(folder / "lenet.ts", folder / "kept_module.ts", LENET_INPUT, f"{option}=feat")
    assert "torch_executed_modules keeps feat in PyTorch" in process.stderr
    assert_is_lenet(folder / "kept_module.ts")


def test_help_names_every_option():
    text = succeeds("--help").stdout
    names = {part.split("=")[0] for part in EVERY_OTHER_OPTION if part.startswith("--")}
    names |= {"--check-method-support", "--save-engine", "--embed-engine", "--custom-converters", "--torch-executed-op"}
    for name in names:
        assert name in text
    for command in ["inspect", "run", "profile", "verify", "check", "bundle", "replay", "env", "triton", "completion", "man"]:
        assert command in text


USAGES = {
    "": "Usage: torchtrtc INPUT OUTPUT SPECS... [OPTIONS]\n       torchtrtc COMMAND ARGUMENTS... [OPTIONS]\n",
    "inspect": "Usage: torchtrtc inspect FILE [OPTIONS]\n",
    "run": "Usage: torchtrtc run FILE [SPECS...] [OPTIONS]\n",
    "profile": "Usage: torchtrtc profile FILE [SPECS...] [OPTIONS]\n",
    "verify": "Usage: torchtrtc verify FILE COMPILED [SPECS...] [OPTIONS]\n",
    "check": "Usage: torchtrtc check FILE [OPTIONS]\n",
    "bundle": "Usage: torchtrtc bundle FILE OUTPUT [SPECS...] [OPTIONS]\n",
    "replay": "Usage: torchtrtc replay FOLDER [OPTIONS]\n",
    "env": "Usage: torchtrtc env [OPTIONS]\n",
    "triton": "Usage: torchtrtc triton FILE REPOSITORY [OPTIONS]\n",
    "completion": "Usage: torchtrtc completion SHELL [OPTIONS]\n",
    "man": "Usage: torchtrtc man [OPTIONS]\n",
}


@pytest.mark.parametrize("command", USAGES)
def test_help_shows_the_call_and_values_by_their_meaning(command):
    text = succeeds(*command.split(), "--help").stdout
    assert USAGES[command] in text
    assert max(map(len, text.splitlines())) <= 110
    assert not re.search(r"\b(TEXT|UINT|INT|FLOAT|REQUIRED|SUBCOMMAND)\b|--i\b|\.\.\. {2}", text), text
    assert not re.search(r"^ +-\S+( \S+)*$(?!\n {38}\S)", text, re.MULTILINE), "every option is explained"


def test_version():
    assert re.fullmatch(r"torchtrtc \d+\.\d+\.\d+\n", succeeds("--version").stdout)


# Specifications without a format and dtype, and with all spellings of both; and what `run` prints of ReLU's result.
GOOD_SPECIFICATIONS = {
    "(2,3)": "Float[2, 3]",
    "( 2 , 3 )": "Float[2, 3]",
    "(8,)": "Float[8]",
    "()": "Float[]",
    "(0,3)": "Float[0, 3]",
    "(-1,3)": "Float[1, 3]",
    "[(1,3);(2,3);(4,3)]": "Float[2, 3]",
    "[ (1,3) ; (2,3) ; (4,3) ]": "Float[2, 3]",
    "[(1,3);(2,3);(4,3)]@half": "Half[2, 3]",
    "[(1,3,8,8);(2,3,8,8);(4,3,8,8)]@f32%nhwc": "Float[2, 3, 8, 8]",
    **{f"(2)@{name}": "Float[2]" for name in ["float", "float32", "f32", "fp32", "FLOAT"]},
    **{f"(2)@{name}": "Half[2]" for name in ["half", "float16", "f16", "fp16"]},
    **{f"(2)@{name}": "Char[2]" for name in ["int8", "i8", "char"]},
    **{f"(2)@{name}": "Int[2]" for name in ["int", "int32", "i32"]},
    **{f"(2)@{name}": "Long[2]" for name in ["long", "int64", "i64"]},
    **{f"(2)@{name}": "Double[2]" for name in ["double", "float64", "f64"]},
    **{f"(1,3,8,8)%{name}": "Float[1, 3, 8, 8]"
       for name in ["linear", "nchw", "chw", "contiguous", "nhwc", "hwc", "channels_last"]},
}


def test_good_specifications(folder):
    # One process for all of them: the method takes as many tensors as there are specifications.
    names = [f"x{i}" for i in range(len(GOOD_SPECIFICATIONS))]
    source = f"def forward(self, {', '.join(names)}):\n    return [{', '.join(f'torch.relu({name})' for name in names)}]\n"
    module = torch.jit.ScriptModule()
    module.define(source)
    module.save(str(folder / "many.ts"))
    output = succeeds("run", folder / "many.ts", *GOOD_SPECIFICATIONS, "--calls=0").stdout
    seen = re.findall(r"^output\[\d+\]: (.*)$", output, re.MULTILINE)
    assert dict(zip(GOOD_SPECIFICATIONS, seen, strict=True)) == GOOD_SPECIFICATIONS


@pytest.mark.parametrize("text", [
    "", "1,3", "(1,3", "1,3)", "(a)", "(1.5)", "(1,,3)", "(-2)", "(99999999999999999999)",
    "(2)@", "(2)%", "(2)%diagonal", "(2)@f12", "(2)%nchw@f32",
    "[(1);(2)]", "[(1);(2);(3)", "[(1);(2);(3);(4)]", "[(1);(2,3);(3)]", "[(3);(2);(1)]", "[(-1);(2);(3)]", "[]",
])
def test_bad_specifications(folder, text):
    process = torchtrtc(folder / "relu.ts", folder / "never.ts", text)
    assert process.returncode == 2
    assert re.search(r"\[C00[23]\] .+\n  \S", process.stderr), process.stderr
    assert not (folder / "never.ts").exists()


def test_range_of_shapes(folder):
    succeeds(folder / "lenet.ts", folder / "range.ts", "[(1,1,32,32);(2,1,32,32);(4,1,32,32)]@f32%contiguous",
             "--require-full-compilation")
    module, lenet = torch.jit.load(str(folder / "range.ts")), models.build("lenet")
    for batch in (1, 2, 3, 4):
        x = models.sample("lenet", batch, seed=batch)
        assert (module(x) - lenet(x)).abs().max() <= 1e-4 * lenet(x).abs().max()
    with pytest.raises(torchtrt.runtime.EngineError, match="E005"), torchtrt.runtime.translated_errors():
        module(models.sample("lenet", 5))


def test_half_precision(folder):
    succeeds(folder / "lenet.ts", folder / "half.ts", LENET_INPUT + "@half", "-p", "half")
    x = models.sample("lenet").half()
    expected = models.build("lenet").half()(x)
    actual = torch.jit.load(str(folder / "half.ts"))(x)
    assert actual.dtype == torch.half
    assert (actual - expected).abs().max() <= 2e-2 * expected.abs().max()


def test_cast_to_a_precision(folder):
    torch.jit.save(torch.jit.script(nn.Linear(8, 4).eval()), folder / "linear.ts")
    succeeds(folder / "linear.ts", folder / "linear_bf16.ts", "(2,8)@bf16", "--op-precision", "bf16")
    compiled = torch.jit.load(folder / "linear_bf16.ts")
    assert compiled(torch.ones(2, 8, dtype=torch.bfloat16)).dtype == torch.bfloat16
    process = torchtrtc(folder / "linear.ts", folder / "linear_i8.ts", "(2,8)", "--op-precision", "i8")
    assert process.returncode == 2 and "use float, half, bfloat16 or double" in process.stderr


def test_the_file_is_written_where_nobody_reads_the_report(folder):
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run([BUILD / "bin" / "torchtrtc", folder / "lenet.ts", folder / "unread.ts", LENET_INPUT], stderr=writer, check=False)
    os.close(writer)
    assert process.returncode == 0 and torchtrt.runtime.engines(torch.jit.load(folder / "unread.ts"))


def test_pinned_precision(folder):
    """LeNet runs in bfloat16 except for its last layer, so its results are float32's products of rounded features."""
    done = succeeds(folder / "lenet.ts", folder / "pinned.ts", LENET_INPUT, "--precision", "*=bf16", "--precision", "*.fc3=fp32", "--explain")
    assert "precision *.fc3 = float32: 1 node" in done.stderr
    shown = succeeds("inspect", folder / "pinned.ts").stdout
    assert "precision *.fc3 = float32: 1 node" in shown and "bfloat16" in shown
    x = models.sample("lenet")
    expected, actual = models.build("lenet")(x), torch.jit.load(str(folder / "pinned.ts"))(x)
    assert 0 < (actual - expected).abs().max() <= 2e-2 * expected.abs().max()


@pytest.mark.parametrize("pin, says", [("fc9=fp32", "near it are 'classifer.fc1'"), ("fc1", "MODULES=DTYPE"), ("fc1=i64", "float, half or bfloat16")])
def test_what_is_no_pin(folder, pin, says):
    process = torchtrtc(folder / "lenet.ts", folder / "none.ts", LENET_INPUT, "--precision", pin)
    assert process.returncode == 2 and says in process.stderr


def test_nothing_given_shows_the_help():
    process = torchtrtc()
    assert process.returncode == 0 and "torchtrtc model.ts compiled.ts" in process.stdout


def test_supported_method(folder):
    process = succeeds(folder / "lenet.ts", "--check-method-support=forward")
    assert "forward is supported" in process.stderr


def test_unsupported_method_names_the_operator(folder):
    process = torchtrtc(folder / "inverse.ts", "--check-method-support=forward")
    assert process.returncode == 1
    assert "aten::linalg_inv" in process.stderr and "forward is not supported" in process.stderr


def test_saved_engine_is_embedded_again(folder):
    succeeds(folder / "lenet.ts", folder / "lenet.plan", LENET_INPUT, "--save-engine")
    succeeds(folder / "lenet.plan", folder / "embedded.ts", "--embed-engine")
    assert_is_lenet(folder / "embedded.ts")
    assert "convolution" in succeeds("inspect", folder / "lenet.plan").stdout


def test_inspect_shows_report_graph_and_plan(compiled):
    report, graph, plan = succeeds("inspect", compiled[0]).stdout.split("\n\n", 2)
    assert "1 engine, 0 segments in PyTorch" in report and "\n  node     aten::conv2d " in report
    assert "tensorrt::execute_engine" in graph and "LeNet_trt_engine" in graph
    assert "convolution" in plan and "float32" in plan


def test_inspect_of_a_module_without_engines_says_so(folder):
    shown = succeeds("inspect", folder / "relu.ts").stdout
    assert shown.startswith(f"{folder / 'relu.ts'}: a TorchScript module without engines; torchtrtc INPUT OUTPUT SPECS... compiles it\n\ngraph(")


def test_run_says_what_comes_out_and_how_long_it_took(compiled):
    output = succeeds("run", compiled[0], LENET_INPUT, "--calls", "3").stdout
    assert "output: Float[1, 10]" in output
    assert re.search(r"3 calls, \d+ threads: median \S+ ms, fastest \S+ ms, slowest \S+ ms", output)


def test_run_with_a_wrong_shape_tells_the_engine_error_alone(folder):
    succeeds(folder / "lenet.ts", folder / "full.ts", LENET_INPUT, "--require-full-compilation")
    process = torchtrtc("run", folder / "full.ts", "(1,1,28,28)")
    assert process.returncode == 1
    assert re.match(r"torchtrtc: \[E005\] .*\n  .*\n$", process.stderr), process.stderr


def test_run_with_a_call_that_pytorch_refuses_tells_its_reason(compiled):
    """PyTorch runs what the engine was not made for inside of an interpreter's call, whose own message says nothing."""
    process = torchtrtc("run", compiled[0], "(1,3,32,32)")
    assert process.returncode == 1
    assert "expected input[1, 3, 32, 32] to have 1 channels" in process.stderr
    assert "interpreter" not in process.stderr


def test_check_counts_engines(folder, compiled):
    assert succeeds("check", compiled[0]).stdout.endswith("loads, 1 engine\n")
    assert succeeds("check", folder / "lenet.ts").stdout.endswith("loads, 0 engines\n")


def test_check_names_the_library_of_a_missing_class(folder, compiled):
    """A module whose engine class has another name stands for one that a library not loaded here would register."""
    path = folder / "foreign.ts"
    with zipfile.ZipFile(compiled[0]) as source, zipfile.ZipFile(path, "w") as target:
        for item in source.infolist():
            target.writestr(item, source.read(item).replace(b"torch.classes.tensorrt.", b"torch.classes.elsewhr1."))
    process = torchtrtc("check", path)
    assert process.returncode == 1
    assert "needs the library that registers torch.classes.elsewhr1" in process.stderr


def test_networks_are_dumped_and_passes_switched_off(folder, tmp_path):
    dump = tmp_path / "dump"
    succeeds(folder / "lenet.ts", tmp_path / "a.ts", LENET_INPUT, f"--dump={dump}:^fuse_activation$|torchscript.freeze")
    names = sorted(path.name for path in dump.iterdir())
    assert [(name.split(".")[1], name.split(".")[-2]) for name in names] == [
        ("torchscript", "freeze_attributes"), ("torchscript", "lowered"), ("torchscript", "partitioned"), ("network", "converted"),
        ("network", "fuse_activation"), ("network", "optimized"), ("plan", "built"), ("schedule", "optimum")]
    assert [name.split(".")[0] for name in names] == [f"{number:03}" for number in range(len(names))]
    texts = [(dump / name).read_text() for name in names if ".network." in name]
    assert "= activation(" in texts[0] and 'activation="relu"' not in texts[0] and 'activation="relu"' in texts[2]
    off = tmp_path / "off"
    succeeds(folder / "lenet.ts", tmp_path / "b.ts", LENET_INPUT, f"--dump={off}", "--disable-pass=fuse_activation")
    assert 'activation="relu"' not in next(off.glob("*.optimized.txt")).read_text()
    assert_is_lenet(tmp_path / "b.ts")
    wrong = torchtrtc(folder / "lenet.ts", tmp_path / "c.ts", LENET_INPUT, "--disable-pass=no_such_pass")
    assert wrong.returncode != 0 and "there is no pass named 'no_such_pass'" in wrong.stderr
    unwritable = torchtrtc(folder / "lenet.ts", tmp_path / "c.ts", LENET_INPUT, "--dump=/proc/none")
    assert unwritable.returncode != 0 and "[C007]" in unwritable.stderr


@pytest.mark.parametrize(
    ("phase", "levels"),
    [
        ("checking", []),
        ("lowering", ["lowered"]),
        ("partitioning", ["lowered", "partitioned"]),
        ("conversion", ["lowered", "partitioned"]),
        ("optimization", ["lowered", "partitioned", "converted", "optimized"]),
        ("building", ["lowered", "partitioned", "converted", "optimized", "built"]),
        ("loading", ["lowered", "partitioned", "converted", "optimized", "built", "optimum"]),
    ],
)
def test_a_compile_stops_after_a_phase(folder, tmp_path, phase, levels):
    dump = tmp_path / "dump"
    process = torchtrtc(folder / "lenet.ts", tmp_path / "a.ts", LENET_INPUT, f"--dump={dump}", f"--stop-after={phase}")
    assert process.returncode == 0, process.stderr
    assert f"stopped after {phase}; the texts are in {dump}" in process.stderr
    assert [path.name.split(".")[-2] for path in sorted(dump.glob("*"))] == levels
    assert not (tmp_path / "a.ts").exists()


def test_phases_to_stop_after_are_checked(folder, tmp_path):
    wrong = torchtrtc(folder / "lenet.ts", LENET_INPUT, f"--dump={tmp_path}", "--stop-after=packing")
    assert wrong.returncode != 0
    assert "there is no phase named 'packing'" in wrong.stderr and "phases: checking, lowering" in wrong.stderr
    silent = torchtrtc(folder / "lenet.ts", tmp_path / "a.ts", LENET_INPUT, "--stop-after=lowering")
    assert silent.returncode != 0 and "--stop-after without --dump would write nothing" in silent.stderr


def test_a_dumped_schedule_is_that_of_inspect(folder, tmp_path):
    dump = tmp_path / "dump"
    succeeds(folder / "lenet.ts", tmp_path / "a.ts", LENET_INPUT, f"--dump={dump}")
    text = next(dump.glob("*.schedule.*")).read_text()
    assert text.startswith("schedule ") and "convolution" in text
    assert text.split("\n", 1)[1].strip() in succeeds("inspect", tmp_path / "a.ts", "--shape", LENET_INPUT).stdout


def test_rewrites_are_traced(folder, tmp_path):
    process = succeeds(folder / "lenet.ts", tmp_path / "a.ts", LENET_INPUT, env={**os.environ, "TORCHTRT_REWRITE": "trace"})
    assert re.search(r"^rewrite: 'fuse_activation' on '.*' of '.*' # .*:\d+", process.stderr, re.MULTILINE)
