"""The TorchScript front end, under the reference system's names."""

from torchtrt._compile import (
    TensorRTCompileSpec,
    check_method_op_support,
    convert_method_to_trt_engine,
    embed_engine_in_new_module,
)
from torchtrt._compile import compile as _compile

__all__ = ["TensorRTCompileSpec", "check_method_op_support", "compile", "convert_method_to_trt_engine", "embed_engine_in_new_module"]


def compile(module, inputs=None, input_signature=None, **options):  # noqa: A001 - the name users write
    """As torchtrt.compile, without a front end to choose."""
    return _compile(module, ir="ts", inputs=inputs, input_signature=input_signature, **options)
