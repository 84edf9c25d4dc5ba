"""Random small TorchScript programs: views, in-place writes, branches, loops, lists, tuples and scalars in every mixture.

All have one signature: x and y are floating [B, 3], k is int64 [B, 3], n is an int; the module holds w [3, 3], v [3] and c [3, 3, 3].
A program is a tree of statements, so that a failing one can be made smaller: see program_fuzz.py.
"""

import dataclasses
import random

B = "B"  # the size of the batch, which no program knows as a number
UNARY = ["torch.relu", "torch.sigmoid", "torch.tanh", "torch.abs", "torch.neg", "torch.exp(-torch.abs({}))", "torch.sqrt(torch.abs({}) + 1.0)",
         "torch.sin", "torch.lgamma(torch.abs({}) + 1.0)", "torch.clamp({}, -1.0, 1.0)", "torch.softmax({}, -1)", "torch.log1p(torch.abs({}))",
         "torch.special.erfcx(torch.abs({}))", "torch.nn.functional.gelu({})", "{}.clone()", "{}.contiguous()", "torch.cumsum({}, -1)"]
BINARY = ["{} + {}", "{} - {}", "{} * torch.tanh({})", "{} / (torch.abs({}) + 1.0)", "torch.maximum({}, {})", "torch.minimum({}, {})",
          "torch.where({0} > {1}, {0}, {1})", "torch.add({}, {}, alpha=2)", "torch.hypot({}, {})", "torch.atan2({}, {})"]
INTEGER_BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} // (torch.abs({}) + 1)", "{} % (torch.abs({}) + 1)", "torch.maximum({}, {})"]
IN_PLACE_UNARY = [".relu_()", ".neg_()", ".tanh_()", ".zero_()", ".fill_(0.5)", ".mul_(0.5)", ".add_(1.0)", ".sigmoid_()"]
IN_PLACE_BINARY = [".add_({})", ".mul_({})", ".sub_({})", ".copy_({})"]


@dataclasses.dataclass
class Line:
    text: str


@dataclasses.dataclass
class Compound:
    """A branch or loop: each part is a header and its statements."""

    parts: list[tuple[str, list]]


@dataclasses.dataclass
class Program:
    body: list
    returned: list[str]
    dtype: str = "float64"
    is_dynamic: bool = False

    def source(self) -> str:
        lines = []
        render(self.body, 1, lines)
        lines.append("    return " + (self.returned[0] if len(self.returned) == 1 else "(" + ", ".join(self.returned) + ")"))
        return "def forward(self, x: Tensor, y: Tensor, k: Tensor, n: int):\n" + "\n".join(lines) + "\n"


def render(body, depth, lines) -> None:
    for statement in body:
        if isinstance(statement, Line):
            lines.append("    " * depth + statement.text)
        else:
            for header, inner in statement.parts:
                lines.append("    " * depth + header)
                render(inner, depth + 1, lines)
                if not inner:
                    lines.append("    " * (depth + 1) + "pass")


class Scope(dict):
    """Names with their types: ("tensor", dtype, shape), ("int",), ("float",), ("bool",), ("list", dtype, shape, length),
    ("tuple", types). A dtype is "f", "i" or "b"."""

    def tensors(self, dtype="f", accept=lambda shape: True):
        return [name for name, kind in self.items() if kind[0] == "tensor" and kind[1] == dtype and accept(kind[2])]

    def named(self, kind):
        return [name for name, of in self.items() if of[0] == kind]


def broadcast(a, b):
    """The shape of an elementwise result, None where there is none."""
    result = []
    for i in range(max(len(a), len(b))):
        one = a[len(a) - 1 - i] if i < len(a) else 1
        two = b[len(b) - 1 - i] if i < len(b) else 1
        if one != two and 1 not in (one, two):
            return None
        result.append(two if one == 1 else one)
    return tuple(reversed(result))


class Generator:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.count = 0
        self.makers = [
            (self.unary, 6), (self.binary, 6), (self.integers, 2), (self.comparison, 2), (self.where, 1), (self.scalar_operand, 3),
            (self.layer, 3), (self.view, 6), (self.join, 3), (self.reduce, 2), (self.in_place, 6), (self.write_part, 3),
            (self.reassign, 2), (self.scalar, 4), (self.data_scalar, 1), (self.make_list, 2), (self.use_list, 2), (self.make_tuple, 1),
            (self.use_tuple, 1), (self.branch, 3), (self.loop, 3), (self.fill, 1), (self.sizes, 1)]

    def program(self) -> Program:
        shape = (B, 3)
        scope = Scope(x=("tensor", "f", shape), y=("tensor", "f", shape), k=("tensor", "i", shape), n=("int",))
        body = self.block(scope, 0, self.random.randint(3, 14))
        made = [name for name in scope if name not in ("x", "y", "k", "n")]
        returned = self.random.sample(made, min(len(made), self.random.randint(1, 4)))
        if self.random.random() < 0.2:
            returned.append(self.random.choice(["x", "y", *returned]))
        return Program(body, returned or ["x"], self.random.choice(["float64", "float32"]), self.random.random() < 0.5)

    def block(self, scope, depth, size) -> list:
        body = []
        for _ in range(size):
            for _ in range(20):
                maker = self.random.choices([m for m, _ in self.makers], [w for _, w in self.makers])[0]
                made = maker(scope, depth)
                if made is not None:
                    body.append(made)
                    break
        return body

    def name(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def define(self, scope, kind, expression):
        name = self.name()
        scope[name] = kind
        return Line(f"{name} = {expression}")

    def tensor(self, scope, expression, shape, dtype="f"):
        return self.define(scope, ("tensor", dtype, tuple(shape)), expression)

    def pick(self, names):
        return self.random.choice(names) if names else None

    # These compute.

    def unary(self, scope, depth):
        a = self.pick(scope.tensors("f", len))
        if a is None:
            return None
        template = self.random.choice(UNARY)
        return self.tensor(scope, template.format(a) if "{" in template else f"{template}({a})", scope[a][2])

    def pair(self, scope, dtype):
        a = self.pick(scope.tensors(dtype))
        if a is None:
            return None
        b = self.pick(scope.tensors(dtype, lambda shape: broadcast(scope[a][2], shape) is not None))
        return a, b, broadcast(scope[a][2], scope[b][2])

    def binary(self, scope, depth):
        found = self.pair(scope, "f")
        return found and self.tensor(scope, self.random.choice(BINARY).format(*found[:2]), found[2])

    def integers(self, scope, depth):
        found = self.pair(scope, "i")
        return found and self.tensor(scope, self.random.choice(INTEGER_BINARY).format(*found[:2]), found[2], "i")

    def comparison(self, scope, depth):
        found = self.pair(scope, self.random.choice("fib"))
        if found is None:
            return None
        a, b, shape = found
        sign = self.random.choice(["&", "|", "^"] if scope[a][1] == "b" else [">", "<", ">=", "!="])
        return self.tensor(scope, f"{a} {sign} {b}", shape, "b")

    def where(self, scope, depth):
        found = self.pair(scope, "f")
        mask = found and self.pick(scope.tensors("b", lambda shape: broadcast(shape, found[2]) == found[2]))
        if not mask:
            return None
        template = self.random.choice(["torch.where({m}, {a}, {b})", "({a} + {b}).masked_fill({m}, 0.25)", "({a} - {b}) * {m}"])
        return self.tensor(scope, template.format(m=mask, a=found[0], b=found[1]), found[2])

    def scalar_operand(self, scope, depth):
        a = self.pick(scope.tensors("f"))
        number = self.pick(scope.named("int") + scope.named("float") + ["2", "0.5"])
        if a is None:
            return None
        template = self.random.choice(["{a} + {n}", "{n} - {a}", "{a} * {n}", "torch.add({a}, {a}, alpha={n})", "torch.clamp({a}, max={n})"])
        return self.tensor(scope, template.format(a=a, n=number), scope[a][2])

    def layer(self, scope, depth):
        a = self.pick(scope.tensors("f", lambda shape: len(shape) >= 2 and shape[-1] == 3))
        if a is None:
            return None
        shape = scope[a][2]
        choices = [f"torch.nn.functional.linear({a}, self.w, self.v)", f"torch.matmul({a}, self.w)", f"{a} @ self.w.t()",
                   f"torch.nn.functional.layer_norm({a}, [3], self.v, self.v)"]
        if len(shape) == 2:
            choices.append(f"torch.nn.functional.conv1d({a}.unsqueeze(-1).expand(-1, -1, 4), self.c, self.v, padding=[1]).mean(-1)")
            choices.append(f"torch.addmm(self.v, {a}, self.w)")
        return self.tensor(scope, self.random.choice(choices), shape)

    def reduce(self, scope, depth):
        a = self.pick(scope.tensors("f", lambda shape: len(shape) >= 1))
        if a is None:
            return None
        shape = scope[a][2]
        axis = self.random.randrange(len(shape))
        function = self.random.choice(["sum", "mean", "amax"])
        if self.random.random() < 0.5:
            return self.tensor(scope, f"{a}.{function}({axis}, True)", shape[:axis] + (1,) + shape[axis + 1:])
        return self.tensor(scope, f"{a}.{function}({axis})", shape[:axis] + shape[axis + 1:])

    def fill(self, scope, depth):
        a = self.pick(scope.tensors("f"))
        if a is None:
            return None
        template = self.random.choice(["torch.zeros_like({})", "torch.ones_like({})", "torch.full_like({}, 0.75)", "torch.empty_like({}).fill_(1.5)"])
        return self.tensor(scope, template.format(a), scope[a][2])

    # These look at the same memory, or put pieces together.

    def view(self, scope, depth):
        dtype = self.random.choice("ffffi")
        a = self.pick(scope.tensors(dtype, len))
        if a is None:
            return None
        shape = scope[a][2]
        last = len(shape) - 1
        choices = [(f"{a}.unsqueeze(0)", (1, *shape)), (f"{a}.unsqueeze(-1)", (*shape, 1)), (f"{a}.view_as({a})", shape),
                   (f"{a}[:, :]" if last else f"{a}[:]", shape), (f"{a}.detach()", shape), (f"{a}.flip([{last}])", shape)]
        if len(shape) < 4:
            choices.append((f"{a}.expand(2, {', '.join('-1' for _ in shape)})", (2, *shape)))
        if last:
            choices.append((f"{a}.transpose(0, {last})", (shape[last], *shape[1:last], shape[0])))
            choices.append((f"{a}.permute({', '.join(str(i) for i in reversed(range(len(shape))))})", tuple(reversed(shape))))
            if B not in shape[1:]:
                product = 1
                for size in shape[1:]:
                    product *= size
                choices.append((f"{a}.reshape({a}.size(0), -1)", (shape[0], product)))
                choices.append((f"torch.flatten({a}, 1)", (shape[0], product)))
        for axis, size in enumerate(shape):
            choices.append((f"{a}.select({axis}, 0)", shape[:axis] + shape[axis + 1:]))
            if size == 1:
                choices.append((f"{a}.squeeze({axis})", shape[:axis] + shape[axis + 1:]))
            if size != B and size > 1:
                choices.append((f"{a}.narrow({axis}, 1, {size - 1})", shape[:axis] + (size - 1,) + shape[axis + 1:]))
                choices.append((f"torch.split({a}, [1, {size - 1}], {axis})[1]", shape[:axis] + (size - 1,) + shape[axis + 1:]))
        expression, shape = self.random.choice(choices)
        return self.tensor(scope, expression, shape, dtype) if len(shape) < 5 else None

    def join(self, scope, depth):
        a = self.pick(scope.tensors("f", len))
        if a is None:
            return None
        shape = scope[a][2]
        b = self.pick(scope.tensors("f", lambda other: other == shape))
        axis = self.random.randrange(len(shape))
        if shape[axis] == B or self.random.random() < 0.4:
            return self.tensor(scope, f"torch.stack([{a}, {b}], {axis})", shape[:axis] + (2,) + shape[axis:]) if len(shape) < 4 else None
        return self.tensor(scope, f"torch.cat([{a}, {b}], {axis})", shape[:axis] + (2 * shape[axis],) + shape[axis + 1:])

    # These write.

    def in_place(self, scope, depth):
        a = self.pick(scope.tensors("f"))
        if a is None:
            return None
        shape = scope[a][2]
        b = self.pick(scope.tensors("f", lambda other: broadcast(other, shape) == shape))
        if self.random.random() < 0.4:
            return Line(a + self.random.choice(IN_PLACE_UNARY))
        return Line(a + self.random.choice(IN_PLACE_BINARY).format(b))

    def write_part(self, scope, depth):
        a = self.pick(scope.tensors("f", lambda shape: len(shape) >= 1))
        if a is None:
            return None
        shape = scope[a][2]
        axis = self.random.randrange(len(shape))
        index = ", ".join([":"] * axis + [self.random.choice(["0", "-1", ":1", "0:1"])])
        b = self.pick(scope.tensors("f", lambda other: broadcast(other, shape[axis + 1:]) == shape[axis + 1:]))
        value = b if b and self.random.random() < 0.5 else self.random.choice(["0.5", "1.0"])
        return Line(f"{a}[{index}] {self.random.choice(['=', '=', '+=', '*='])} {value}")

    def reassign(self, scope, depth):
        a = self.pick([name for name in scope.tensors("f") if name.startswith("t")])
        if a is None:
            return None
        shape = scope[a][2]
        b = self.pick(scope.tensors("f", lambda other: broadcast(other, shape) == shape))
        return Line(self.random.choice([f"{a} = {a} + {b}", f"{a} = torch.tanh({a})", f"{a} = {b} * 0.5 + torch.zeros_like({a})", f"{a} += {b}"]))

    # Numbers, lists, tuples.

    def scalar(self, scope, depth):
        integers, floats = scope.named("int"), scope.named("float")
        kind = self.random.choice(["int", "int", "float", "bool", "count"])
        if kind == "count":
            counter = self.pick([name for name in integers if name.startswith("t")])
            return Line(f"{counter} = {counter} + 1") if counter else None
        i, j = self.pick(integers), self.pick([*integers, "2", "3"])
        if kind == "int":
            a = self.pick(scope.tensors("f", len))
            choices = [f"{i} + {j}", f"{i} * 2 - {j}", f"{i} % 3", f"min({i}, {j})", f"int({i} > {j})", *([f"{a}.size(0)", f"{a}.dim()", f"{a}.shape[-1]"] if a else [])]
            return self.define(scope, ("int",), self.random.choice(choices))
        if kind == "float":
            return self.define(scope, ("float",), self.random.choice([f"float({i})", f"{i} / 4", f"{self.pick([*floats, '0.5'])} * 0.5"]))
        return self.define(scope, ("bool",), self.random.choice([f"{i} > {j}", f"{i} == {j}", f"{i} % 2 == 0"]))

    def data_scalar(self, scope, depth):
        a = self.pick(scope.tensors("f"))
        if a is None:
            return None
        kind, expression = self.random.choice([("bool", f"bool({a}.sum() > 0)"), ("int", f"int(({a} > 0).sum())"), ("float", f"float(torch.tanh({a}).mean())")])
        return self.define(scope, (kind,), expression)

    def make_list(self, scope, depth):
        a = self.pick(scope.tensors("f"))
        if a is None:
            return None
        alike = scope.tensors("f", lambda shape: shape == scope[a][2])
        elements = [self.pick(alike) for _ in range(self.random.randint(1, 3))]
        return self.define(scope, ("list", "f", scope[a][2], len(elements)), "[" + ", ".join(elements) + "]")

    def use_list(self, scope, depth):
        a = self.pick(scope.named("list"))
        if a is None:
            return None
        _, dtype, shape, length = scope[a]
        choice = self.random.choice(["item", "stack", "append", "write", "unpack", "len"])
        if choice == "append":
            b = self.pick(scope.tensors("f", lambda other: other == shape))
            if depth or b is None:
                return None
            scope[a] = ("list", dtype, shape, length + 1)
            return Line(f"{a}.append({b})")
        if choice == "write":
            b = self.pick(scope.tensors("f", lambda other: other == shape))
            return Line(f"{a}[{self.random.randrange(length)}] = {b}") if b else None
        if choice == "len":
            return self.define(scope, ("int",), f"len({a})")
        if choice == "stack":
            return self.tensor(scope, f"torch.stack({a}, 0)", (length, *shape), dtype) if len(shape) < 4 else None
        if choice == "unpack" and length == 2 and not depth:
            one, two = self.name(), self.name()
            scope[one] = scope[two] = ("tensor", dtype, shape)
            return Line(f"{one}, {two} = {a}[0], {a}[1]")
        return self.tensor(scope, f"{a}[{self.random.randrange(-length, length)}]", shape, dtype)

    def make_tuple(self, scope, depth):
        names = [name for name, kind in scope.items() if kind[0] in ("tensor", "int", "float", "list")]
        chosen = [self.pick(names) for _ in range(self.random.randint(2, 3))]
        return self.define(scope, ("tuple", [scope[name] for name in chosen]), "(" + ", ".join(chosen) + ")")

    def use_tuple(self, scope, depth):
        a = self.pick(scope.named("tuple"))
        if a is None:
            return None
        index = self.random.randrange(len(scope[a][1]))
        if scope[a][1][index][0] == "list" and depth:
            return None
        return self.define(scope, scope[a][1][index], f"{a}[{index}]")

    def sizes(self, scope, depth):
        a = self.pick(scope.tensors("f", lambda shape: len(shape) == 2))
        b = a and self.pick(scope.tensors("f", lambda shape: shape == scope[a][2]))
        same = f"({a}.size(0), {a}.size(1))"
        return b and self.tensor(scope, self.random.choice([
            f"{b}.view{same} if {b}.is_contiguous() else {b} * 1.0", f"{b}.contiguous()", f"{b}.flatten().view{same}",
            f"{b} * {b}.stride({self.random.randint(0, 1)}) - {b}.storage_offset()"]), scope[b][2])

    # These decide and repeat. Names of inner blocks stay there; outer ones may be assigned, with their type.

    def condition(self, scope):
        a = self.pick(scope.tensors("f"))
        return self.random.choice([f"{self.pick(scope.named('int'))} > 1", *scope.named("bool"), *([f"bool({a}.sum() > 0)"] if a else []), "n % 2 == 0", "True"])

    def branch(self, scope, depth):
        if depth >= 2:
            return None
        header = f"if {self.condition(scope)}:"
        parts = [(header, self.block(Scope(scope), depth + 1, self.random.randint(1, 4)))]
        if self.random.random() < 0.6:
            parts.append(("else:", self.block(Scope(scope), depth + 1, self.random.randint(1, 3))))
        return Compound(parts)

    def loop(self, scope, depth):
        if depth >= 2:
            return None
        inner = Scope(scope)
        if self.random.random() < 0.2:
            counter = self.name()
            inner[counter] = ("int",)
            body = self.block(inner, depth + 1, self.random.randint(1, 3))
            return Compound([(f"for {counter} in range({self.random.choice([2, 3])}):", body)])
        if self.random.random() < 0.2:
            a = self.pick(scope.tensors("f", lambda shape: shape == (B, 3)))
            if a is not None:
                row = self.name()
                inner[row] = ("int",)
                return Compound([(f"for {row} in range({a}.size(0)):", self.block(inner, depth + 1, self.random.randint(1, 3)))])
        counter = self.name()
        inner[counter] = ("int",)
        count = self.random.choice(["n", "min(n, 3)", "n % 3", "n - 1", "0", "1"])
        body = self.block(inner, depth + 1, self.random.randint(1, 4))
        if self.random.random() < 0.25:
            body.append(Compound([(f"if {self.condition(inner)}:", [Line(self.random.choice(["break", "continue"]))])]))
        return Compound([(f"for {counter} in range({count}):", body)])
