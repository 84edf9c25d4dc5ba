"""Gives a compiled file to workers of other systems. Only the path and the options are pickled; a worker loads the file when it first needs
it. Arrays of any number of rows become calls within the sizes that the module was compiled for."""

from __future__ import annotations

import os
from typing import Any

import numpy
import torch

import torchtrt.runtime
from torchtrt import _errors, _files

NO_END = 2**31 - 1  # the largest size of a range without an end


def needed(package: str, extra: str) -> ImportError:
    """The error of an integration whose package is not here."""
    return ImportError(f"torchtrt.integrations.{extra} needs {package}, which is not installed\n  pip install 'torchtrt[{extra}]'")


def reject(message: str, advice: str, code: str = "C002"):
    raise _errors.CompileError(f"[{code}] {message}\n  {advice}")


def _bindings(module, values) -> list[list]:
    """Returns, for each argument, a list of the inputs of engines that read it unchanged: name, dtype, dims, least, optimal and largest
    sizes."""
    found: list[list] = []
    for value in values:
        found.append([])
        for use in value.uses():
            calls = [each.user for each in use.user.output().uses()] if use.user.kind() == "prim::ListConstruct" else []
            for call in calls:
                engine = list(call.inputs())[1].node() if call.kind() == "tensorrt::execute_engine" else None
                if engine is not None and engine.kind() == "prim::GetAttr":
                    found[-1].append(module._c.getattr(engine.s("name")).inputs()[use.offset])
    return found


def _range(bindings: list) -> tuple[list[int], list[int]] | None:
    """Least and largest sizes that all take; None where no engine says them."""
    if not bindings:
        return None
    least, largest = ([binding[place] for binding in bindings] for place in (3, 5))
    return [max(sizes) for sizes in zip(*least)], [min(sizes) for sizes in zip(*largest)]


def pieces(rows: int, least: int, most: int) -> list[int]:
    """The rows of each call: as few calls as fit, of even size. A call has `least` rows or more when it is padded."""
    calls = -(-rows // most)
    return [rows // calls + (i < rows % calls) for i in range(calls)]


class Model:
    """The module in `path`, loaded on first use, and its `forward` on arrays whose first dimension counts rows.

    threads: of a call; None leaves PyTorch's setting. device: where it runs, as of torch.jit.load's map_location; None: where the file says.
    share_weights: processes on one machine have the weights in memory once (`torchtrt.runtime.share_weights`).
    """

    def __init__(self, path, *, threads: int | None = None, device: str | None = None, share_weights: bool = True):
        self.path = os.fspath(path)
        self.threads, self.device, self.share_weights = threads, device, share_weights
        self._module: Any = None

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_module": None}

    def load(self) -> "Model":
        """Reads the file unless that is done. EngineError for a file that is missing or damaged."""
        if self._module is not None:
            return self
        if not os.path.isfile(self.path):
            raise _errors.EngineError(f"[E009] there is no file '{self.path}' on this worker\n  put it where every worker reads it, under the same path")
        if self.threads is not None:
            torch.set_num_threads(max(1, self.threads))
        if self.share_weights and "TORCHTRT_SHARE_WEIGHTS" not in os.environ:
            torchtrt.runtime.share_weights()
        try:
            module = _files.load(self.path, map_location=self.device)
        except RuntimeError as error:
            if isinstance(error, _errors.Error):
                raise
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise _errors.EngineError(f"[E001] cannot read '{self.path}': {first}\n  copy it again, and compare the sizes") from error
        arguments = module._c._get_method("forward").schema.arguments[1:]
        other = next((each for each in arguments if str(each.type) != "Tensor"), None)
        if other is not None:
            reject(f'"{other.name}" of forward is {other.type}, and rows are tensors', "compile a module whose forward takes tensors alone", "C004")
        self.names = [each.name for each in arguments]
        bindings = _bindings(module, list(module.graph.inputs())[1:])
        self._ranges = [_range(each) for each in bindings]
        self._dtypes = {name: each[0][1] for name, each in zip(self.names, bindings) if each and each[0][1] != "bfloat16"}
        engines = list(torchtrt.runtime.engines(module).values())
        self._place = self.device or (str(engines[0].device()) if engines else "cpu")
        self._module = module
        return self

    @property
    def rows(self) -> tuple[int, int]:
        """The fewest and the most rows of a call."""
        self.load()
        known = [each for each in self._ranges if each is not None and each[0]]
        least = max([1, *(low[0] for low, _ in known)])
        most = min([NO_END, *(high[0] for _, high in known)])
        if least > most:
            reject(f"its arguments take no number of rows in common: at least {least}, at most {most}", "compile it with one range for dim 0", "C004")
        return least, most

    def dtype_of(self, name: str):
        """The numpy dtype that the engines read an argument in; None where nothing says it."""
        self.load()
        return self._dtypes.get(name)

    def check(self, arrays) -> None:
        """CompileError where an array does not fit its argument, apart from the number of rows."""
        self.load()
        if len(arrays) != len(self.names):
            reject(f"forward takes {len(self.names)} arrays ({', '.join(self.names)}), got {len(arrays)}", "give one for each")
        for name, array, sizes in zip(self.names, arrays, self._ranges):
            if array.dtype == object:
                reject(f"the rows of '{name}' have different sizes", "bring them to one size first, or send them in batches of their own")
            if sizes is None:
                continue
            low, high = sizes
            fits = len(low) == array.ndim and all(a <= size <= b for a, size, b in zip(low[1:], array.shape[1:], high[1:]))
            if not fits:
                wanted = ", ".join(["rows", *(str(a) if a == b else f"{a} to {b}" for a, b in zip(low[1:], high[1:]))])
                reject(f"'{name}': expected [{wanted}], got {list(array.shape)}", "give arrays of these sizes, or compile the module for others")
        counts = {len(array) for array in arrays}
        if len(counts) > 1:
            reject(f"the arguments have {sorted(counts)} rows", "give as many of each")

    def __call__(self, arrays) -> list[numpy.ndarray]:
        """The results of the rows of all arrays, one array for each result of forward. More rows than a call takes run in several; fewer are padded
        with the last row, whose further results are left out. CompileError where they do not fit."""
        self.check(arrays)
        rows = len(arrays[0])
        least, most = self.rows
        arrays = [self._cast(name, array) for name, array in zip(self.names, arrays)]
        if rows == 0:
            reject("there are no rows", "leave empty batches out")
        parts, start = [], 0
        with torch.inference_mode(), torchtrt.runtime.translated_errors():
            for count in pieces(rows, least, most):
                parts.append(self._call([array[start:start + count] for array in arrays], count, least))
                start += count
        return [numpy.concatenate(each) if len(each) > 1 else each[0] for each in zip(*parts)]

    def _cast(self, name: str, array: numpy.ndarray) -> numpy.ndarray:
        """Casts the array to the dtype that the engines read. Columns of tables are often float64, whatever the model computes in."""
        wanted = numpy.dtype(self._dtypes.get(name, array.dtype))
        is_floating = array.dtype.kind == wanted.kind == "f"
        if not is_floating and not numpy.can_cast(array.dtype, wanted, "safe"):
            reject(f"'{name}': expected {wanted}, got {array.dtype}", f"give an array of {wanted}: another would lose values")
        return array.astype(wanted, copy=False)

    def _call(self, arrays, rows: int, least: int) -> list[numpy.ndarray]:
        tensors = []
        for array in arrays:
            # Arrays of shared memory can only be read, and a module may write its arguments.
            tensor = torch.from_numpy(array if array.flags.writeable and array.flags.c_contiguous else array.copy())
            if rows < least:
                tensor = torch.cat([tensor, tensor[-1:].expand(least - rows, *tensor.shape[1:])])
            tensors.append(tensor.to(self._place))
        result = self._module(*tensors)
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        for number, each in enumerate(results):
            if not isinstance(each, torch.Tensor) or each.dim() == 0 or len(each) != max(rows, least):
                what = list(each.shape) if isinstance(each, torch.Tensor) else type(each).__name__
                reject(f"result {number} of forward is {what} for {max(rows, least)} rows", "compile a module that gives one result for every row", "C004")
        # numpy has no bfloat16; float32 holds all of its values.
        return [(each[:rows].float() if each.dtype == torch.bfloat16 else each[:rows]).cpu().numpy() for each in results]
