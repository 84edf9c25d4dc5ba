"""Small modules of every awkward kind: early returns, loops that the data ends, lists and views that are written to, results that are
nothing, the same tensor twice or a constant, arguments that are numbers, texts, dictionaries. All give what PyTorch gives, call after call."""

import pytest
import torch
from torch import Tensor, nn

import torchtrt
from same import assert_calls_are_same


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)


class EarlyReturn(Two):
    def forward(self, x):
        y = self.a(x)
        if bool(y.sum() > 0):
            return y.relu()
        y = self.b(y)
        if bool(y.sum() > 0):
            return y.tanh()
        return y * 2


class WhileLoop(Two):
    def forward(self, x):
        n = 0
        while bool(x.abs().sum() > 1.0) and n < 50:
            x = self.a(x).tanh() * 0.5
            n += 1
        return x, n


class BreakAndContinue(Two):
    def forward(self, x):
        out = torch.zeros_like(x)
        for i in range(10):
            if i == 2:
                continue
            y = self.a(x) * i
            if bool(y.max() > 5):
                break
            out = out + y.relu()
        return out


class LoopsInLoops(Two):
    def forward(self, x):
        t = torch.zeros_like(x)
        i = 0
        while i < 4:
            for j in range(i):
                if bool((t.sum() + j) > 2):
                    t = t + self.a(x)
                    break
                t = t + self.b(x).sigmoid()
            i += 1
        return t


class Swap(Two):
    def forward(self, x):
        a, b = self.a(x), self.b(x)
        for _ in range(int(x.size(0))):
            a, b = b, a + 1
        return a, b


class MaybeNone(Two):
    def forward(self, x):
        largest: Tensor | None = None
        for i in range(3):
            y = self.a(x) + i
            if largest is None:
                largest = y
            else:
                largest = torch.max(largest, y)
        assert largest is not None
        return largest


class Conditional(Two):
    def forward(self, x):
        y = self.a(x) if x.size(0) == 2 else self.b(x)
        m = y.relu_() if bool(y[0, 0] > 0) else y.tanh()
        return m, y


class ListMethods(Two):
    def forward(self, x):
        kept: list[Tensor] = []
        for i in range(3):
            kept.append(self.a(x) * i)
        kept[1] = self.b(kept[0])
        kept.insert(0, x)
        kept.pop()
        kept.reverse()
        del kept[0]
        kept.extend([x, x + 1])
        return torch.cat(kept).relu(), kept


class ListOfAliases(Two):
    def forward(self, x):
        y = self.a(x)
        first = [y, x.clone()]
        second = first
        first[0].add_(1)
        second[1].mul_(y)
        return y, first, second[1].exp()


class WritesThroughViews(Two):
    def forward(self, x):
        y = self.a(x)
        v = y[:, 1:3]
        v.t().zero_()
        y.view(-1)[0] = 7
        u = self.b(y)
        y[1].copy_(u[0])
        return y, u.relu(), v + 1


class WritesToItsArgument(Two):
    def forward(self, x):
        x[0] += 1
        y = self.a(x)
        x.transpose(0, 1).mul_(2)
        return y + x


class InPlace(Two):
    def forward(self, x):
        y = self.a(x)
        r = nn.functional.relu(y, inplace=True)
        z = y + 1
        r.add_(2)
        return y, z, r


class OutArgument(Two):
    def forward(self, x):
        out = torch.empty(2, 4)
        torch.add(self.a(x), 1, out=out)
        p = out.relu()
        torch.mul(out, 2, out=out)
        return p, out


class EmptyTuple(Two):
    def forward(self, x):
        self.a(x)
        return ()


class NoneAmongResults(Two):
    def forward(self, x) -> tuple[Tensor, Tensor | None]:
        return self.a(x).relu(), None


class NoneAlone(Two):
    def forward(self, x):
        self.a(x)
        return None


class TheSameTwice(Two):
    def forward(self, x):
        y = self.a(x).relu()
        return y, y, x, [y, x], {"y": y}


class Constants(Two):
    def forward(self, x):
        return torch.ones(2, 3), 5, "s", self.a.weight


class UnusedArgument(Two):
    def forward(self, x, unused):
        return self.a(x).relu()


class Integers(Two):
    def forward(self, x):
        y = self.a(x)
        return y.argmax(1), y.topk(2)[1], torch.arange(x.size(0)), y.sort()[1], x.shape[0], (y > 0).nonzero()


class Dtypes(Two):
    def forward(self, x):
        y = self.a(x)
        return y.to(torch.float64).cumsum(0).to(torch.int64), y.double().sum().item() > 0


class ComplexBetween(Two):
    def forward(self, x):
        c = torch.fft.rfft(self.a(x))
        return torch.fft.irfft(c * 2, n=4), c.abs().relu()


class ShapesOfData(Two):
    def forward(self, x):
        k = x[x > 0]
        y = k.unsqueeze(1) * self.a(x)[0]
        return y.sum(0), k.numel()


class NumbersOfData(Two):
    def forward(self, x):
        n = int(x.abs().sum().item()) % 3 + 1
        y = self.a(x)
        return y[:, :n].relu(), y.repeat(n, 1), n


class Forked(Two):
    def forward(self, x):
        f, g = torch.jit.fork(self.a, x), torch.jit.fork(self.b, x)
        return torch.jit.wait(f) + torch.jit.wait(g)


@torch.jit.script
def scaled(x, n: int):
    if n > 0:
        return x * n
    return x.exp()


class CallsAFunction(Two):
    def forward(self, x):
        return scaled(self.a(x), 3) + scaled(x, -1)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)

    def forward(self, x):
        h = torch.zeros(x.size(1), 4)
        out = []
        for t in range(x.size(0)):
            h = self.cell(x[t], h)
            out.append(h)
        return torch.stack(out), h


class MayBeEmpty(Two):
    def forward(self, x):
        return self.b(self.a(x).relu()).sum(0), x.shape


class OptionalArguments(Two):
    def forward(self, x, m: Tensor | None = None, k: int | None = None):
        y = self.a(x)
        if m is not None:
            y = y + m
        if k is not None:
            y = y * k
        return y.relu()


class Texts(Two):
    def forward(self, x, mode: str = "relu", flags: list[str] | None = None):
        y = self.a(x)
        if mode == "relu":
            y = y.relu()
        elif flags is not None and mode in flags:
            y = y.tanh()
        else:
            mode = mode.upper() + "!"
        return y + len(mode), mode, "{}-{}".format(mode, flags)


class Numbers(Two):
    def forward(self, x, a: float, b: int, c: bool):
        y = self.a(x) * a
        if c:
            y = y + b
        return y, a * b, b // 2, not c


class DictionaryOfAnything(Two):
    def forward(self, given: dict[str, Tensor]):
        out: dict[str, Tensor] = {}
        for key, value in given.items():
            out[key + "_out"] = self.a(value).relu()
        out.update({"n": torch.tensor(len(given))})
        return out


class ListOfAnything(Two):
    def forward(self, given: list[Tensor]):
        out = [self.a(value) for value in given]
        return torch.cat(out).relu(), [value.tanh() for value in out], len(given)


class EnumerateAndZip(Two):
    def forward(self, given: list[Tensor], scales: dict[int, float]):
        t = torch.zeros(2, 4)
        for i, x in enumerate(given):
            t = t + self.a(x) * scales[i]
        for x, y in zip(given, given[1:]):
            t = t + x * y
        return t


class NestedTuple(Two):
    def forward(self, given: tuple[Tensor, tuple[Tensor, int]]):
        a, (b, n) = given
        return self.a(a) + self.b(b) * n


def rows(*counts):
    return [torch.randn(count, 4) for count in counts]


X = torchtrt.Input([2, 4])
SIMPLE = [
    EarlyReturn, WhileLoop, BreakAndContinue, LoopsInLoops, Swap, MaybeNone, Conditional, ListMethods, ListOfAliases, WritesThroughViews,
    WritesToItsArgument, InPlace, OutArgument, EmptyTuple, NoneAmongResults, NoneAlone, TheSameTwice, Constants, Integers, Dtypes,
    ComplexBetween, ShapesOfData, NumbersOfData, Forked, CallsAFunction,
]
# Gives, for modules with other arguments than x, the calls and the options of compile().
WITH_ARGUMENTS = {
    UnusedArgument: ([(*rows(2), torch.randn(3, 3))], {}),
    Recurrent: ([(torch.randn(n, 2, 4),) for n in (3, 5, 1)],
                {"inputs": [torchtrt.Input(min_shape=[1, 2, 4], opt_shape=[3, 2, 4], max_shape=[6, 2, 4])]}),
    MayBeEmpty: ([(torch.zeros(0, 4),), (*rows(3),)],
                 {"inputs": [torchtrt.Input(min_shape=[0, 4], opt_shape=[2, 4], max_shape=[4, 4])]}),
    OptionalArguments: ([(*rows(2),), (*rows(2, 2),), (*rows(2), None, 3), (*rows(2, 1), 2)], {"inputs": [X]}),
    Texts: ([(*rows(2),), (*rows(2), "a"), (*rows(2), "zz", ["q", "r"])], {"inputs": [X]}),
    Numbers: ([(*rows(2), 2.5, 3, True), (*rows(2), -1.0, 0, False)], {"inputs": [X]}),
    DictionaryOfAnything: ([(dict(zip("ab", rows(2, 3))),), ({},)], {"inputs": []}),
    ListOfAnything: ([(rows(2, 1),), (rows(3),)], {"inputs": []}),
    EnumerateAndZip: ([(rows(2, 2), {0: 1.0, 1: 2.0})], {"inputs": []}),
    NestedTuple: ([((*rows(2), (*rows(2), 3)),)], {"input_signature": ((X, (X, 3)),)}),
}


@pytest.mark.parametrize("options", [{}, {"min_block_size": 1}], ids=["default", "every block"])
@pytest.mark.parametrize("make", SIMPLE, ids=lambda make: make.__name__)
def test_all_is_pytorchs(make, options):
    torch.manual_seed(0)
    x = torch.randn(2, 4)
    assert_calls_are_same(make(), [(x,), (-x,), (x + 3,)], **options)


@pytest.mark.parametrize("options", [{}, {"min_block_size": 1}], ids=["default", "every block"])
@pytest.mark.parametrize("make", WITH_ARGUMENTS, ids=lambda make: make.__name__)
def test_all_is_pytorchs_with_other_arguments(make, options):
    torch.manual_seed(0)
    calls, told = WITH_ARGUMENTS[make]
    assert_calls_are_same(make(), calls, **told, **options)


INDEX = torch.tensor([-1, 2])
PLACES = INDEX.unsqueeze(1).expand(2, 3)
NEGATIVE_INDICES = {
    "embedding": lambda x, i, p: torch.nn.functional.embedding(i, x),
    "index_select": lambda x, i, p: x.index_select(0, i),
    "gather": lambda x, i, p: x.gather(0, p),
    "scatter": lambda x, i, p: x.scatter(0, p, x),
    "scatter_value": lambda x, i, p: x.scatter(0, p, 2.0),
    "scatter_add": lambda x, i, p: x.scatter_add(0, p, x),
    "scatter_reduce": lambda x, i, p: x.scatter_reduce(0, p, x, "mean"),
    "index_add": lambda x, i, p: x.index_add(0, i, x[:2]),
    "index_copy": lambda x, i, p: x.index_copy(0, i, x[:2]),
    "one_hot": lambda x, i, p: torch.nn.functional.one_hot(i, 5),
    "index_fill": lambda x, i, p: x.index_fill(0, i, 2.0),
    "index_fill_last": lambda x, i, p: x.index_fill(-1, i, 2.0),
    "index_fill_tensor": lambda x, i, p: x.index_fill(0, i, x[0, 0]),
    "take": lambda x, i, p: x.take(i),
    "take_along_dim": lambda x, i, p: x.take_along_dim(p, 0),
    "index": lambda x, i, p: x[i],
    "index_put": lambda x, i, p: x.index_put((i,), x[:2], True),
}


@pytest.mark.parametrize("name", NEGATIVE_INDICES)
def test_negative_indices_are_taken_where_pytorch_takes_them(name):
    """An index that PyTorch refuses is an error, never the numbers of another row."""
    traced = torch.jit.trace(NEGATIVE_INDICES[name], (torch.randn(5, 3), INDEX.abs(), PLACES.abs()))
    inputs = [torchtrt.Input([5, 3]), torchtrt.Input([2], dtype=torch.int64), torchtrt.Input([2, 3], dtype=torch.int64)]
    compiled = torchtrt.compile(traced, inputs=inputs, require_full_compilation=True)
    x = torch.randn(5, 3)
    arguments = (x, INDEX.abs(), PLACES.abs())
    assert torch.allclose(compiled(*arguments), NEGATIVE_INDICES[name](*arguments))
    arguments = (x, INDEX, PLACES)
    try:
        expected = NEGATIVE_INDICES[name](*arguments)
    except (IndexError, RuntimeError):
        with pytest.raises(torchtrt.EngineError, match=r"\[E008\].*index -1"), torchtrt.translated_errors():
            compiled(*arguments)
    else:
        assert torch.allclose(compiled(*arguments), expected)
