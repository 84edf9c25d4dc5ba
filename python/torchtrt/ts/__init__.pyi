from collections.abc import Sequence
from typing import Any

import torch

from torchtrt import Device, _InputLike, _Source
from torchtrt import convert_method_to_trt_engine as convert_method_to_trt_engine

def compile(
    module: _Source, inputs: Sequence[_InputLike] | None = None, input_signature: Any = None, **options: Any
) -> torch.jit.ScriptModule: ...
def TensorRTCompileSpec(
    inputs: Sequence[_InputLike] | None = None, input_signature: None = None, **options: Any
) -> torch.ScriptObject: ...
def embed_engine_in_new_module(
    serialized_engine: bytes,
    input_binding_names: Sequence[str] | None = None,
    output_binding_names: Sequence[str] | None = None,
    device: Device | str | None = None,
) -> torch.jit.ScriptModule: ...
def check_method_op_support(module: torch.nn.Module | torch.jit.ScriptModule, method_name: str = "forward") -> bool: ...
