"""Describes what a compiled module takes and gives: names, dtypes, ranges of sizes, and if requests can be batched. Servers ask for this
ahead of the first request. torchtrtc triton gives the same answers in C++ (tools/torchtrtc/triton_model.cpp)."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from torchtrt.integrations._loading import reject

_NO_END = 2**31 - 1
_SCALARS = {str(dtype).removeprefix("torch."): dtype for dtype in (
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool)}


@dataclass(frozen=True)
class Argument:
    name: str
    dtype: torch.dtype
    min: list[int]
    opt: list[int]
    max: list[int]

    @property
    def dims(self) -> list[int]:
        """The sizes, -1 where they vary."""
        return [low if low == high else -1 for low, high in zip(self.min, self.max)]


@dataclass(frozen=True)
class Result:
    name: str
    dtype: torch.dtype
    dims: list[int]  # -1 where they vary or nothing says them


@dataclass(frozen=True)
class Signature:
    inputs: list[Argument]
    outputs: list[Result]
    batch: tuple[int, int] | None  # the optimum and the largest number of requests, dim 0 of every tensor; None: requests run alone
    unbatched: str  # why they do


def _engine_of(module, call):
    """The engine that this node calls; None for other nodes."""
    if call.kind() != "tensorrt::execute_engine":
        return None
    get = list(call.inputs())[1].node()
    return module._c.getattr(get.s("name")) if get.kind() == "prim::GetAttr" else None


def _argument(module, name: str, value) -> Argument:
    """The sizes that all engines take which read this argument as it comes."""
    bindings = [engine.inputs()[use.offset] for use in value.uses() if use.user.kind() == "prim::ListConstruct"
                for call in use.user.output().uses() if (engine := _engine_of(module, call.user)) is not None]
    if not bindings:
        reject(f'no engine takes "{name}" as it comes, so nothing says its shapes and dtype',
                "compile a module whose engines read every argument", "C002")
    low = [max(sizes) for sizes in zip(*(binding[3] for binding in bindings))]
    high = [min(sizes) for sizes in zip(*(binding[5] for binding in bindings))]
    opt = [min(max(size, least), most) for size, least, most in zip(bindings[0][4], low, high)]
    return Argument(name, _SCALARS[bindings[0][1]], low, opt, high)


def _arguments(module) -> list[Argument]:
    parameters = module._c._get_method("forward").schema.arguments[1:]
    if not parameters:
        reject("forward() takes nothing, and a request brings one tensor at least", "compile a module whose forward takes tensors", "C004")
    for parameter in parameters:
        if str(parameter.type) != "Tensor":
            reject(f'"{parameter.name}" of forward is {parameter.type}, and a request brings tensors alone',
                    "compile a module whose forward takes tensors alone and makes the rest of them, or calls this one", "C004")
    values = list(module.graph.inputs())[1:]
    return [_argument(module, parameter.name, value) for parameter, value in zip(parameters, values)]


def _call_on_zeros(module, inputs, batch: int | None, device) -> list[torch.Tensor]:
    with torch.inference_mode():
        zeros = [torch.zeros([*(each.opt if batch is None else [batch, *each.opt[1:]])], dtype=each.dtype, device=device) for each in inputs]
        result = module(*zeros)
    results = list(result) if isinstance(result, tuple) else [result]
    if not all(isinstance(each, torch.Tensor) for each in results):
        reject(f"forward gives a {type(result).__name__}, and a response is a tensor or a tuple of tensors",
                "compile a module that returns its results as a tuple: return x, y", "C004")
    return results


def _lasting_dims(module, value) -> list[int]:
    """Sizes that an engine gives in any call; empty for results that PyTorch makes, of which one call says too little."""
    unpack = value.node()
    engine = _engine_of(module, next(unpack.inputs()).node()) if unpack.kind() == "prim::ListUnpack" else None
    if engine is None:
        return []
    number = [each.debugName() for each in unpack.outputs()].index(value.debugName())
    return [int(dim) if dim.isdigit() else -1 for dim in engine.outputs()[number][2]]


def _results(module, results) -> list[Result]:
    (returned,) = module.graph.outputs()
    values = list(returned.node().inputs()) if returned.node().kind() == "prim::TupleConstruct" else [returned]
    outputs = []
    for number, result in enumerate(results):
        name = f"OUTPUT__{number}"
        if result.dim() == 0:
            reject(f"result {number} of forward has no dimensions, and a response's tensors have one at least",
                    "compile a module that returns x.reshape(1)", "C004")
        dims = _lasting_dims(module, values[number]) if len(values) == len(results) else []
        outputs.append(Result(name, result.dtype, dims if len(dims) == result.dim() else [-1] * result.dim()))
    return outputs


def _obstacle(inputs, largest: int | None) -> str:
    """Why requests cannot run together by what the inputs are; empty if they can."""
    if largest == 0:
        return "max_batch_size=0 says so"
    for each in inputs:
        if not each.opt:
            return f'"{each.name}" has no dimensions'
        if each.dims[0] != -1:
            return f'dim 0 of "{each.name}" is fixed at {each.dims[0]}'
        if each.min[0] > 1:
            return f'dim 0 of "{each.name}" starts at {each.min[0]}, and a request may come alone'
    return ""


def _obstacle_in_results(one, many, batch: int) -> str:
    for number, (single, several) in enumerate(zip(one, many)):
        if single.size(0) != 1 or several.size(0) != batch:
            return f'dim 0 of "OUTPUT__{number}" is {several.size(0)} for {batch} requests, and {single.size(0)} for one'
        if single.shape[1:] != several.shape[1:]:
            return f'the sizes of "OUTPUT__{number}" follow the number of requests'
    return ""


def signature(module, max_batch_size: int | None = None, device="cpu") -> Signature:
    """Returns the signature of a compiled module that is loaded on the device. Calls the module on zeros, with one request and with
    several. max_batch_size: the most requests together, 0 for none. CompileError for an argument that is no tensor, and for a batch without
    an end."""
    inputs = _arguments(module)
    obstacle = _obstacle(inputs, max_batch_size)
    if obstacle:
        return Signature(inputs, _results(module, _call_on_zeros(module, inputs, None, device)), None, obstacle)
    largest = min(_NO_END if max_batch_size is None else max_batch_size, *(each.max[0] for each in inputs))
    if largest == _NO_END:
        reject(f'the batch of "{inputs[0].name}" has no largest size', "give max_batch_size, the most requests that run together", "C003")
    opt = max(1, min(largest, *(each.opt[0] for each in inputs)))
    several = min(largest, max(opt, 2))
    many = _call_on_zeros(module, inputs, several, device)
    outputs = _results(module, many)
    obstacle = _obstacle_in_results(_call_on_zeros(module, inputs, 1, device), many, several)
    return Signature(inputs, outputs, None if obstacle else (opt, largest), obstacle)
