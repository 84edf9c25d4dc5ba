"""Writes the nodes of an exported graph as statements of TorchScript: one call of torch.ops for each operator.

Knows nothing of a module's arguments and results: who writes a whole `forward` names the placeholders before.
"""

import operator
import pathlib
import re

import torch
from torch import fx

from torchtrt._exported import _symbols
from torchtrt._exported._literals import Unwritable, written

_ATEN = torch.ops.aten
# Checks of what the trace took for granted. The compiler drops checks inside of modules, so their operands need no operators either.
_CHECKS = {"aten::_assert_scalar", "aten::_assert_async", "aten::_assert_tensor_metadata", "aten::sym_constrain_range",
           "aten::sym_constrain_range_for_size", "aten::_functional_assert_scalar", "aten::_functional_assert_async"}
_SIZES = {"aten::sym_size": "{0}.size({1})", "aten::sym_numel": "{0}.numel()", "aten::sym_stride": "{0}.stride({1})",
          "aten::sym_storage_offset": "{0}.storage_offset()"}
_LINE = re.compile(r'File "([^"\n]+)", line (\d+)')
# The form of a list in which None stands for a dimension that is left alone.
_GAPS = "List[Optional[Tensor]]"


class Statements:
    """The lines of a function's body, and the name of each node's value."""

    def __init__(self):
        self.lines: list[str] = []
        self.tensors: dict[str, torch.Tensor] = {}  # that the graph holds itself, by the name of the attribute they become
        self._text: dict[fx.Node, str] = {}
        self._names: set[str] = set()
        self._indent = "    "

    def add(self, line: str) -> None:
        self.lines.append(self._indent + line)

    def name(self, wanted: str) -> str:
        """A name that nothing else has."""
        wanted = "".join(each if each.isalnum() else "_" for each in wanted) or "value"
        wanted = wanted if wanted[0].isalpha() else f"v{wanted}"
        name, count = f"{wanted}_" if wanted in _RESERVED else wanted, 0
        while name in self._names:
            count += 1
            name = f"{wanted}_{count}"
        self._names.add(name)
        return name

    def bind(self, node: fx.Node, text: str) -> None:
        self._text[node] = text

    def text(self, value) -> str:
        """Returns the text of a node's value, a constant, or a list of both."""
        if isinstance(value, fx.Node):
            return self._text[value]
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(self.text, value)) + "]"
        if isinstance(value, slice):
            raise Unwritable("a slice")
        return written(value)

    def write(self, module: fx.GraphModule):
        """All nodes between placeholders and output; gives the output's argument."""
        for node in module.graph.nodes:
            if node.op == "output":
                return node.args[0]
            if node.op == "get_attr":
                self._constant(module, node)
            elif node.op == "call_function":
                self._call(module, node)
            elif node.op != "placeholder":
                raise Unwritable(f"a node of kind {node.op} ({node.target})")
        raise Unwritable("a graph without output")

    def _constant(self, module, node) -> None:
        value = module
        for part in node.target.split("."):
            value = getattr(value, part)
        if isinstance(value, torch.Tensor):
            name = self.name(f"constant_{node.name}")
            self.tensors[name] = value
            self.bind(node, f"self.{name}")
        elif not isinstance(value, fx.GraphModule):  # those are branches, read where they are called
            raise Unwritable(f"an attribute of type {type(value).__name__}")

    def _call(self, module, node) -> None:
        target = node.target
        if isinstance(target, torch._ops.OpOverload):
            self._operator(node, target)
        elif isinstance(target, torch._ops.HigherOrderOperator):
            self._higher_order(module, node, target.name())
        elif target in (torch._C._set_grad_enabled, torch.amp._enter_autocast, torch.amp._exit_autocast):
            if target is not torch._C._set_grad_enabled:
                raise Unwritable("torch.autocast")
        elif target is operator.getitem:
            self.bind(node, f"{self.text(node.args[0])}[{written(node.args[1])}]")
        else:
            text = _symbols.expression(target, [self.text(each) for each in node.args])
            if text is None:
                raise Unwritable(f"a call of {getattr(target, '__name__', target)}")
            self._assign(node, text)

    def _assign(self, node, text) -> None:
        name = self.name(node.name)
        self.bind(node, name)
        self.add(f"{name} = {text}{_place(node)}")

    def _operator(self, node, target) -> None:
        kind = target._schema.name
        if kind.startswith("prims::"):
            return self._primitive(node, kind)
        if kind in _CHECKS:
            if target._schema.returns:
                raise Unwritable(kind)
            return
        if kind in _SIZES:
            self._assign(node, _SIZES[kind].format(*(self.text(each) for each in node.args)))
        elif kind == "aten::_local_scalar_dense" or target is _ATEN.item.default:
            self._assign(node, f"{_number(node.args[0])}({self.text(node.args[0])}.item())")
        elif not target._schema.returns:
            self.add(f"torch.ops.{self._function(target)}({self._arguments(node, target)})")
        else:
            self._assign(node, f"torch.ops.{self._function(target)}({self._arguments(node, target)})")

    def _primitive(self, node, kind: str) -> None:
        """These are written in Python, and a saved module has none."""
        if kind == "prims::convert_element_type":
            self._assign(node, f"torch.ops.aten.to({self.text(node.args[0])}, {self.text(node.args[1])})")
        elif kind == "prims::view_of":
            self.bind(node, self.text(node.args[0]))
        else:
            raise Unwritable(kind)

    @staticmethod
    def _function(target) -> str:
        return target._schema.name.replace("::", ".")

    def _arguments(self, node, target) -> str:
        """Returns the arguments without trailing ones that have their default, which older overloads lack."""
        arguments = target._schema.arguments
        plain = [each for each in arguments if not each.kwarg_only]
        positional = [(of, value) for of, value in zip(plain, node.args)]
        while positional and positional[-1][0].has_default_value() and _is_default(positional[-1]):
            positional.pop()
        named = [(of, node.kwargs[of.name]) for of in arguments if of.name in node.kwargs]
        texts = [self._tensor_of(value) if _is_number_for_a_tensor(target, i, of, value) else self._argument(of, value)
                 for i, (of, value) in enumerate(positional)]
        texts += [f"{of.name}={self._argument(of, value)}" for of, value in named if not (of.has_default_value() and _is_default((of, value)))]
        return ", ".join(texts)

    def _tensor_of(self, number) -> str:
        return f"torch.ops.aten.scalar_tensor({self.text(number)}, dtype={_dtype_of(number)})"

    def _argument(self, of, value) -> str:
        if isinstance(value, (list, tuple)) and "Optional[Tensor]" in str(of.type) or str(of.type) == "List[Optional[Tensor]]":
            name = self.name("indices")
            self.add(f"{name} = torch.jit.annotate({_GAPS}, {self.text(value)})")
            return name
        if isinstance(value, (list, tuple)) and not value:
            return f"torch.jit.annotate({_list_of(of)}, [])"
        return self.text(value)

    def _higher_order(self, module, node, kind: str) -> None:
        if kind == "wrap_with_set_grad_enabled":
            self.bind(node, self.text(list(self._inlined(module, node.args[1], node.args[2:]))))
        elif kind == "cond":
            self._condition(module, node)
        else:
            raise Unwritable(f"torch.ops.higher_order.{kind}")

    def _inlined(self, module, branch, arguments):
        """The results of a graph within this one, written out here."""
        inner = getattr(module, branch.target)
        for placeholder, argument in zip(inner.graph.find_nodes(op="placeholder"), arguments):
            self.bind(placeholder, self.text(argument))
        return self.write(inner)

    def _condition(self, module, node) -> None:
        predicate, on_true, on_false, operands = node.args
        results = [self.name(f"{node.name}_{i}") for i in range(len(node.meta["val"]))]
        for head, branch in (f"if bool({self.text(predicate)}):", on_true), ("else:", on_false):
            self.add(head)
            self._indent += "    "
            for name, value in zip(results, self._inlined(module, branch, operands), strict=True):
                self.add(f"{name} = {self.text(value)}")
            self._indent = self._indent[:-4]
        self.bind(node, "[" + ", ".join(results) + "]")


_RESERVED = {"self", "torch", "math", "int", "float", "bool", "max", "min", "sum", "abs", "round", "complex", "getattr", "Tensor", "List", "Optional",
             "and", "or", "not", "if", "else", "in", "is", "for", "while", "return", "def", "class", "from", "import", "lambda", "with", "as", "pass",
             "None", "True", "False", "print", "range", "len", "assert", "raise", "del", "global", "try", "except", "yield", "break", "continue"}


def _is_number_for_a_tensor(target, position: int, of, value) -> bool:
    """Python takes numbers for tensors; TorchScript does where an overload takes a number as its second operand."""
    if str(of.type) != "Tensor" or isinstance(value.meta.get("val") if isinstance(value, fx.Node) else value, torch.Tensor):
        return False
    return position != 1 or not any("Scalar" in name for name in target.overloadpacket.overloads())


def _dtype_of(number) -> str:
    value = number.meta["val"] if isinstance(number, fx.Node) else number
    if isinstance(value, (bool, torch.SymBool)):
        return "torch.bool"
    return "torch.int64" if isinstance(value, (int, torch.SymInt)) else str(torch.get_default_dtype())


def _number(node) -> str:
    """The type of the number in a tensor."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.is_complex():
        raise Unwritable("a number whose type is not known")
    return "float" if value.is_floating_point() else "bool" if value.dtype == torch.bool else "int"


def _place(node) -> str:
    """Returns the node's place in the model's source as a comment. Reports and errors of the compiled module quote the line."""
    places = _LINE.findall(node.meta.get("stack_trace") or "")
    return f"  # {pathlib.Path(places[-1][0]).name}:{places[-1][1]}" if places else ""


def _is_default(given) -> bool:
    of, value = given
    return not isinstance(value, fx.Node) and type(value) is type(of.default_value) and value == of.default_value


def _list_of(of) -> str:
    text = str(of.type)
    return "List[Tensor]" if "Tensor" in text else "List[float]" if "float" in text else "List[bool]" if "bool" in text else "List[int]"
