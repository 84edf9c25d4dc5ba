from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from torchtrt import Device, EngineCapability, _InputLike, _Source, dtype
from torchtrt import logging as logging
from torchtrt import ptq as ptq

_DeviceLike = Device | str | torch.device | Mapping[str, Any] | None
_Precisions = Iterable[dtype | torch.dtype] | dtype | torch.dtype | None

def compile(
    module: _Source,
    inputs: Sequence[_InputLike] | None = None,
    input_signature: Any = None,
    device: _DeviceLike = None,
    disable_tf32: bool = False,
    sparse_weights: bool = False,
    enabled_precisions: _Precisions = None,
    refit: bool = False,
    debug: bool = False,
    capability: EngineCapability = ...,
    num_avg_timing_iters: int = 1,
    workspace_size: int = 0,
    dla_sram_size: int = 1048576,
    dla_local_dram_size: int = 1073741824,
    dla_global_dram_size: int = 536870912,
    truncate_long_and_double: bool = False,
    require_full_compilation: bool = False,
    min_block_size: int | None = None,
    torch_executed_ops: Sequence[str] | None = None,
    torch_executed_modules: Sequence[str] | None = None,
    allow_shape_tensors: bool = False,
    **options: Any,
) -> torch.jit.ScriptModule: ...
def convert_method_to_trt_engine(
    module: torch.nn.Module | torch.jit.ScriptModule,
    method_name: str = "forward",
    inputs: Sequence[_InputLike] | None = None,
    device: _DeviceLike = None,
    disable_tf32: bool = False,
    sparse_weights: bool = False,
    enabled_precisions: _Precisions = None,
    refit: bool = False,
    debug: bool = False,
    capability: EngineCapability = ...,
    num_avg_timing_iters: int = 1,
    workspace_size: int = 0,
    dla_sram_size: int = 1048576,
    dla_local_dram_size: int = 1073741824,
    dla_global_dram_size: int = 536870912,
    truncate_long_and_double: bool = False,
    allow_shape_tensors: bool = False,
    input_signature: Any = None,
    **options: Any,
) -> bytes: ...
def TensorRTCompileSpec(
    inputs: Sequence[_InputLike] | None = None,
    input_signature: None = None,
    device: _DeviceLike = None,
    disable_tf32: bool = False,
    sparse_weights: bool = False,
    enabled_precisions: _Precisions = None,
    refit: bool = False,
    debug: bool = False,
    capability: EngineCapability = ...,
    num_avg_timing_iters: int = 1,
    workspace_size: int = 0,
    dla_sram_size: int = 1048576,
    dla_local_dram_size: int = 1073741824,
    dla_global_dram_size: int = 536870912,
    truncate_long_and_double: bool = False,
    allow_shape_tensors: bool = False,
    **options: Any,
) -> torch.ScriptObject: ...
def embed_engine_in_new_module(
    serialized_engine: bytes,
    input_binding_names: Sequence[str] | None = None,
    output_binding_names: Sequence[str] | None = None,
    device: _DeviceLike = None,
) -> torch.jit.ScriptModule: ...
def check_method_op_support(module: torch.nn.Module | torch.jit.ScriptModule, method_name: str = "forward") -> bool: ...
