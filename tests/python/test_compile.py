"""torchtrt.compile and its kin against eager PyTorch, on document 002's LeNet and nets that show one thing each."""

import io
import json
import re
import zipfile

import pytest
import torch

import nets
import torchtrt
import trtorch

TOLERANCE = 1e-4  # of the largest reference value, float32
HALF_TOLERANCE = 2e-2


def assert_equal(actual, expected, tolerance=TOLERANCE):
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    assert (actual - expected).abs().max() <= tolerance * expected.abs().max()


def saved_bytes(module) -> bytes:
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    return buffer.getvalue()


def archive(module) -> dict[str, bytes]:
    """The files of a saved module by path inside of the archive, without the archive's own name."""
    with zipfile.ZipFile(io.BytesIO(saved_bytes(module))) as file:
        return {name.partition("/")[2]: file.read(name) for name in file.namelist()}


def script(module):
    return torch.jit.script(module)


def trace(module):
    return torch.jit.trace(module, torch.empty([1, 1, 32, 32]))


@pytest.mark.parametrize("make", [script, trace, lambda module: module], ids=["scripted", "traced", "nn.Module"])
def test_lenet_equals_eager(make):
    module, x = nets.lenet(), nets.images()
    compiled = torchtrt.compile(make(module), inputs=[torchtrt.Input([1, 1, 32, 32])])
    assert isinstance(compiled, torch.jit.ScriptModule)
    assert_equal(compiled(x), module(x).detach())


def test_the_graph_is_document_004s():
    compiled = torchtrt.compile(script(nets.lenet()), inputs=[[1, 1, 32, 32]])
    name = compiled._c.qualified_name
    assert name.endswith("LeNet_trt")
    attribute = name.replace(".", "_") + "_engine"
    assert re.sub(r"%\w+", "%", str(compiled.graph)) == (
        f"graph(% : {name},\n"
        "      % : Tensor):\n"
        f'  % : __torch__.torch.classes.tensorrt.Engine = prim::GetAttr[name="{attribute}"](%)\n'
        "  % : Tensor[] = prim::ListConstruct(%)\n"
        "  % : Tensor[] = tensorrt::execute_engine(%, %)\n"
        "  % : Tensor = prim::ListUnpack(%)\n"
        "  return (%)\n"
    )


def test_the_module_that_is_compiled_stays_as_it_is():
    module = script(nets.lenet())
    before = {name: value.clone() for name, value in module.state_dict().items()}
    graph = str(module.graph)
    torchtrt.compile(module, inputs=[[1, 1, 32, 32]])
    assert str(module.graph) == graph
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())


def test_weights_changed_afterwards_do_not_reach_the_engine():
    module, x = nets.lenet(), nets.images()
    compiled = torchtrt.compile(script(module), inputs=[x])
    expected = module(x).detach()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    assert_equal(compiled(x), expected)
    assert_equal(torch.jit.load(io.BytesIO(saved_bytes(compiled)))(x), expected)


def test_two_compiles_give_identical_bytes():
    module = script(nets.lenet())
    inputs = [torchtrt.Input(min_shape=[1, 1, 32, 32], opt_shape=[2, 1, 32, 32], max_shape=[4, 1, 32, 32])]
    first, second = (torchtrt.compile(module, inputs=inputs) for _ in range(2))
    assert archive(first) == archive(second)
    engines = [torchtrt.convert_method_to_trt_engine(module, "forward", inputs=inputs) for _ in range(2)]
    assert engines[0] == engines[1]


def test_one_plan_serves_a_range_of_batches_and_says_what_is_outside():
    module = nets.lenet()
    compiled = torchtrt.compile(script(module), inputs=[
        torchtrt.Input(min_shape=[1, 1, 32, 32], opt_shape=[2, 1, 32, 32], max_shape=[4, 1, 32, 32])],
        require_full_compilation=True)
    for batch in (1, 2, 3, 4):
        x = nets.images(batch)
        assert_equal(compiled(x), module(x).detach())
    with pytest.raises(RuntimeError, match=r"\[E005\].*"):
        compiled(nets.images(5))


def test_any_of_several_profiles_holds_a_shape():
    profiles = [{"min": [2, 4], "opt": [3, 4], "max": [4, 4]}, {"min": [8, 4], "opt": [8, 4], "max": [8, 4]}]
    given = torchtrt.Input(profiles=profiles)
    assert (given.min_shape, given.opt_shape, given.max_shape) == ([2, 4], [3, 4], [8, 4])
    scripted = script(torch.nn.Linear(4, 3).eval())
    compiled = torchtrt.compile(scripted, inputs=[given], require_full_compilation=True)
    for rows in [2, 4, 8]:
        x = torch.randn(rows, 4)
        assert_equal(compiled(x), scripted(x))
    for mistake in [{"profiles": []}, {"profiles": [profiles[0], {"min": [1], "opt": [1], "max": [1]}]},
                    {"profiles": [{"min": [2], "opt": [1], "max": [4]}]}, {"profiles": profiles, "shape": [4, 4]}]:
        with pytest.raises(torchtrt.CompileError, match="C002"):
            torchtrt.Input(**mistake)


@pytest.mark.parametrize("batch", [0, 1, 7])
def test_an_open_dimension_takes_any_size(batch):
    module = nets.lenet()
    compiled = torchtrt.compile(script(module), inputs=[torchtrt.Input([-1, 1, 32, 32])])
    x = nets.images(batch)
    actual, expected = compiled(x), module(x).detach()
    assert actual.shape == expected.shape
    if batch:
        assert_equal(actual, expected)


def test_dimensions_of_one_name_are_one_size():
    def add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(a + b)

    spec = {"min_shape": [1, 3], "opt_shape": [2, 3], "max_shape": [8, 3], "shared_dims": {0: "batch"}}
    compiled = torchtrt.compile(torch.jit.script(add), inputs=[torchtrt.Input(**spec), torchtrt.Input(**spec)],
                                require_full_compilation=True)
    a, b = torch.randn(5, 3), torch.randn(5, 3)
    assert torch.equal(compiled(a, b), add(a, b))
    with pytest.raises(RuntimeError, match=r"\[E005\]"):
        compiled(torch.randn(5, 3), torch.randn(4, 3))


def test_strided_and_channels_last_inputs_are_read_as_they_lie():
    module = nets.lenet()
    compiled = torchtrt.compile(script(module), inputs=[torchtrt.Input([2, 1, 32, 32], format=torch.channels_last)])
    x = torch.randn(2, 1, 32, 64)[..., ::2]
    assert_equal(compiled(x), module(x).detach())
    x = nets.images(2).contiguous(memory_format=torch.channels_last)
    assert_equal(compiled(x), module(x).detach())


class Mixed(torch.nn.Module):
    """Few outputs, a pooling, a mean and what needs row-major, all of the argument."""

    def __init__(self):
        super().__init__()
        self.few = torch.nn.Conv2d(6, 2, 1)

    def forward(self, x):
        return self.few(x), torch.nn.functional.max_pool2d(x, 2), x.mean((2, 3)), torch.softmax(x, 3)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("size", [(2, 6, 20, 33), (1, 6, 2, 2), (3, 6, 7, 2)])
def test_the_format_of_an_input_is_no_promise(dynamic, size):
    module = Mixed().eval()
    last = {"min_shape": [1, 6, 2, 2], "opt_shape": size, "max_shape": [4, 6, 40, 40]} if dynamic else {"shape": size}
    compiled = torchtrt.compile(script(module), inputs=[torchtrt.Input(**last, format=torch.channels_last)], require_full_compilation=True)
    x = torch.randn(size)
    for given in (x, x.contiguous(memory_format=torch.channels_last), torch.randn(size[0], size[1], size[3], size[2]).transpose(2, 3)):
        for result, expected in zip(compiled(given), module(given)):
            assert_equal(result, expected.detach())
            assert result.is_contiguous()


def test_a_channels_last_sample_says_how_the_input_comes():
    module = Mixed().eval()
    x = torch.randn(2, 6, 20, 33).contiguous(memory_format=torch.channels_last)
    compiled = torchtrt.compile(script(module), inputs=[x])
    for result, expected in zip(compiled(x), module(x)):
        assert_equal(result, expected.detach())

    def plan(given):
        (engine,) = torchtrt.runtime.engines(torchtrt.compile(script(module), inputs=[given])).values()
        return engine.inspect()

    assert plan(x) == plan(torchtrt.Input(list(x.shape), format=torch.channels_last))
    assert plan(x) != plan(x.contiguous())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_a_module_of_another_dtype_keeps_it(dtype):
    module = nets.lenet().to(dtype)
    x = nets.images().to(dtype)
    compiled = torchtrt.compile(script(module), inputs=[torchtrt.Input([1, 1, 32, 32])])
    tolerance = {torch.float64: 1e-7, torch.float16: 2e-2, torch.bfloat16: 2e-2}[dtype]
    assert_equal(compiled(x), module(x).detach(), tolerance)


def test_an_index_input_is_inferred_to_be_int64():
    module = torch.nn.Sequential(torch.nn.Embedding(10, 4), torch.nn.Linear(4, 3)).eval()
    compiled = torchtrt.compile(script(module), inputs=[[2, 5]])
    x = torch.randint(0, 10, (2, 5))
    assert_equal(compiled(x), module(x).detach())


def test_tuples_lists_and_defaults_come_back_as_they_were():
    module = nets.Pair().eval()
    compiled = torchtrt.compile(script(module), input_signature=((torchtrt.Input([2, 3]), torchtrt.Input([2, 3])),))
    a, b = torch.randn(2, 3), torch.randn(2, 3)
    expected_total, expected_list = module((a, b))
    total, listed = compiled((a, b))
    assert isinstance(listed, list)
    assert torch.equal(total, expected_total)
    assert all(torch.equal(x, y) for x, y in zip(listed, expected_list, strict=True))
    assert str(compiled.forward.schema).endswith(
        "forward(__torch__.nets.Pair_trt self, (Tensor, Tensor) pair, float scale=2.) -> ((Tensor, Tensor[]))")
    assert torch.equal(compiled((a, b), scale=3.0)[0], total)


def test_a_dictionary_comes_back():
    compiled = torchtrt.compile(script(nets.Named().eval()), inputs=[[2, 3]])
    x = torch.randn(2, 3)
    result = compiled(x)
    assert list(result) == ["relu", "twice"]
    assert torch.equal(result["relu"], x.relu()) and torch.equal(result["twice"], x.relu() * 2)


def test_script_functions_graphs_and_ir_text_compile():
    @torch.jit.script
    def function(x: torch.Tensor):
        return torch.relu(x) + 1

    text = """
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::relu(%x)
  %z : Tensor = aten::add(%y, %one, %one)
  return (%z)
"""
    x = torch.randn(2, 3)
    for source in (function, function.graph, text):
        assert torch.equal(torchtrt.compile(source, inputs=[x])(x), x.relu() + 1)


def test_half_casts_weights_inputs_and_results():
    module, x = nets.lenet(), nets.images()
    compiled = trtorch.compile(script(module), {"input_shapes": [[1, 1, 32, 32]], "op_precision": torch.half})
    expected = nets.lenet().half()(x.half()).detach()
    assert_equal(compiled(x.half()), expected, HALF_TOLERANCE)
    named = torchtrt.compile(script(module), inputs=[torchtrt.Input([1, 1, 32, 32], dtype=torch.half)],
                             enabled_precisions={torch.half})
    assert torch.equal(named(x.half()), compiled(x.half()))
    assert module.feat.conv1.weight.dtype == torch.float32


def test_document_002s_settings_compile():
    import torch.nn as nn

    module = nn.Sequential(nn.Conv2d(3, 4, 3, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1)).eval()
    compile_settings = {
        "input_shapes": [
            {
                "min": [1, 3, 224, 224],
                "opt": [1, 3, 512, 512],
                "max": [1, 3, 1024, 1024]
            },  # For static size [1, 3, 224, 224]
        ],
        "op_precision": torch.half  # Run with FP16
    }
    trt_ts_module = trtorch.compile(script(module), compile_settings)
    input_data = torch.randn(1, 3, 256, 300)
    input_data = input_data.half()
    result = trt_ts_module(input_data)
    assert_equal(result, module.half()(input_data).detach(), HALF_TOLERANCE)


@pytest.mark.parametrize("setting, value, reason", [
    ("strict_types", True, "every layer computes in the dtype that it is given"),
    ("max_batch_size", 8, "the shapes of the inputs have the batch"),
    ("num_min_timing_iters", 2, "with a timing_cache, kernels are timed until noise is out"),
    ("allow_gpu_fallback", True, "there is no DLA"),
])
def test_a_setting_of_trtorch_without_effect_is_explained(setting, value, reason, capfd):
    relu = torch.jit.script(torch.nn.ReLU())
    with torchtrt.logging.info():
        compiled = trtorch.compile(relu, {"input_shapes": [[2, 3]], setting: value})
        told = capfd.readouterr().err
        trtorch.compile(relu, {"input_shapes": [[2, 3]]})
    assert f"option {setting} is accepted and has no effect: {reason}" in told
    assert f"option {setting} " not in capfd.readouterr().err
    assert torch.equal(compiled(-torch.ones(2, 3)), torch.zeros(2, 3))


def test_an_engine_serializes_and_embeds():
    module, x = nets.lenet(), nets.images()
    engine = torchtrt.ts.convert_method_to_trt_engine(script(module), "forward", inputs=[[1, 1, 32, 32]])
    assert isinstance(engine, bytes)
    embedded = torchtrt.ts.embed_engine_in_new_module(engine)
    assert_equal(embedded(x), module(x).detach())
    again = torch.jit.load(io.BytesIO(saved_bytes(embedded)))
    assert torch.equal(again(x), embedded(x))
    by_strings = torch.classes.tensorrt.Engine(["3", "lenet", "0%0%0%cpu%generic", engine])
    assert torch.equal(torch.ops.tensorrt.execute_engine([x], by_strings)[0], embedded(x))


def test_method_support_is_told():
    assert torchtrt.ts.check_method_op_support(script(nets.lenet()), "forward")
    assert not torchtrt.ts.check_method_op_support(script(nets.Unsupported().eval()))


def test_the_report_tells_phases_segments_and_nodes():
    compiled = torchtrt.compile(script(nets.Pair().eval()), input_signature=((torchtrt.Input([2, 3]), torchtrt.Input([2, 3])),))
    report = torchtrt.report(compiled)
    assert (report.engine_segments, report.torch_segments) == (1, 0)
    assert [phase.name for phase in report.phases] == [
        "checking", "lowering", "partitioning", "conversion", "optimization", "building", "loading", "stitching", "validation", "tuning",
        "calibration"]
    assert any(node.target == "engine" and node.node.startswith("aten::relu") for node in report.nodes)
    told = json.loads(report.to_json())
    assert [segment["target"] for segment in told["segments"]] == ["engine"]
    assert told["segments"][0]["steps"]
    assert "1 engine, 0 segments in PyTorch, 100%" in str(report)


def test_a_compiled_module_that_is_compiled_again_is_told_of(capfd):
    module, x = torch.nn.Linear(4, 4).eval(), torch.randn(2, 4)
    once = torchtrt.compile(module, inputs=[x])
    assert "holds engines" not in capfd.readouterr().err
    twice = torchtrt.compile(once, inputs=[x])
    assert "holds engines" in capfd.readouterr().err
    assert torch.equal(twice(x), once(x)) and torchtrt.report(once).engine_segments == 1


def test_settings_without_effect_are_accepted_and_explained(capfd):
    with torchtrt.logging.info():
        torchtrt.compile(script(nets.lenet()), inputs=[[1, 1, 32, 32]], truncate_long_and_double=True, workspace_size=1 << 20)
    told = capfd.readouterr().err
    assert "truncate_long_and_double is accepted and has no effect" in told
    assert "workspace_size is accepted and has no effect" in told


@pytest.mark.parametrize("layer, shape", [(torch.nn.Conv2d(64, 32, 1), [1, 64, 8, 8]), (torch.nn.Linear(64, 32), [8, 64])], ids=["1x1", "linear"])
def test_a_large_bias_swallows_no_small_product(layer, shape):
    """Each of the 64 products is half a unit in the last place of the bias: none would show if they were added to it one by one."""
    with torch.no_grad():
        layer.weight.fill_(0.25)
        layer.bias.fill_(2**20)
        x = torch.full(shape, 0.25)
        compiled = torchtrt.compile(torch.jit.trace(layer.eval(), x), inputs=[torchtrt.Input(shape)])
        assert torch.equal(compiled(x), torch.full_like(layer(x), 2**20 + 4))
