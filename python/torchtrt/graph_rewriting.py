"""Graph rewriting: patterns that change a network layer by layer, and patterns that only look at one.

    class Replace(PatternRewriter):
        def __init__(self):
            super().__init__("replace", root_layer={trt.LayerType.ELEMENTWISE}, separate_match_rewrite=True)
        def match(self, layer): ...
        def rewrite(self, layer): ...

    manager = RewritePatternManager()
    manager.add(label="replace", pattern=Replace(), benefit=1)
    manager.rewrite(net, args={"batch_size": 8})

It is the mechanism of the optimizer's own passes: docs/graph_rewriting.md.
"""

import functools
import inspect
import os
from typing import Any

from torchtrt import _errors, _libraries, logging
from torchtrt.network import Layer, LayerType, Network, Tensor, default_net, net_guard, reject

__all__ = [
    "AnalysisPatternManager", "FLayerInfo", "FLayerInfoMemo", "FuseAttentionWithBiasPass", "Layer", "LayerType", "Network",
    "PatternAnalyzer", "PatternRewriter", "RewritePatternManager", "Tensor", "net_guard", "record_signature",
]

_native = _libraries.extension()


def _unwrap(value):
    """Tensors become their references, inside lists too."""
    if isinstance(value, Tensor):
        return value.ref
    if isinstance(value, (list, tuple)) and value and all(isinstance(each, Tensor) for each in value):
        return [each.ref for each in value]
    return value


def _wrap(value):
    if isinstance(value, _native.TensorRef):
        return Tensor(ref=value)
    if isinstance(value, list):
        return [_wrap(each) for each in value]
    return value


def _symbol(value):
    """The class Tensor for a tensor, inside lists too; other values as they are."""
    if isinstance(value, Tensor):
        return Tensor
    return [_symbol(each) for each in value] if isinstance(value, (list, tuple)) else value


class FLayerInfo:
    """One recorded call of a function: its arguments, its outputs, its layers. It follows every edit of the network."""

    def __init__(self, ref):
        self._ref = ref

    @property
    def function(self) -> str:
        return self._ref.function

    @property
    def layer_kind(self) -> str:
        """The reference's name for `function`."""
        return self.function

    @property
    def layer_name(self) -> str:
        """The name of the layer that makes the first output."""
        parent = self.raw_outputs[0].get_parent() if self.raw_outputs else None
        return self.layers[-1].name if parent is None else parent.name

    @property
    def raw_inputs(self) -> dict:
        """All arguments by name; a copy, as clone_inputs() gives."""
        return self.clone_inputs()

    @property
    def signature(self) -> tuple:
        """The function and its arguments, with the class Tensor in place of every tensor: equal for calls that differ in tensors alone."""
        return self.function, {name: _symbol(value) for name, value in self.clone_inputs().items()}

    @property
    def raw_outputs(self) -> list:
        return _wrap(self._ref.outputs)

    @property
    def layers(self) -> list[Layer]:
        return [Layer(ref) for ref in self._ref.layers]

    def get_input(self, name: str):
        """The argument of this name: a tensor, a list of them or a value of Python."""
        inputs = self.clone_inputs()
        if name not in inputs:
            reject(f"function {self.function!r} has no argument {name!r}", "its arguments are " + ", ".join(inputs))
        return inputs[name]

    def clone_inputs(self) -> dict:
        """All arguments by name; change what differs and call the function with the rest."""
        return {name: _wrap(value) for name, value in self._ref.clone_inputs().items()}

    def replace_input_with(self, src: Tensor, dst: Tensor) -> None:
        """The record and its layers read `dst` where they read `src`."""
        self._ref.replace_input_with(src.ref, dst.ref)

    def replace_output_uses_with(self, network: Network, src, dst: "Tensor | None" = None) -> None:
        """Lets the readers of the output `src` read `dst`, whose shape and dtype may differ if the readers take them.

        With one argument, it is a new tensor for each output: replace_outputs_uses_with.
        """
        if dst is None:
            self.replace_outputs_uses_with(network, src)
        else:
            self._ref.replace_output_uses_with(src.ref, dst.ref)

    def replace_outputs_uses_with(self, network: Network, new_outs) -> None:
        """The same for all outputs; new_outs is a tensor, or one for each output."""
        tensors = [new_outs] if isinstance(new_outs, Tensor) else list(new_outs)
        self._ref.replace_outputs_uses_with([tensor.ref for tensor in tensors])

    def __eq__(self, other):
        return isinstance(other, FLayerInfo) and self._ref.identity == other._ref.identity

    def __hash__(self):
        return hash(self._ref.identity)


class FLayerInfoMemo:
    """The records of one network."""

    def __init__(self, network: Network):
        self._network = network

    @staticmethod
    def instance() -> "FLayerInfoMemo":
        """The memo of the network that is current, which is the one being rewritten while patterns run."""
        return FLayerInfoMemo(default_net())

    def get(self, layer_name: str) -> "FLayerInfo | None":
        ref = _native.flayer_info(self._network.box, layer_name)
        return None if ref is None else FLayerInfo(ref)

    def __len__(self):
        return _native.flayer_info_count(self._network.box)


def record_signature(function=None, *, name=None):
    """Records every call of a function that adds layers, so that FLayerInfoMemo finds it by the names of those layers."""
    if function is None:
        return functools.partial(record_signature, name=name)
    signature = inspect.signature(function)

    @functools.wraps(function)
    def recorded(*positional, **named):
        bound = signature.bind(*positional, **named)
        bound.apply_defaults()
        arguments = {key: _unwrap(value) for key, value in bound.arguments.items()}
        record = _native.OpenRecord(default_net().box, name or function.__name__, arguments)
        try:
            outputs = function(*positional, **named)
            tensors = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            record.finish([each.ref for each in tensors if isinstance(each, Tensor)])
            return outputs
        finally:
            record.close()

    return recorded


class _Pattern:
    def __init__(self, name: str, root_layer=None):
        self.name = name
        self.root_layer = None if root_layer is None else set(root_layer)
        self.args = None  # what the manager was given, while it runs

    def log_info(self, message: str) -> None:
        logging.log(logging.Level.Info, f"pattern {self.name}: {message}")

    def log_warn(self, message: str) -> None:
        logging.log(logging.Level.Warning, f"pattern {self.name}: {message}")

    def log_error(self, message: str) -> None:
        logging.log(logging.Level.Error, f"pattern {self.name}: {message}")


class PatternRewriter(_Pattern):
    """Changes a network. Override match and rewrite, or match_and_rewrite where state passes from one to the other.

    root_layer: the kinds of layers that are offered; all by default. separate_match_rewrite: use match and rewrite; match
    then may not change the network. seperate_match_rewrite: the same, as the reference spells it.
    """

    def __init__(self, name: str, root_layer=None, separate_match_rewrite=False, *, seperate_match_rewrite=False):
        super().__init__(name, root_layer)
        self.separate_match_rewrite = separate_match_rewrite or seperate_match_rewrite

    def match(self, layer: Layer) -> bool:
        raise NotImplementedError(f"pattern {self.name!r} overrides neither match nor match_and_rewrite")

    def rewrite(self, layer: Layer) -> None:
        raise NotImplementedError(f"pattern {self.name!r} overrides match but neither rewrite nor match_and_rewrite")

    def match_and_rewrite(self, layer: Layer) -> bool:
        if not _looking(layer.ref.network, lambda: self.match(layer)):
            return False
        self.rewrite(layer)
        return True


class PatternAnalyzer(_Pattern):
    """Looks at a network. match returns True, or the layers that it found, for analyze to look at."""

    def match(self, layer: Layer):
        raise NotImplementedError(f"pattern {self.name!r} does not override match")

    def analyze(self, subgraph: list[Layer]) -> None:
        raise NotImplementedError(f"pattern {self.name!r} does not override analyze")


def _looking(box, body):
    """Runs what may only look."""
    before = box.read_only
    box.read_only = True
    try:
        return body()
    finally:
        box.read_only = before


_instances: dict[type, Any] = {}  # of each kind of manager, that of the whole process


class _Manager:
    def __init__(self):
        self._entries: dict[str, tuple[Any, int]] = {}

    @classmethod
    def instance(cls):
        """The manager of the whole process, to which modules add their patterns."""
        if cls not in _instances:
            _instances[cls] = cls()
        return _instances[cls]

    def add(self, label: str, pattern, benefit: int = 0) -> None:
        """Higher benefit is tried first, ties in order of addition. Labels are unique."""
        if label in self._entries:
            reject(f"a pattern labelled {label!r} is in the manager already", "give each pattern its own label", "C003")
        self._entries[label] = (pattern, benefit)

    def get(self, label: str):
        """The pattern of this label; None when there is none."""
        return self._entries.get(label, (None, 0))[0]

    def _with_args(self, args, body):
        for pattern, _ in self._entries.values():
            pattern.args = args
        try:
            return body()
        finally:
            for pattern, _ in self._entries.values():
                pattern.args = None


class RewritePatternManager(_Manager):
    def rewrite(self, net: Network, args=None, max_rewrites=0) -> dict[str, int]:
        """Applies the patterns until none matches and verifies the network. Returns rewrites by label.

        args: for patterns, as self.args. max_rewrites: after so many it is an error; 0: in proportion to the network.
        With TORCHTRT_STRICT=1 in the environment the network is verified after every rewrite, which names the culprit.
        An error of a pattern names it and the layer, has the pattern's exception as its cause, and leaves the network as
        it was.
        """
        return self._with_args(args, lambda: self._rewrite(net, max_rewrites))

    def _rewrite(self, net, max_rewrites):
        native = _native.RewriteManager()
        raised: list[BaseException] = []
        for label, (pattern, benefit) in self._entries.items():
            roots = [int(kind) for kind in sorted(pattern.root_layer)] if pattern.root_layer else []
            native.add(label, pattern.name, roots, benefit, functools.partial(self._offer, pattern, raised))
        try:
            return dict(native.rewrite(net.box, max_rewrites, os.environ.get("TORCHTRT_STRICT") == "1"))
        except _errors.Error as error:
            if raised and not isinstance(raised[-1], Exception):
                raise raised[-1] from None  # an interrupt
            raise error from (raised[-1] if raised else None)

    @staticmethod
    def _offer(pattern, raised, ref):
        layer = Layer(ref)
        try:
            with net_guard(layer.network):
                if not pattern.separate_match_rewrite:
                    return bool(pattern.match_and_rewrite(layer))
                if not _looking(ref.network, lambda: pattern.match(layer)):
                    return False
                pattern.rewrite(layer)
                return True
        except BaseException as error:
            raised.append(error)
            raise


class AnalysisPatternManager(_Manager):
    def analyze(self, net: Network, args=None) -> None:
        """Offers every layer once, in topological order, to every pattern. Patterns cannot change the network."""
        ordered = sorted(self._entries.items(), key=lambda item: -item[1][1])
        with net_guard(net):
            self._with_args(args, lambda: _looking(net.box, lambda: self._analyze(net, ordered)))

    @staticmethod
    def _analyze(net, ordered):
        for layer in net.get_layers():
            for label, (pattern, _) in ordered:
                if pattern.root_layer is not None and layer.as_layer().type not in pattern.root_layer:
                    continue
                try:
                    found = pattern.match(layer)
                    if found:
                        pattern.analyze([layer] if found is True else list(found))
                except _errors.Error:
                    raise
                except Exception as error:
                    raise _errors.CompileError(
                        f"[C005] pattern '{label}' on layer '{layer.name}': {type(error).__name__}: {error}") from error


class FuseAttentionWithBiasPass(PatternRewriter):
    """Gives the constant that is added to the queries, keys and values of gpt_attention to the plugin as qkv_bias."""

    def __init__(self):
        super().__init__("fuse_attention_with_bias", root_layer={LayerType.PLUGIN_V2})

    @staticmethod
    def _bias(tensor):
        """(x, bias) of x + bias where bias is one constant per channel that the function takes; else None."""
        parent = tensor.get_parent()
        if parent is None or parent.as_layer().type != LayerType.ELEMENTWISE or parent.as_layer().op.value != "sum":
            return None
        if getattr(parent.as_layer(), "activation", ""):
            return None
        for x, bias in (parent.get_inputs(0, 1), parent.get_inputs(1, 0)):
            if bias.constant() is not None and bias.shape == tensor.shape[-1:] and x.shape == tensor.shape:
                return x, bias
        return None

    def match_and_rewrite(self, layer: Layer) -> bool:
        plugin = layer.as_layer().plugin
        if plugin.plugin_namespace != "tensorrt_llm" or plugin.plugin_type != "GPTAttention":
            return False
        flayer = FLayerInfoMemo.instance().get(layer.name)
        if flayer is None or flayer.get_input("qkv_bias") is not None:
            return False
        found = self._bias(flayer.get_input("qkv"))
        if found is None:
            return False
        from torchtrt import functional

        inputs = flayer.clone_inputs()
        inputs["qkv"], inputs["qkv_bias"] = found
        flayer.replace_outputs_uses_with(layer.network, functional.gpt_attention(**inputs))
        layer.mark_as_removed()
        return True
