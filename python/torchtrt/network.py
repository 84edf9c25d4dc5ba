"""Network definitions from Python: tensors and layers, the current network, building and running engines.

    import torchtrt.network as trt
    from torchtrt.functional import matmul, relu

    net = trt.Network("mlp")
    with trt.net_guard(net):
        x = trt.Tensor(name="x", dtype=trt.float32, shape=(8, 64))
        relu(matmul(x, weight)).mark_output("y")
    y = net.build().run(x_values)          # numpy arrays or torch tensors

Functions that add layers are in torchtrt.functional, patterns that change networks in torchtrt.graph_rewriting.
"""

import enum
import pathlib
import sys
import threading
from typing import TYPE_CHECKING, Any, TypeAlias

from torchtrt import _compile, _enums, _errors, _libraries

float32 = _enums.dtype.float32
float64 = _enums.dtype.float64
float16 = _enums.dtype.float16
bfloat16 = _enums.dtype.bfloat16
int8 = _enums.dtype.int8
int16 = _enums.dtype.int16
int32 = _enums.dtype.int32
int64 = _enums.dtype.int64
uint8 = _enums.dtype.uint8
bool = _enums.dtype.bool  # noqa: A001 - the name users write

_native = _libraries.extension()

ElementWiseOperation = _enums.ElementWiseOperation
if TYPE_CHECKING:
    LayerType: TypeAlias = Any  # the library alone knows the members
else:
    LayerType = enum.IntEnum("LayerType", _native.layer_types())
    LayerType.__doc__ = "The kinds of layers: docs/layers.md."


def reject(message: str, advice: str, code: str = "C008"):
    raise _errors.CompileError(f"[{code}] {message}\n  {advice}")


class _Current(threading.local):
    def __init__(self):
        self.networks = []


_current = _Current()


class net_guard:  # noqa: N801 - the name users write
    """Makes a network the one that functions add layers to, in this thread and within the block."""

    def __init__(self, network: "Network"):
        self.network = network

    def __enter__(self) -> "Network":
        _current.networks.append(self.network)
        return self.network

    def __exit__(self, *exception):
        _current.networks.pop()


def default_net() -> "Network":
    """The network of the innermost net_guard."""
    if not _current.networks:
        reject("no network is current here", "enter `with net_guard(network):` first", "C003")
    return _current.networks[-1]


_PACKAGE = str(pathlib.Path(__file__).parent)


def _caller():
    """File and line of the user's code that is adding a layer."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return pathlib.Path(frame.f_code.co_filename).name, frame.f_lineno


class Tensor:
    """A value of a network. Made by a user it is a network input; functions and operators return all others.

    shape: numbers, names of symbols (`Network.add_symbol`), or expressions like "2*n+1". Within a rewrite, a new input
    takes the place of an input of the same name that nothing reads any more.
    """

    def __init__(self, name=None, dtype=float32, shape=(), *, ref=None):
        if ref is None:
            net = default_net()
            ref = net.box.add_input(name or "input", _enums.dtype.of(dtype).name, list(shape))
        self.ref = ref

    @property
    def name(self) -> str:
        return self.ref.name

    @name.setter
    def name(self, name: str):
        self.ref.name = name

    @property
    def shape(self) -> tuple:
        """Numbers, and expressions as text where a dimension is symbolic."""
        return self.ref.shape

    @property
    def dtype(self) -> "_enums.dtype":
        return _enums.dtype[self.ref.dtype]

    @property
    def network(self) -> "Network":
        return Network(self.ref.network)

    def ndim(self) -> int:
        return len(self.shape)

    rank = ndim

    def size(self, axis=None):
        return self.shape if axis is None else self.shape[axis]

    def is_network_input(self):
        return self.ref.is_network_input

    def is_network_output(self):
        return self.ref.is_network_output

    def get_parent(self) -> "Layer | None":
        """The layer that makes it; None for a network input."""
        producer = self.ref.producer
        return None if producer is None else Layer(producer)

    def get_users(self) -> "list[Layer]":
        """The layers that read it, each once."""
        return list({ref.id: Layer(ref) for ref, _ in self.ref.uses}.values())

    def constant(self):
        """Its data as a torch tensor if it is known when the network is built, else None."""
        import torch

        held = self.ref.constant
        if held is None:
            return None
        name, dims, data = held
        flat = torch.frombuffer(bytearray(data), dtype=_enums.dtype[name].to_torch()) if data else torch.empty(0)
        return flat.reshape(dims)

    def mark_output(self, name=None, dtype=None) -> None:
        """Makes it an output of the network, as `dtype` if that is given."""
        tensor = self
        if dtype is not None and _enums.dtype.of(dtype) != self.dtype:
            from torchtrt import functional

            tensor = functional.cast(self, dtype)
        self.ref.network.mark_output(tensor.ref, name or "")

    def replace_all_uses_with(self, other: "Tensor") -> None:
        """Lets the readers of this tensor read `other`, which has the same dtype and shape. Network outputs count as readers."""
        self.ref.replace_all_uses_with(other.ref)

    def __eq__(self, other):
        return isinstance(other, Tensor) and self.ref.key == other.ref.key

    def __hash__(self):
        return hash(self.ref.key)

    def __bool__(self):
        reject("a tensor has no truth value when the network is defined", "compare with functions of torchtrt.functional", "C003")

    def __repr__(self):
        return f"Tensor({self.name!r}, {self.dtype.name}, {list(self.shape)})"


class Plugin:
    """Describes the plugin of a PLUGIN_V2 layer."""

    def __init__(self, attributes: dict):
        self.plugin_namespace = attributes.get("namespace", "")
        self.plugin_type = attributes.get("type", "")
        self.plugin_version = attributes.get("version", "1")
        self.fields = {name: value for name, value in attributes.items() if name not in ("namespace", "type", "version")}


class _View:
    """A layer with its attributes as members: what Layer.as_layer() gives."""

    def __init__(self, ref):
        self._attributes = ref.attributes
        self.name = ref.name
        self.type = LayerType(ref.type)

    def __getattr__(self, name):
        if name == "plugin" and self.type == LayerType.PLUGIN_V2:
            return Plugin(self._attributes)
        if name not in self._attributes:
            known = ", ".join(sorted(self._attributes))
            raise AttributeError(f"{self.type.name} layer {self.name!r} has no {name!r}, it has {known}")
        value = self._attributes[name]
        return ElementWiseOperation(value) if name == "op" and self.type == LayerType.ELEMENTWISE else value


class Layer:
    """A layer of a network, for patterns."""

    def __init__(self, ref):
        self.ref = ref

    @property
    def name(self) -> str:
        return self.ref.name

    @name.setter
    def name(self, name: str):
        self.ref.name = name

    @property
    def network(self) -> "Network":
        return Network(self.ref.network)

    @property
    def location(self) -> str:
        return self.ref.location

    def as_layer(self) -> _View:
        """Type and attributes: `layer.as_layer().op`, `.plugin.plugin_type`."""
        return _View(self.ref)

    @property
    def trt_layer(self) -> _View:
        """The reference's name for as_layer()."""
        return self.as_layer()

    def get_inputs(self, *indices) -> "list[Tensor | None]":
        return self._pick([None if ref is None else Tensor(ref=ref) for ref in self.ref.inputs], indices)

    def get_outputs(self, *indices) -> list[Tensor]:
        return self._pick([Tensor(ref=ref) for ref in self.ref.outputs], indices)

    @staticmethod
    def _pick(values, indices):
        return [values[index] for index in indices] if indices else values

    def get_users(self) -> "list[Layer]":
        """The layers that read its outputs, each once."""
        return list({user.ref.id: user for output in self.get_outputs() for user in output.get_users()}.values())

    def is_removed(self):
        return self.ref.is_removed

    def mark_as_removed(self) -> None:
        """No pattern sees it any more, and it goes when nothing uses it: when the pattern is done, or now."""
        self.ref.mark_as_removed()

    def replace_input_with(self, old: Tensor, new: Tensor) -> None:
        for index, tensor in enumerate(self.get_inputs()):
            if tensor == old:
                self.ref.set_input(index, new.ref)

    def set_attribute(self, name: str, value) -> None:
        self.ref.set_attribute(name, value.value if isinstance(value, enum.Enum) else value)

    def __eq__(self, other):
        return isinstance(other, Layer) and self.ref.id == other.ref.id and self.network == other.network

    def __hash__(self):
        return hash(self.ref.id)

    def __repr__(self):
        return f"Layer({self.name!r}, {LayerType(self.ref.type).name})"


class Engine:
    """An engine built from a network: its serialized bytes, and calls."""

    def __init__(self, serialized: bytes, input_names, output_names):
        self.serialized = serialized
        self.input_names = input_names
        self.output_names = output_names
        self._module = _compile.embed_engine_in_new_module(serialized)

    def run(self, *inputs, **named):
        """Inputs in the network's order or by name, all numpy arrays or all torch tensors; outputs are of the same sort.

        One output comes as it is, several as a tuple in the network's order.
        """
        import torch

        values = list(inputs) + [named.pop(name) for name in self.input_names[len(inputs) :] if name in named]
        if named or len(values) != len(self.input_names):
            reject(f"expected the inputs {', '.join(self.input_names)}, got {len(values)} of them"
                   + (f" and {', '.join(named)}" if named else ""), "give every input once", "E003")
        arrays = [value for value in values if not isinstance(value, torch.Tensor)]
        with _errors.translated_errors():
            results = self._module.forward(*[torch.as_tensor(value) for value in values])
        results = results if isinstance(results, tuple) else (results,)
        if arrays:
            results = tuple(result.numpy() for result in results)
        return results[0] if len(results) == 1 else results


class Network:
    """A network definition."""

    def __init__(self, name="network"):
        if isinstance(name, str):
            self.box = _native.NetworkBox()
            self.box.name = name
        else:
            self.box = name

    @classmethod
    def parse(cls, text: str) -> "Network":
        return cls(_native.NetworkBox.parse(text))

    @property
    def name(self) -> str:
        return self.box.name

    @property
    def num_layers(self) -> int:
        return self.box.num_layers

    def get_inputs(self) -> list[Tensor]:
        return [Tensor(ref=ref) for ref in self.box.inputs]

    def get_outputs(self) -> dict[str, Tensor]:
        return {name: Tensor(ref=ref) for name, ref in self.box.outputs}

    def get_layers(self) -> list[Layer]:
        """Returns the layers in topological order."""
        return [Layer(ref) for ref in self.box.layers]

    def get_layer(self, name: str) -> "Layer | None":
        ref = self.box.find_layer(name)
        return None if ref is None else Layer(ref)

    get_layer_by_name = get_layer  # the reference's name

    def get_tensor(self, name: str) -> "Tensor | None":
        ref = self.box.find_tensor(name)
        return None if ref is None else Tensor(ref=ref)

    def add_symbol(self, name: str, min: int, opt: int, max: int) -> str:  # noqa: A002 - the names users write
        """A dimension that is known at run time only; its name stands for it in shapes."""
        self.box.add_symbol(name, min, opt, max)
        return name

    def add_layer(self, layer_type: LayerType, inputs, **attributes) -> list[Tensor]:
        """Adds any layer of docs/layers.md and returns its outputs. An operand or attribute that the layer does not take is an error
        here."""
        refs = [None if tensor is None else tensor.ref for tensor in inputs]
        values = {name: value.value if isinstance(value, enum.Enum) else value for name, value in attributes.items()}
        layer = self.box.add_layer(int(layer_type), refs, values, *_caller())
        return [Tensor(ref=ref) for ref in layer.outputs]

    def remove_input(self, tensor: Tensor) -> None:
        self.box.remove_input(tensor.ref)

    def unmark_output(self, name: str) -> None:
        self.box.unmark_output(name)

    def verify(self) -> None:
        self.box.verify()

    def clone(self) -> "Network":
        return Network(self.box.clone())

    def to_text(self, locations=False) -> str:
        return self.box.text(locations)

    def build(self) -> Engine:
        """Optimizes a copy and makes an engine of it."""
        return Engine(self.box.build(), [tensor.name for tensor in self.get_inputs()], list(self.get_outputs()))

    def __eq__(self, other):
        return isinstance(other, Network) and self.box is other.box

    def __hash__(self):
        return hash(self.box)

    def __str__(self):
        return self.to_text()


def load_plugin_library(path) -> None:
    """Registers the plugins of a shared library made with torchtrt/plugin.h."""
    _native.load_plugin_library(str(path))


def plugin_names() -> list[str]:
    return _native.plugin_names()
