"""The integer forms that `./dev bench --precision i8,w4` compares: of the engine, of ONNX files for other systems, and of PyTorch.

int8 is calibrated with the same seeded batches everywhere. ONNX files get quantization nodes, weights per channel and activations of uint8. The
forms of int4 have weights of 4 bits in groups, symmetric, and nothing else is quantized.
"""

import copy
import os

import gpu
import models
from job import Job

DTYPES = ("int8", "int4")
GROUP = 64  # weights of 4 bits that share a scale
BATCHES = 8  # to calibrate with
SEEDS = range(2, 2 + BATCHES)  # 1 is the sample that is timed


def batches(job: Job) -> list[tuple]:
    return [models.arguments(job.model, job.batch, seed) for seed in SEEDS]


def options(job: Job) -> dict:
    """Further options of torchtrt.compile for the job's dtype."""
    import torch

    import torchtrt

    if job.dtype == "int8":
        return {"enabled_precisions": {torch.int8}, "calibrator": torchtrt.ptq.DataLoaderCalibrator(batches(job))}
    return {"weight_precision": "int4", "group_size": GROUP} if job.dtype == "int4" else {}


class _Reader:
    """Gives the batches by the names of a file's inputs, as ONNX Runtime asks for them."""

    def __init__(self, names: list[str], given: list[list]):
        self._given = iter([dict(zip(names, each, strict=True)) for each in given])

    def get_next(self):
        return next(self._given, None)


def _reads_only_matrices(model) -> bool:
    """True for networks with attention. There only products with constants are quantized: masks have ranges that leave no steps for scores."""
    return any(node.op_type == "Softmax" for node in model.graph.node)


def _to_int8(job: Job, plain: str, file: str) -> None:
    import answers
    import onnx
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared = plain + ".prepared"
    quant_pre_process(plain, prepared, skip_symbolic_shape=True)
    model = onnx.load(prepared)
    constants = {each.name for each in model.graph.initializer}
    kinds = {"MatMul", "Gemm", "Conv"} if _reads_only_matrices(model) else None
    left_out = [node.name for node in model.graph.node if kinds and node.op_type == "MatMul" and node.input[1] not in constants]
    quantize_static(prepared, file, _Reader([each.name for each in model.graph.input], [answers.flat(each) for each in batches(job)]),
                    quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                    op_types_to_quantize=sorted(kinds) if kinds else None, nodes_to_exclude=left_out,
                    calibrate_method=CalibrationMethod.MinMax)


def _to_int4(job: Job, plain: str, file: str) -> None:
    to_weights_of_4_bits(plain, file, GROUP)


def _as_products(model) -> None:
    """Writes each Gemm with constant weights, such as a linear layer's of two dimensions, as MatMul and Add: the quantizer knows MatMul alone."""
    from onnx import helper, numpy_helper

    constants = {each.name: each for each in model.graph.initializer}
    nodes = list(model.graph.node)
    del model.graph.node[:]
    for node in nodes:
        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        scaled = attributes.get("alpha", 1.0) != 1 or attributes.get("beta", 1.0) != 1 or attributes.get("transA", 0)
        if node.op_type != "Gemm" or scaled or node.input[1] not in constants:
            model.graph.node.append(node)
            continue
        weights, has_bias = node.input[1], len(node.input) > 2
        if attributes.get("transB", 0):
            turned = weights + "_turned"
            if turned not in constants:
                constants[turned] = numpy_helper.from_array(numpy_helper.to_array(constants[weights]).T.copy(), turned)
                model.graph.initializer.append(constants[turned])
            weights = turned
        product = node.output[0] + "_product" if has_bias else node.output[0]
        model.graph.node.append(helper.make_node("MatMul", [node.input[0], weights], [product], node.name))
        if has_bias:
            model.graph.node.append(helper.make_node("Add", [product, node.input[2]], [node.output[0]], node.name + "_bias"))
    read = {name for node in model.graph.node for name in node.input}
    kept = [each for each in model.graph.initializer if each.name in read]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)


def to_weights_of_4_bits(plain: str, file: str, group: int, beside: bool = False) -> None:
    """Writes products of the ONNX file `plain` with constants as MatMulNBits to `file`; `beside`: weights lie in a file of their own."""
    import onnx
    from onnxruntime.quantization import matmul_nbits_quantizer

    model = onnx.load(plain)
    _as_products(model)
    quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(model, block_size=group, is_symmetric=True, accuracy_level=4)
    quantizer.process()
    quantizer.model.save_model_to_file(file, use_external_data_format=beside)


def rewrite(job: Job, plain: str, file: str) -> None:
    """Writes the ONNX file `plain` in the job's integer dtype to `file`, whole or not at all."""
    new = file + ".new"
    {"int8": _to_int8, "int4": _to_int4}[job.dtype](job, plain, new)
    os.replace(new, file)


def quantized(job: Job, module):
    """PyTorch's own form in int8, as TorchScript: static where torch.fx can trace the module, else of linear layers alone, with ranges that each
    call measures."""
    import torch
    import torch.ao.quantization as quantization
    from torch.ao.quantization import quantize_fx

    given = models.arguments(job.model, job.batch)
    try:
        if models.ALL[job.model].vocabulary:
            raise NotImplementedError("transformers' modules are no graphs of torch.fx")
        made = quantize_fx.prepare_fx(copy.deepcopy(module), quantization.get_default_qconfig_mapping("x86"), given)
        for each in batches(job):
            made(*each)
        made = quantize_fx.convert_fx(made)
        made(*given)
    except Exception:  # noqa: BLE001 - PyTorch quantizes few modules statically, and says so in many ways
        made = quantization.quantize_dynamic(copy.deepcopy(module), {torch.nn.Linear}, torch.qint8)
    return torch.jit.freeze(torch.jit.trace(made, given, check_trace=False))


def is_16_bits(dtype: str) -> bool:
    return dtype in ("float16", "bfloat16")


def cast(values, dtype: str):
    """A nest of tensors with its floating ones in the job's dtype: integers are inside of engines alone."""
    return gpu.moved(values, "cpu", gpu.dtype_of(dtype)) if is_16_bits(dtype) else values
