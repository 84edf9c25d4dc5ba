"""The TorchScript front end, under the reference system's names and with its order of arguments."""

import sys

from torchtrt import _compile, logging, ptq
from torchtrt._compile import check_method_op_support, embed_engine_in_new_module
from torchtrt._enums import EngineCapability

sys.modules[__name__ + ".logging"] = logging
sys.modules[__name__ + ".ptq"] = ptq

__all__ = ["TensorRTCompileSpec", "check_method_op_support", "compile", "convert_method_to_trt_engine", "embed_engine_in_new_module", "logging",
           "ptq"]


def _given(settings: dict) -> dict:
    """Leaves min_block_size out if it was not given: what an engine saves decides then."""
    return {name: value for name, value in settings.items() if name != "min_block_size" or value is not None}


def compile(module, inputs=None, input_signature=None, device=None, disable_tf32=False, sparse_weights=False,  # noqa: A001 - the name users write
            enabled_precisions=None, refit=False, debug=False, capability=EngineCapability.STANDARD, num_avg_timing_iters=1,
            workspace_size=0, dla_sram_size=1048576, dla_local_dram_size=1073741824, dla_global_dram_size=536870912,
            truncate_long_and_double=False, require_full_compilation=False, min_block_size=None, torch_executed_ops=None,
            torch_executed_modules=None, allow_shape_tensors=False, **options):
    """Does what torchtrt.compile does, without a choice of front end."""
    settings = {name: value for name, value in locals().items() if name not in ("module", "inputs", "input_signature", "options")}
    return _compile.compile(module, ir="ts", inputs=inputs, input_signature=input_signature, **_given(settings), **options)


def convert_method_to_trt_engine(module, method_name="forward", inputs=None, device=None, disable_tf32=False, sparse_weights=False,
                                 enabled_precisions=None, refit=False, debug=False, capability=EngineCapability.STANDARD,
                                 num_avg_timing_iters=1, workspace_size=0, dla_sram_size=1048576, dla_local_dram_size=1073741824,
                                 dla_global_dram_size=536870912, truncate_long_and_double=False, allow_shape_tensors=False,
                                 input_signature=None, **options) -> bytes:
    """The method as one self-contained serialized engine: torchtrt.convert_method_to_trt_engine."""
    settings = {name: value for name, value in locals().items() if name not in ("module", "method_name", "inputs", "input_signature", "options")}
    return _compile.convert_method_to_trt_engine(module, method_name, inputs, "ts", input_signature, **settings, **options)


def TensorRTCompileSpec(inputs=None, input_signature=None, device=None, disable_tf32=False, sparse_weights=False,  # noqa: N802 - the name users write
                        enabled_precisions=None, refit=False, debug=False, capability=EngineCapability.STANDARD, num_avg_timing_iters=1,
                        workspace_size=0, dla_sram_size=1048576, dla_local_dram_size=1073741824, dla_global_dram_size=536870912,
                        truncate_long_and_double=False, allow_shape_tensors=False, **options):
    """Settings for one method of torch._C._jit_to_backend("tensorrt", module, {method: settings})."""
    settings = {name: value for name, value in locals().items() if name not in ("inputs", "input_signature", "options")}
    return _compile.TensorRTCompileSpec(inputs, input_signature, **settings, **options)
