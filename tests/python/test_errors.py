"""Every misuse gets an error with a stable code that names what is wrong and the way out, and changes nothing."""

import io

import pytest
import torch

import nets
import torchtrt
import torchtrt.runtime

SHAPE = [1, 1, 32, 32]


def compile_error(*args, **kwargs) -> torchtrt.CompileError:
    with pytest.raises(torchtrt.CompileError) as caught:
        torchtrt.compile(*args, **kwargs)
    return caught.value


@pytest.fixture(scope="module")
def lenet():
    return torch.jit.script(nets.lenet())


@pytest.fixture(scope="module")
def compiled(lenet):
    return torchtrt.compile(lenet, inputs=[SHAPE])


def says(error, code: str, *parts: str):
    assert error.code == code, str(error)
    for part in parts:
        assert part in str(error)


def test_wrong_number_of_specifications(lenet):
    says(compile_error(lenet, inputs=[SHAPE, SHAPE]), "C002", "forward(x: Tensor)", "got 2 inputs")
    says(compile_error(lenet, inputs=[]), "C002", "got 0 inputs")
    says(compile_error(lenet), "C002", "inputs=[torchtrt.Input(shape), ...]")


def test_a_specification_that_contradicts_itself():
    for arguments in ({}, {"shape": [1], "min_shape": [1]}, {"min_shape": [1], "opt_shape": [1]}):
        with pytest.raises(torchtrt.CompileError, match=r"\[C002\] an Input needs one of"):
            torchtrt.Input(**arguments)
    with pytest.raises(torchtrt.CompileError, match=r'\[C002\].*"min", "opt" and "max"'):
        torchtrt.Input({"min": [1], "max": [2]})
    with pytest.raises(torchtrt.CompileError, match=r"\[C002\] a shape is a list of sizes"):
        torchtrt.Input(["a"])
    with pytest.raises(torchtrt.CompileError, match=r"\[C002\] no engine computes with dtype torch.complex64"):
        torchtrt.Input([1], dtype=torch.complex64)


def test_a_range_that_is_none(lenet):
    backwards = torchtrt.Input(min_shape=[4, 1, 32, 32], opt_shape=[2, 1, 32, 32], max_shape=[8, 1, 32, 32])
    says(compile_error(lenet, inputs=[backwards]), "C002", "dimension 0", "4, 2, 8")
    ranks = torchtrt.Input(min_shape=[1, 32, 32], opt_shape=SHAPE, max_shape=SHAPE)
    says(compile_error(lenet, inputs=[ranks]), "C002", "differ in rank")
    says(compile_error(lenet, inputs=[[-2, 1, 32, 32]]), "C002", "-1 for any size")


def test_a_rank_or_shape_that_the_module_does_not_take(lenet):
    for shape in ([1, 32], [1, 3, 32, 32], [1, 1, 20, 20]):
        error = compile_error(lenet, inputs=[shape])
        assert error.code in ("C005", "C008") and ("(feat.conv1)" in str(error) or "(classifer.fc1)" in str(error)), str(error)


def test_an_option_that_is_not_there(lenet):
    says(compile_error(lenet, inputs=[SHAPE], enabled_precision={torch.half}), "C003", 'did you mean "enabled_precisions"?')
    says(compile_error(lenet, inputs=[SHAPE], ir="dynamo"), "C003", 'there is no front end "dynamo"')
    says(compile_error(lenet, inputs=[SHAPE], min_block_size="three"), "C003", "min_block_size")
    says(compile_error(lenet, inputs=[SHAPE], enabled_precisions={torch.bool}), "C003", "enabled_precisions")


def test_options_that_contradict_each_other(lenet):
    error = compile_error(lenet, inputs=[SHAPE], require_full_compilation=True, torch_executed_ops=["aten::relu"])
    says(error, "C003", "require_full_compilation")


@pytest.mark.parametrize("device", ["gpu:0", "cuda", "dla:0", torch.device("cuda", 0), {"device_type": "gpu", "gpu_id": 0}])
def test_a_device_that_is_not_here(lenet, device):
    says(compile_error(lenet, inputs=[SHAPE], device=device), "C003", "engines run on the cpu")


def test_a_device_that_does_not_exist():
    with pytest.raises(torchtrt.CompileError, match=r'\[C003\] there is no device "tpu"'):
        torchtrt.Device("tpu")


def test_a_module_in_training_mode():
    says(compile_error(nets.LeNet(), inputs=[SHAPE]), "C004", "eval()")
    says(compile_error(torch.jit.script(nets.LeNet()), inputs=[SHAPE]), "C004", "eval()")


def test_a_module_without_the_method(lenet):
    with pytest.raises(torchtrt.CompileError, match=r"\[C004\].*backward_pass"):
        torchtrt.convert_method_to_trt_engine(lenet, "backward_pass", inputs=[SHAPE])


def test_an_empty_graph():
    says(compile_error("graph(%x : Tensor):\n  return (%x)", inputs=[SHAPE]), "C004", "nothing to compile")


def test_what_is_no_module():
    says(compile_error(42, inputs=[SHAPE]), "C004", "cannot compile a int")


def test_an_operator_without_converter():
    error = compile_error(torch.jit.script(nets.Unsupported().eval()), inputs=[[2, 3]])
    says(error, "C001", "2 nodes", "aten::special_bessel_j0", "aten::special_bessel_j1", "nets.py", "schema:")


@pytest.mark.parametrize("wrong, code, parts", [
    (lambda x: x.double(), "E004", ["float32", "float64"]),
    (lambda x: x[0], "E005", ["x"]),
    (lambda x: x[..., :16], "E005", ["16"]),
    (lambda x: x.to_sparse(), "E004", ["dense"]),
], ids=["dtype", "rank", "shape", "layout"])
def test_wrong_tensors_at_run_time(compiled, wrong, code, parts):
    with pytest.raises(torchtrt.EngineError) as caught, torchtrt.translated_errors():
        compiled(wrong(nets.images()))
    says(caught.value, code, *parts)


def test_a_wrong_number_of_tensors_at_run_time(compiled):
    (engine,) = torchtrt.runtime.engines(compiled).values()
    with pytest.raises(torchtrt.EngineError, match=r"\[E003\]"), torchtrt.translated_errors():
        torch.ops.tensorrt.execute_engine([nets.images(), nets.images()], engine)


def test_errors_of_others_pass_through(compiled):
    with pytest.raises(RuntimeError) as caught, torchtrt.translated_errors():
        torch.zeros(2) @ torch.zeros(3)
    assert not isinstance(caught.value, torchtrt.Error)


@pytest.mark.parametrize("strings, code", [
    (["10", "n", "0%0%0%cpu%generic", b"x"], "E002"),
    (["3", "n", "0%8%0%gpu%A100", b"x"], "E006"),
    (["3", "n", "0%0%0%cpu%generic", b"not a plan"], "E001"),
    (["3", "n", "0%0%0%cpu%generic"], "E001"),
    ([], "E002"),
], ids=["abi", "device", "bytes", "count", "none"])
def test_a_state_that_is_no_engine(strings, code):
    with pytest.raises(torchtrt.EngineError, match=rf"\[{code}\]"), torchtrt.translated_errors():
        torch.classes.tensorrt.Engine(strings)


def test_an_engine_of_nvidias_says_so():
    # The first bytes of a plan that NVIDIA's TensorRT serialized.
    with pytest.raises(torchtrt.EngineError, match=r"\[E00[12]\]"):
        torchtrt.ts.embed_engine_in_new_module(b"ftrt\x00\x00\x00\x00" + bytes(64))


def test_binding_names_that_the_engine_does_not_have(lenet):
    engine = torchtrt.convert_method_to_trt_engine(lenet, inputs=[SHAPE])
    with pytest.raises(torchtrt.CompileError, match=r'\[C003\] the engine has no input "y"\n  its bindings are x'):
        torchtrt.ts.embed_engine_in_new_module(engine, input_binding_names=["y"])


def test_a_damaged_file_is_an_error(compiled):
    buffer = io.BytesIO()
    torch.jit.save(compiled, buffer)
    with pytest.raises(RuntimeError):
        torch.jit.load(io.BytesIO(buffer.getvalue()[:-200]))


def test_a_module_compiled_elsewhere_has_no_report(compiled):
    buffer = io.BytesIO()
    torch.jit.save(compiled, buffer)
    buffer.seek(0)
    with pytest.raises(torchtrt.CompileError, match=r"\[C003\] there is no report"):
        torchtrt.report(torch.jit.load(buffer))
