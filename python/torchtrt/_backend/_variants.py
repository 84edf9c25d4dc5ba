"""The compiled forms of one graph: for each module that it is called with, and again where that module's tensors have changed.

TorchDynamo passes parameters and buffers as inputs, and one graph may serve many modules of one class. Engines hold weights, so a call
first makes sure that its tensors are those that were compiled in, and have not been written since. Floats of the program are compiled in
as well, until they turn out to vary.
"""

import torch

import torchtrt
from torchtrt import _backend, _errors
from torchtrt._backend import _capture, _script

_MOST_MODULES = 64
_MOST_CHANGES = 4  # of one module's tensors
_MOST_VALUES = 2  # of floats
_MOST_REPLACED = 2  # tensors of one module, one after the other, that are compiled in


class _Compiled:
    def __init__(self, captured, tensors: dict[int, torch.Tensor], constants: dict[int, float], options):
        scripted = _script.to_script(captured, tensors, set(constants))
        options = options if "device" in options else {"device": _device(captured), **options}
        with torch.random.fork_rng(devices=[]):  # the program's random numbers are those of eager mode
            module = torchtrt.compile(scripted.module, input_signature=scripted.signature, **options)
        self.is_of_use = torchtrt.report(module).engine_segments > 0
        self._passed = scripted.passed
        self._forward = module.forward
        self._held = [(i, tensor, tensor._version, tensor.data_ptr()) for i, tensor in tensors.items()]
        self._constants = list(constants.items())
        self.can_run_again = not captured.is_writing

    def holds(self, inputs) -> bool:
        return all(inputs[i] is tensor and tensor._version == version and tensor.data_ptr() == place
                   for i, tensor, version, place in self._held) and all(inputs[i].item() == value for i, value in self._constants)

    def written(self) -> set[int]:
        """Returns the indices of the module's tensors that changed since they were captured."""
        return {i for i, tensor, version, place in self._held if tensor._version != version or tensor.data_ptr() != place}

    def differing(self, tensors: dict[int, torch.Tensor]) -> set[int]:
        return {i for i, tensor, _, _ in self._held if tensors[i] is not tensor}

    def __call__(self, inputs):
        return self._forward(*[inputs[i] for i in self._passed])


def _device(captured) -> torch.device:
    return next((each.device for each in captured.values if isinstance(each, torch.Tensor) and each.dim() > 0), torch.device("cpu"))


class _TooMany(Exception):
    pass


class Variants:
    """Called with the inputs of the graph; gives its results as a tuple."""

    def __init__(self, graph_module, options):
        self._graph_module = graph_module
        self._eager = graph_module.forward
        self._options = options
        self._numbers = _capture.numbers(graph_module)
        self._values: set[tuple[float, ...]] = set()
        self._captured: dict[tuple[float, ...], _capture.Captured] = {}
        self._compiled: dict[tuple, _Compiled] = {}
        self._changes: dict[tuple, int] = {}
        self._state: set[int] = set()  # buffers that another graph or the program writes: engines take them as inputs
        self._latest: _Compiled | None = None
        self._has_failed = False

    def warmed(self, inputs):
        """Itself, with what it needs for these inputs; the graph in eager mode where no engine is of use."""
        self._latest = self._find(inputs)
        return self if self._latest.is_of_use else self._eager

    def __call__(self, *inputs):
        if self._has_failed:
            return self._eager(*inputs)
        compiled = self._latest  # that of another thread may stand there a moment later
        try:
            if compiled is None or not compiled.holds(inputs):
                compiled = self._latest = self._find(inputs)
        except Exception as error:  # noqa: BLE001 - the program goes on, whatever it was
            return self._without_engines(inputs, error)
        try:
            return compiled(inputs)
        except Exception as error:  # noqa: BLE001 - an input may be written already, and a second run would write it twice
            if not compiled.can_run_again:
                raise
            return self._without_engines(inputs, error)

    def _constants(self, inputs) -> dict[int, float]:
        constants = {i: inputs[i].item() for i in self._numbers}
        self._values.add(tuple(constants.values()))
        if len(self._values) > _MOST_VALUES:
            self._numbers, constants = [], {}
            self._compiled.clear()
        return constants

    def _find(self, inputs) -> _Compiled:
        """Returns what was compiled for these inputs, and compiles it if that is new."""
        constants = self._constants(inputs)
        values = tuple(constants.values())
        if values not in self._captured:
            self._captured[values] = _capture.capture(self._graph_module, inputs, constants)
        captured = self._captured[values]
        tensors = {i: inputs[i] for i in sorted(captured.fixed - self._state)}
        key = (values, *map(id, tensors.values()))
        known = self._compiled.get(key)
        if known is not None and known.holds(inputs):
            return known
        if known is not None:
            state = {i for i in known.written() if not isinstance(inputs[i], torch.nn.Parameter)}
            if state:
                self._state |= state
                self._compiled.clear()
                return self._find(inputs)
            self._changes[key] = self._changes.get(key, 0) + 1
        elif replaced := self._replaced(values, tensors):
            self._state |= replaced
            self._compiled.clear()
            return self._find(inputs)
        if len(self._compiled) >= _MOST_MODULES or self._changes.get(key, 0) > _MOST_CHANGES:
            raise _TooMany("its parameters or buffers change too often to compile them in")
        self._compiled[key] = _Compiled(captured, tensors, constants, self._options)
        return self._compiled[key]

    def _replaced(self, values, tensors: dict[int, torch.Tensor]) -> set[int]:
        """Tensors that the program makes anew for each call, as some detectors do with their anchors: other modules have other parameters, too."""
        others = [each.differing(tensors) for key, each in self._compiled.items() if key[0] == values]
        others = [each for each in others if not any(isinstance(tensors[i], torch.nn.Parameter) for i in each)]
        return set().union(*others) if len(others) >= _MOST_REPLACED else set()

    def _without_engines(self, inputs, error):
        if isinstance(error, _errors.InternalError) and _backend.is_strict():
            raise error
        self._has_failed = True
        self._compiled.clear()
        _backend.log(f"a graph {_backend.EAGER} from now on: {_backend.first_line(error)}")
        return self._eager(*inputs)
