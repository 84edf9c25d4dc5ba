import enum
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, Literal, TypeAlias

import torch
import torch.export

from torchtrt import logging as logging
from torchtrt import functional as functional
from torchtrt import graph_rewriting as graph_rewriting
from torchtrt import network as network
from torchtrt import ptq as ptq
from torchtrt import runtime as runtime
from torchtrt import ts as ts

__version__: str

class Error(RuntimeError):
    code: str
    def __init__(self, text: str) -> None: ...

class CompileError(Error): ...
class EngineError(Error): ...
class InternalError(Error): ...

def translated_errors() -> AbstractContextManager[None]: ...

class dtype(enum.IntEnum):
    int64 = 0
    float64 = 1
    float32 = 2
    float16 = 3
    int8 = 4
    int32 = 5
    bool = 6
    unknown = 7
    bfloat16 = 8
    uint8 = 9
    int16 = 10
    long = 0
    double = 1
    float = 2
    half = 3
    i64 = 0
    f64 = 1
    f32 = 2
    f16 = 3
    i8 = 4
    i32 = 5
    b = 6
    bf16 = 8
    u8 = 9
    @classmethod
    def of(cls, value: dtype | torch.dtype | None) -> dtype: ...
    def to_torch(self) -> torch.dtype: ...

class TensorFormat(enum.IntEnum):
    contiguous = 0
    channels_last = 1
    linear = 0
    @classmethod
    def of(cls, value: TensorFormat | torch.memory_format) -> TensorFormat: ...

memory_format = TensorFormat

class EngineCapability(enum.IntEnum):
    STANDARD = 0
    SAFETY = 1
    DLA_STANDALONE = 2
    default = 0
    safe_gpu = 1
    safe_dla = 2

class DeviceType(str, enum.Enum):
    GPU = "gpu"
    DLA = "dla"
    CPU = "cpu"
    UNKNOWN = "auto"

class Device:
    device_type: DeviceType
    gpu_id: int
    dla_core: int
    allow_gpu_fallback: bool
    def __init__(
        self,
        spec: str | torch.device | None = None,
        *,
        gpu_id: int = -1,
        dla_core: int = -1,
        allow_gpu_fallback: bool = False,
        device_type: DeviceType | str | None = None,
    ) -> None: ...
    @classmethod
    def of(cls, value: Device | str | torch.device | Mapping[str, Any] | None) -> Device: ...
    @classmethod
    def _current_device(cls) -> Device: ...

_Shape = Sequence[int]
_InputLike: TypeAlias = "Input | torch.Tensor | _Shape | Mapping[str, _Shape]"
_Source = torch.nn.Module | torch.export.ExportedProgram | torch.jit.ScriptModule | torch.jit.ScriptFunction | torch._C.Graph | str

_Dtype: TypeAlias = dtype

class Input:
    class _ShapeMode(enum.Enum):
        STATIC = 0
        DYNAMIC = 1
    shape: list[int] | dict[str, list[int]]
    shape_mode: _ShapeMode
    is_shape_tensor: bool
    min_shape: list[int] | None
    opt_shape: list[int] | None
    max_shape: list[int] | None
    dtype: _Dtype
    format: TensorFormat
    tensor_domain: tuple[float, float]
    tensor: torch.Tensor | None
    name: str
    shared_dims: dict[int, str]
    @property
    def torch_tensor(self) -> torch.Tensor: ...
    def is_trt_dtype(self) -> bool: ...
    def __init__(
        self,
        shape: _Shape | Mapping[str, _Shape] | torch.Tensor | None = None,
        *,
        min_shape: _Shape | None = None,
        opt_shape: _Shape | None = None,
        max_shape: _Shape | None = None,
        dtype: _Dtype | torch.dtype | None = None,
        format: TensorFormat | torch.memory_format | None = None,
        tensor_domain: tuple[float, float] | None = ...,
        torch_tensor: torch.Tensor | None = None,
        name: str = "",
        shared_dims: Mapping[int, str] | None = None,
        profiles: Sequence[Mapping[str, _Shape]] | None = None,
        is_shape_tensor: bool = False,
    ) -> None: ...
    @classmethod
    def of(cls, value: _InputLike) -> Input: ...
    @classmethod
    def from_tensor(cls, tensor: torch.Tensor) -> Input: ...
    @classmethod
    def from_tensors(cls, tensors: Iterable[torch.Tensor]) -> list[Input]: ...
    def example_tensor(self, optimization_profile_field: str | None = None) -> torch.Tensor: ...

class Report:
    """What a compile did: `torchtrt.report` returns it. It prints as text. Times are 0 in the report of a module from a file."""

    class Phase:
        """A phase of the compile and its time."""

        name: str
        milliseconds: float

    class Pin:
        """The effect of one pattern of the option `precision`: the number of nodes for which it holds."""

        pattern: str
        dtype: str
        nodes: int

    class GuessedSize:
        """A size of several inputs that is taken to be one, though the Inputs do not say so."""

        places: list[str]
        reason: str

    class Step:
        name: str
        family: str
        location: str

    class Timing:
        """A step whose implementation was chosen by timing, and the one that the rules would have chosen."""

        step: str
        family: str
        implementation: str
        by_rule: str
        microseconds: float
        by_rule_microseconds: float
        is_cached: bool

    class Layer:
        """A layer that int8 was asked for. `reason` says why it stays in float, `error` what it alone costs, or None."""

        name: str
        kind: str
        location: str
        is_quantized: bool
        reason: str
        error: float | None

    class Calibration:
        """The quantization of an engine. Errors are relative: abs(quantized - float) / abs(float) in 2-norms."""

        precision: str
        calls: int
        is_cached: bool
        reason: str
        error: float | None
        layers: list[Report.Layer]
        quantized_layers: int

    class Segment:
        """A part of the module that runs in one engine or in PyTorch. `index` is "2.0.1" for number 1 of block 0 of the branch or loop 2."""

        index: str
        name: str
        target: str
        nodes: list[str]
        reasons: list[str]
        inputs: list[str]
        outputs: list[str]
        milliseconds: float
        memory_bytes: int
        steps: list[Report.Step]
        timings: list[Report.Timing]
        invariant: list[Report.Timing]
        calibration: Report.Calibration | None

    class Node:
        """A node of the graph, where it runs ("engine" or "torch"), and the code and reason if it is not in an engine."""

        node: str
        target: str
        code: str
        reason: str
    module: str
    precision: list[Report.Pin]
    guessed_sizes: list[Report.GuessedSize]
    shared_dims: str
    phases: list[Report.Phase]
    segments: list[Report.Segment]
    nodes: list[Report.Node]
    source_lines: dict[str, str]
    milliseconds: float
    engine_segments: int
    torch_segments: int
    share_in_engines: float
    share_of_time: float | None
    def summary(self) -> str: ...
    def to_json(self) -> str: ...
    def to_html(self, path: str | os.PathLike[str], profile: Profile | None = None, verification: Verification | None = None) -> None: ...

class Profile:
    """Where a module spends its time: `torchtrt.profile` returns it. It prints as text."""

    class Step:
        name: str
        family: str
        implementation: str
        location: str
        microseconds: float
        flops: float
        bytes: float
        factors: str

    class Engine:
        name: str
        calls: int
        milliseconds: float
        steps: list[Profile.Step]
        note: str

    class Operator:
        name: str
        calls: int
        milliseconds: float
    threads: int
    forwards: int
    milliseconds: float
    flops_per_second: float
    tensor_flops_per_second: float
    bytes_per_second: float
    engines: list[Profile.Engine]
    operators: list[Profile.Operator]
    def peak_of(self, step: Profile.Step) -> float: ...
    def share_of_peak(self, step: Profile.Step) -> float: ...
    def share_of_bandwidth(self, step: Profile.Step) -> float: ...
    def to_text(self, most: int = 20) -> str: ...
    def to_json(self) -> str: ...
    def to_trace(self) -> str: ...

class Verification:
    """A compiled module against its source: `torchtrt.verify` returns it. It prints as text."""

    class Deviation:
        """How far results are from PyTorch's: relative to the largest value of the tensor, in units in the last place, and what is allowed."""

        relative: float
        ulps: float
        allowed: float
        difference: str

    class Segment:
        """An engine against the same operators in PyTorch. `culprit` is the first operator from which on they differ."""

        name: str
        location: str
        nodes: list[str]
        calls: int
        was_compared: bool
        deviation: Verification.Deviation
        engine_milliseconds: float
        torch_milliseconds: float
        culprit: str
        note: str
    threads: int
    calls: int
    torch_milliseconds: float
    engine_milliseconds: float
    outputs: Verification.Deviation
    segments: list[Verification.Segment]
    agrees: bool
    first: Verification.Segment | None
    worst: Verification.Segment | None
    verdict: str
    def to_json(self) -> str: ...

class CompileProgress:
    """Where a compile is: what the function that is given as `progress` gets."""

    phase: str
    engine: int
    engines: int
    seconds: float
    is_done: bool

def compile(
    module: _Source,
    ir: str = "default",
    inputs: Sequence[_InputLike] | Input | torch.Tensor | None = None,
    input_signature: Any = None,
    *,
    device: Device | str | torch.device | Mapping[str, Any] | None = None,
    arg_inputs: Sequence[_InputLike] | None = None,
    kwarg_inputs: Mapping[str, Any] | None = None,
    torch_fallback: Mapping[str, Any] | None = None,
    enabled_precisions: Iterable[dtype | torch.dtype] | dtype | torch.dtype | None = None,
    op_precision: dtype | torch.dtype | None = None,
    precision: Mapping[str, dtype | torch.dtype] | None = None,
    capability: EngineCapability = ...,
    sample_inputs: Sequence[Any] | None = None,
    tune: bool = False,
    timing_cache: str = "",
    target: str = "",
    tuning_seconds: float = 10.0,
    keep_methods: bool = True,
    batch_invariant: bool = False,
    check_results: bool = True,
    rewriters: Sequence[Any] | None = None,
    calibrator: ptq.DataLoaderCalibrator | ptq.CacheCalibrator | None = None,
    accuracy_target: float | None = None,
    weight_precision: Literal["", "int8", "int4"] = "",
    group_size: int = 64,
    weight_zero_points: bool = False,
    progress: bool | Callable[[CompileProgress], None] | None = None,
    disable_tf32: bool = False,
    sparse_weights: bool = False,
    refit: bool = False,
    debug: bool = False,
    truncate_long_and_double: bool = False,
    allow_shape_tensors: bool = False,
    num_avg_timing_iters: int = 1,
    workspace_size: int = 0,
    dla_sram_size: int = 1048576,
    dla_local_dram_size: int = 1073741824,
    dla_global_dram_size: int = 536870912,
    require_full_compilation: bool = False,
    min_block_size: int = 3,
    torch_executed_ops: Sequence[str] | None = None,
    torch_executed_modules: Sequence[str] | None = None,
) -> torch.jit.ScriptModule: ...
def profile(module: torch.jit.ScriptModule, inputs: Sequence[Any], calls: int = 20) -> Profile: ...
def verify(
    module: torch.nn.Module | torch.jit.ScriptModule, compiled: torch.jit.ScriptModule, inputs: Sequence[Any], calls: int = 20
) -> Verification: ...
def update_weights(
    compiled: torch.jit.ScriptModule, weights: Mapping[str, torch.Tensor] | torch.nn.Module, strict: bool = True
) -> list[str]: ...
def report(compiled: torch.jit.ScriptModule) -> Report: ...
def convert_method_to_trt_engine(
    module: torch.nn.Module | torch.jit.ScriptModule,
    method_name: str = "forward",
    inputs: Sequence[_InputLike] | Input | torch.Tensor | None = None,
    ir: str = "default",
    input_signature: Any = None,
    **options: Any,
) -> bytes: ...
def save(module: torch.jit.ScriptModule, file_path: str | os.PathLike[str] = "", *, output_format: str = "torchscript", **_: Any) -> None: ...
def load(
    file_path: str | os.PathLike[str] | BinaryIO = "",
    extra_files: dict[str, Any] | None = None,
    map_location: str | torch.device | None = None,
    _extra_files: dict[str, Any] | None = None,
    **_: Any,
) -> torch.jit.ScriptModule: ...
def get_build_info() -> str: ...
def dump_build_info() -> None: ...
def set_device(gpu_id: int) -> None: ...
