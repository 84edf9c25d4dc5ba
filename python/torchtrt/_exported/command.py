"""Compiles a program of torch.export for torchtrtc and writes the module to a pipe. torchtrtc has checked the options, which are its own.
The exit status is torchtrtc's."""

import argparse
import io
import os
import sys

import torch
import torchtrt

DTYPES = {"Int64": torch.int64, "Float64": torch.float64, "Float32": torch.float32, "Float16": torch.float16, "Int8": torch.int8,
          "Int32": torch.int32, "Bool": torch.bool, "BFloat16": torch.bfloat16, "UInt8": torch.uint8, "Int16": torch.int16}
WRONG_COMMAND_LINE = ("[C002]", "[C003]")


def _input(text: str) -> torchtrt.Input:
    """Reads text such as "Float32;1,3;4,3;8,3": dtype, least, optimal and largest sizes."""
    dtype, *shapes = text.split(";")
    least, optimal, largest = ([int(size) for size in shape.split(",") if size] for shape in shapes)
    return torchtrt.Input(min_shape=least, opt_shape=optimal, max_shape=largest, dtype=DTYPES.get(dtype))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="torchtrtc")
    parser.add_argument("program")
    parser.add_argument("--input", dest="inputs", action="append", type=_input)
    parser.add_argument("--enable-precision", dest="enabled_precisions", action="append", type=DTYPES.__getitem__)
    parser.add_argument("--op-precision", type=DTYPES.__getitem__)
    parser.add_argument("--device")
    parser.add_argument("--target")
    parser.add_argument("--torch-executed-op", dest="torch_executed_ops", action="append")
    parser.add_argument("--custom-torch-ops", action="append", default=[])
    parser.add_argument("--timing-cache")
    parser.add_argument("--min-block-size", type=int)
    parser.add_argument("--require-full-compilation", action="store_true", default=None)
    parser.add_argument("--batch-invariant", action="store_true", default=None)
    parser.add_argument("--no-threshold-check", action="store_true")
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("--channel", type=int)
    parser.add_argument("--level", default="Warning")
    return parser.parse_args()


def _program(path: str) -> torch.export.ExportedProgram:
    try:
        return torch.export.load(path)
    except Exception as error:  # noqa: BLE001 - of whatever kind: libtorch, zipfile and its own reader raise theirs
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise torchtrt.CompileError(f'[C004] cannot read the exported program "{path}": {first}\n'
                                    f"  export it again with torch {torch.__version__}, or give its operators by --custom-torch-ops") from error


def _compiled(options: argparse.Namespace) -> bytes:
    for library in options.custom_torch_ops:
        torch.ops.load_library(library)
    names = ("inputs", "enabled_precisions", "op_precision", "device", "target", "torch_executed_ops", "timing_cache", "min_block_size",
             "require_full_compilation", "batch_invariant")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if options.no_threshold_check:
        given["check_results"] = False
    module = torchtrt.compile(_program(options.program), **given)
    if options.explain:
        print(torchtrt.report(module), file=sys.stderr)
    file = io.BytesIO()
    torch.jit.save(module, file)
    return file.getvalue()


def main() -> None:
    options = _arguments()
    torchtrt.logging.set_is_colored_output_on(True)
    torchtrt.logging.set_reportable_log_level(getattr(torchtrt.logging.Level, options.level))
    try:
        content = _compiled(options)
    except torchtrt.CompileError as error:
        print(f"torchtrtc: {error}", file=sys.stderr)
        sys.exit(2 if str(error).startswith(WRONG_COMMAND_LINE) else 1)
    with os.fdopen(options.channel, "wb") as channel:
        channel.write(content)
