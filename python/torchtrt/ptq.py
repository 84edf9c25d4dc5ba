"""Post-training quantization: calibrators, which say what the tensors of a module reach on real data. Under the reference system's names.

    calibrator = torchtrt.ptq.DataLoaderCalibrator(loader, cache_file="model.cache")
    compiled = torchtrt.compile(model, inputs=[...], enabled_precisions={torch.int8}, calibrator=calibrator)

A calibrator is not changed by a compile, and may serve many.
"""

import enum
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from torchtrt import _devices, _errors

__all__ = ["CacheCalibrator", "CalibrationAlgo", "DataLoaderCalibrator"]


class CalibrationAlgo(enum.IntEnum):
    """The rule that takes a range from the values that a tensor held."""

    ENTROPY_CALIBRATION = 0  # clipped where the histogram loses the least information
    ENTROPY_CALIBRATION_2 = 1  # the same
    LEGACY_CALIBRATION = 2  # clipped at a percentile
    MINMAX_CALIBRATION = 3  # all of it


def _reject(message: str, advice: str):
    raise _errors.CompileError(f"[C003] {message}\n  {advice}")


class _Calibrator:
    # Classes with batches have begin(script, method, most). It begins a pass and returns a function that gives the next call's arguments,
    # at most so many, and None after the last.
    begin: Callable[[Any, str, int], Callable[[], tuple | None]] | None = None

    def __init__(self, algo_type: CalibrationAlgo, cache_file: str | os.PathLike | None, use_cache: bool,
                 percentile: float = 99.99, symmetric: bool = False):
        try:
            self.algo_type = CalibrationAlgo(algo_type)
        except ValueError:
            _reject(f"algo_type is {algo_type!r}", "give one of torchtrt.ptq.CalibrationAlgo")
        self.cache_file = None if cache_file is None else os.fspath(cache_file)
        self.use_cache = bool(use_cache)
        self.percentile = float(percentile)
        self.symmetric = bool(symmetric)

    def add_to(self, spec, script, method: str, most: int) -> None:
        """Into the extension's settings for a method that takes `most` arguments."""
        begin = self.begin
        batches = None if begin is None else lambda: begin(script, method, most)
        spec.set_calibrator(batches, int(self.algo_type), self.percentile, self.symmetric, self.cache_file or "", self.use_cache)


class DataLoaderCalibrator(_Calibrator):
    """Calibrates with batches.

    Args:
        dataloader: a torch.utils.data.DataLoader, or any iterable of batches: a tensor, a tuple or list of a method's arguments in order, or
            a dictionary by their names. What follows the arguments that `inputs` are given for, as labels do, is left out, and so are names
            that the method does not have. An iterator, which can be gone through once, serves one compile. Batches are gone through once
            per compile, in the main process; some hundred samples do.
        algo_type: how ranges are taken.
        cache_file: where ranges are written.
        use_cache: True to read ranges from cache_file instead, where they are known there.
        device: where engines run, which changes nothing: ranges are taken on the CPU.
        percentile: of LEGACY_CALIBRATION, how much of the values lies within, in percent.
        symmetric: True for activations with as many steps below zero as above. Otherwise each has the zero that uses all steps.
    """

    def __init__(self, dataloader: Iterable[Any], algo_type: CalibrationAlgo = CalibrationAlgo.MINMAX_CALIBRATION,
                 cache_file: str | os.PathLike | None = None, use_cache: bool = False, device: Any = None, *,
                 percentile: float = 99.99, symmetric: bool = False):
        super().__init__(algo_type, cache_file, use_cache, percentile, symmetric)
        if isinstance(dataloader, (torch.Tensor, str, Mapping)) or not isinstance(dataloader, Iterable):
            _reject(f"a {type(dataloader).__name__} is no data loader", "give a torch.utils.data.DataLoader, or a list of batches")
        _devices.Device.of(device)  # ranges do not depend on it, but it has to be one
        self.dataloader = dataloader

    def begin(self, script, method: str, most: int):
        batches = iter(self.dataloader)

        def following():
            batch = next(batches, None)
            return None if batch is None else _arguments(batch, script, method)[:most]

        return following


class CacheCalibrator(_Calibrator):
    """Takes the ranges that an earlier compile of the same module wrote; needs no data."""

    def __init__(self, cache_file: str | os.PathLike, algo_type: CalibrationAlgo = CalibrationAlgo.MINMAX_CALIBRATION, *,
                 symmetric: bool = False):
        super().__init__(algo_type, cache_file, use_cache=True, symmetric=symmetric)


def _arguments(batch, script, method: str) -> tuple:
    if isinstance(batch, torch.Tensor):
        return (batch,)
    if isinstance(batch, (tuple, list)):
        return tuple(batch)
    if isinstance(batch, Mapping):
        return _named(batch, script, method)
    raise TypeError(f"a calibration batch is a {type(batch).__name__}, expected a tensor, a tuple or list of the method's arguments, or a "
                    "dictionary by their names")


def _named(batch: Mapping, script, method: str) -> tuple:
    """A dictionary's values in the order of the method's arguments, up to the last that it has, with defaults between."""
    if not isinstance(script, torch.jit.ScriptModule):
        raise TypeError("a calibration batch is a dictionary, and a graph's arguments have no names")
    arguments = script._c._get_method(method).schema.arguments[1:]
    while arguments and arguments[-1].name not in batch:
        arguments.pop()
    missing = [each.name for each in arguments if each.name not in batch and not each.has_default_value()]
    if missing or not arguments:
        raise ValueError(f"a calibration batch has {sorted(map(str, batch))} and lacks {missing or 'all arguments'} of {method}")
    return tuple(batch[each.name] if each.name in batch else each.default_value for each in arguments)
