"""Compiled modules in Apache Beam: a model handler for RunInference.

    from apache_beam.ml.inference.base import RunInference
    from torchtrt.integrations.beam import ModelHandler

    examples | RunInference(ModelHandler("compiled.ts"))

Workers need `pip install torchtrt-runtime` (or torchtrt) and the file under one path. They load it in the time that reading it takes, and
compile nothing. Leave `large_model` off: processes of one machine have the weights in memory once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy
import torch

from torchtrt.integrations import _loading

try:
    from apache_beam.ml.inference import base
except ImportError as error:
    raise _loading.needed("Apache Beam", "beam") from error

__all__ = ["ModelHandler"]


class ModelHandler(base.ModelHandler[Any, base.PredictionResult, _loading.Model]):
    """Runs the module's `forward` on batches of examples. An example is one row: a numpy array or tensor, or a mapping of arguments to them for a
    module with several. The inference of a row is an array (a tensor, if the example has tensors), or a list of those where forward has several results.

    path: the compiled file; `update_model_path` of RunInference replaces it in a running pipeline. threads: of a call; None leaves PyTorch's
    setting. device: as torch.jit.load's map_location. options: those of Beam's handlers, such as min_batch_size and max_batch_size; by default
    a batch has at most as many rows as the module takes. CompileError where rows do not fit, which fails the bundle as Beam has it.
    """

    def __init__(self, path, *, threads: int | None = None, device: str | None = None, share_weights: bool = True, **options):
        super().__init__(**options)
        self._path = str(path)
        self._threads, self._device, self._share_weights = threads, device, share_weights

    def load_model(self) -> _loading.Model:
        return _loading.Model(self._path, threads=self._threads, device=self._device, share_weights=self._share_weights).load()

    def update_model_path(self, model_path: str | None = None) -> None:
        self._path = model_path or self._path

    def batch_elements_kwargs(self) -> Mapping[str, Any]:
        given = dict(super().batch_elements_kwargs())
        if "max_batch_size" not in given and os.path.isfile(self._path):  # else the file is where the workers are alone
            most = self.load_model().rows[1]
            given.update({"max_batch_size": max(most, given.get("min_batch_size", 1))} if most < _loading.NO_END else {})
        return given

    def run_inference(self, batch: Sequence, model: _loading.Model, inference_args: Mapping[str, Any] | None = None) -> Iterable[base.PredictionResult]:
        if inference_args:
            _loading.reject(f"a compiled module takes no inference_args ({', '.join(inference_args)})", "make them arguments of its forward", "C003")
        rows = [self._row(example, model) for example in batch]
        results: list = [None] * len(rows)
        for numbers in self._groups(rows):
            outputs = model([numpy.stack(arrays) for arrays in zip(*(rows[number] for number in numbers))])
            for place, number in enumerate(numbers):
                values = [self._like(batch[number], output[place]) for output in outputs]
                results[number] = values[0] if len(values) == 1 else values
        return [base.PredictionResult(example, result, model_id=self._path) for example, result in zip(batch, results)]

    @staticmethod
    def _row(example, model: _loading.Model) -> list[numpy.ndarray]:
        values = example if isinstance(example, Mapping) else dict(zip(model.names, [example]))
        missing = [name for name in model.names if name not in values]
        if missing:
            _loading.reject(f"an example has no {', '.join(missing)}", f"give a mapping with {', '.join(model.names)}")
        return [each.numpy(force=True) if isinstance(each, torch.Tensor) else numpy.asarray(each) for each in (values[name] for name in model.names)]

    @staticmethod
    def _groups(rows: list) -> list[list[int]]:
        """Rows of one shape run together."""
        groups: dict = {}
        for number, row in enumerate(rows):
            groups.setdefault(tuple((each.shape, each.dtype.str) for each in row), []).append(number)
        return list(groups.values())

    @staticmethod
    def _like(example, value: numpy.ndarray):
        first = next(iter(example.values())) if isinstance(example, Mapping) else example
        return torch.from_numpy(numpy.ascontiguousarray(value)) if isinstance(first, torch.Tensor) else value

    def get_num_bytes(self, batch: Sequence) -> int:
        examples = [each for example in batch for each in (example.values() if isinstance(example, Mapping) else [example])]
        return sum(each.nbytes for each in examples)

    def get_metrics_namespace(self) -> str:
        return "BeamML_torchtrt"
