"""The spelling before torch_tensorrt and torchtrt: compile() with a dictionary of settings."""

import sys

import torchtrt
from torchtrt import Device, DeviceType, EngineCapability, Input, dtype, get_build_info, logging, ptq  # noqa: F401 - passed on
from torchtrt._compile import check_method_op_support, dump_build_info, embed_engine_in_new_module, set_device  # noqa: F401

sys.modules[__name__ + ".logging"] = logging
sys.modules[__name__ + ".ptq"] = ptq

# Settings under names that compile() has another for.
_RENAMED = {"input_shapes": "inputs"}
# Settings of engines that batch implicitly or choose by timing, with the reason why they change nothing here.
_WITHOUT_EFFECT = {
    "strict_types": "every layer computes in the dtype that it is given",
    "max_batch_size": "the shapes of the inputs have the batch",
    "num_min_timing_iters": "with a timing_cache, kernels are timed until noise is out",
    "allow_gpu_fallback": "there is no DLA",
}


def _options(settings: dict) -> dict:
    for name in settings:
        if name in _WITHOUT_EFFECT:
            logging.log(logging.Level.Info, f"option {name} is accepted and has no effect: {_WITHOUT_EFFECT[name]}")
    options = {_RENAMED.get(name, name): value for name, value in settings.items() if name not in _WITHOUT_EFFECT}
    precision = options.get("op_precision")
    if precision is not None and dtype.of(precision) == dtype.float32:
        # The default says nothing about inputs that are not floating.
        del options["op_precision"]
    elif precision is not None and dtype.of(precision) == dtype.int8:
        # int8 is for engines with a calibrator. Inputs and weights are given in float.
        options["enabled_precisions"] = {options.pop("op_precision")}
    return options


def compile(module, compile_spec: dict):  # noqa: A001 - the name users write
    """Compiles a module. Settings: "input_shapes" (lists of sizes, or dictionaries of "min", "opt" and "max"), "op_precision"
    (inputs and weights are cast to it), "torch_fallback" (a dictionary: enabled, min_block_size, forced_fallback_ops,
    forced_fallback_modules) and torchtrt.compile's options."""
    return torchtrt.compile(module, **_options(compile_spec))


def convert_method_to_trt_engine(module, method_name: str, compile_spec: dict) -> bytes:
    """The method as one serialized engine."""
    return torchtrt.convert_method_to_trt_engine(module, method_name, **_options(compile_spec))


def TensorRTCompileSpec(compile_spec: dict):  # noqa: N802 - the name users write
    """Settings for one method of torch._C._jit_to_backend("tensorrt", module, {method: settings})."""
    return torchtrt.ts.TensorRTCompileSpec(**_options(compile_spec))


# The names of the C++ functions, which the first release had in Python too.
CompileGraph = compile
ConvertGraphToTRTEngine = convert_method_to_trt_engine
CheckMethodOperatorSupport = check_method_op_support
