"""Functions of one operator's one overload, by name: what no trace or script of usual code records, since PyTorch writes it in other terms."""

import torch

NAMES = "xyzvw"  # of the function's inputs


def _schema(name: str) -> torch.FunctionSchema:
    base, _, overload = name.partition(".")
    return next(schema for schema in torch._C._jit_get_schemas_for_operator(f"aten::{base}") if schema.overload_name == overload)


class _Text:
    """The lines of a graph in the making."""

    def __init__(self):
        self.lines: list[str] = []

    def add(self, kind: str, expression: str) -> str:
        self.lines.append(f"  %c{len(self.lines)} : {kind} = {expression}")
        return f"%c{len(self.lines) - 1}"

    def constant(self, value) -> str:
        if value is None:
            return self.add("NoneType", "prim::Constant()")
        text = f'"{value}"' if isinstance(value, str) else str(int(value) if isinstance(value, bool) else value)
        return self.add(type(value).__name__, f"prim::Constant[value={text}]()")

    def argument(self, value, kind: str) -> str:
        """An input by its name, or a constant; lists of either."""
        if isinstance(value, (list, tuple)):
            element = kind.removeprefix("Optional[").rstrip("]").removeprefix("List[")
            written = "Tensor?" if "Optional[Tensor" in kind.removeprefix("Optional[List") else {"Tensor": "Tensor", "float": "float"}.get(element, "int")
            return self.add(f"{written}[]", f"prim::ListConstruct({', '.join(self.argument(each, element) for each in value)})")
        if isinstance(value, str) and value in NAMES and "str" not in kind:
            return f"%{value}"
        return self.constant(float(value) if "float" in kind and value is not None else value)


def form(name: str, *given):
    """Calls aten::`name` with these arguments, the others as the schema has them, and returns its result, or the first. "x", "y" and so on
    are the function's inputs, in that order."""
    schema, text = _schema(name), _Text()
    values = [*given, *(each.default_value for each in schema.arguments[len(given):])]
    operands = [text.argument(value, str(each.type)) for value, each in zip(values, schema.arguments)]
    called = f"aten::{name.partition('.')[0]}({', '.join(operands)})"
    if str(schema.returns[0].type).startswith("List"):
        pieces, index = text.add("Tensor[]", called), text.constant(0)
        result = text.add("Tensor", f"aten::__getitem__({pieces}, {index})")
    else:
        outputs = [f"%r{i} : Tensor" for i in range(len(schema.returns))]
        text.lines.append(f"  {', '.join(outputs)} = {called}")
        result = "%r0"
    used = [letter for letter in NAMES if any(f"%{letter}{end}" in line for line in text.lines for end in ",)")]
    head = ", ".join(f"%{letter} : Tensor" for letter in NAMES[: NAMES.index(used[-1]) + 1])
    graph = torch._C.parse_ir(f"graph({head}):\n" + "\n".join(text.lines) + f"\n  return ({result})\n")
    function = torch._C._create_function_from_graph(f"form_{schema.name.split('::')[1]}", graph)
    return lambda *inputs: function(*inputs)
