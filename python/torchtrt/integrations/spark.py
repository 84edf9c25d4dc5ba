"""Compiled modules in Spark: a function for `pyspark.ml.functions.predict_batch_udf`.

    from pyspark.ml.functions import predict_batch_udf
    from torchtrt.integrations.spark import predict_batch_fn

    classify = predict_batch_udf(predict_batch_fn("compiled.ts"), return_type=ArrayType(FloatType()), batch_size=64, input_tensor_shapes=[[3, 224, 224]])
    images.withColumn("scores", classify("image"))

Executors need `pip install torchtrt-runtime` (or torchtrt) and the file under one path. A Python worker loads it once, in the time that reading
it takes, and compiles nothing.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence

import numpy

from torchtrt.integrations import _loading

try:
    import pyspark
except ImportError as error:
    raise _loading.needed("Spark", "spark") from error

__all__ = ["predict_batch_fn"]


def _threads() -> int | None:
    """The cores of a task. Spark tells its Python workers by the number of OpenMP threads that they are to use."""
    context = pyspark.TaskContext.get()
    cores = context.cpus() if context is not None else os.environ.get("OMP_NUM_THREADS", "")
    return int(cores) if str(cores).isdigit() else None


def predict_batch_fn(path, outputs: Sequence[str] | None = None, threads: int | None = None, device: str | None = None, share_weights: bool = True):
    """Returns the function that predict_batch_udf calls once in a worker. The columns of the UDF are the arguments of the module's `forward`, in order;
    a column of numbers is an argument [rows]. A module with one result gives an array [rows, ...]. One with several gives a mapping of `outputs`,
    by default `output_0`, `output_1`, ..., for a struct as the return type.

    threads: of a call, by default the cores of a task (spark.task.cpus). device: as torch.jit.load's map_location. Batches may be larger or
    smaller than what the module was compiled for. CompileError in the worker where other sizes do not fit.
    """
    model = _loading.Model(path, threads=threads, device=device, share_weights=share_weights)
    names = list(outputs) if outputs is not None else None

    def make():
        if model.threads is None:
            model.threads = _threads()
        model.load()

        def predict(*columns: numpy.ndarray):
            results = model(list(columns))
            if len(results) == 1 and names is None:
                return results[0]
            wanted = names or [f"output_{i}" for i in range(len(results))]
            if len(wanted) != len(results):
                _loading.reject(f"outputs names {len(wanted)} results, and forward has {len(results)}", "give one name for each")
            return dict(zip(wanted, results))

        # Spark counts the parameters, to know how columns make arrays.
        signature = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in model.names])
        setattr(predict, "__signature__", signature)  # noqa: B010 - functions have no such attribute by declaration
        return predict

    return make
