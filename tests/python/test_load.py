"""torchtrt.load: damaged files are errors before libtorch reads them. libtorch would end processes on them, so nothing here asks it to; the
random damage runs in a process of its own."""

import io
import struct
import subprocess
import sys
import textwrap
import zipfile

import pytest
import torch

import torchtrt


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.scale = torch.nn.Parameter(torch.ones(8, 1, 1))
        self.words = ["one", "two"]

    def forward(self, x, more: bool = False):
        y = torch.relu(self.conv(x)) * self.scale
        if more:
            y = y + float(len(self.words))
        return y


def program():
    torch.manual_seed(0)
    return torch.jit.script(Net().eval())


def saved(module, path):
    module.save(str(path))
    return path


@pytest.fixture(scope="module", params=["a module", "a compiled one"])
def file(request, tmp_path_factory):
    module = program()
    if request.param == "a compiled one":
        module = torchtrt.compile(module, inputs=[torchtrt.Input([1, 3, 16, 16])])
    return saved(module, tmp_path_factory.mktemp("files") / "file.ts")


def rewritten(path, change, to):
    """The archive with other records: change(name without the archive's, content) gives what is written, None leaves it out. zipfile makes
    the checksums right."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for entry in old.infolist():
            content = change(entry.filename.partition("/")[2], old.read(entry))
            if content is not None:
                new.writestr(entry.filename, content)
    return to


def with_record(name, content):
    return lambda each, old: content if each == name else old


def refuses(path, *words):
    with pytest.raises(torchtrt.EngineError) as caught:
        torchtrt.load(path)
    assert caught.value.code == "E001"
    for word in [str(path), *words]:
        assert word in str(caught.value), str(caught.value)


def test_loads_what_torch_saves(file):
    x = torch.randn(1, 3, 16, 16)
    expected = torch.jit.load(str(file))(x)
    assert torch.equal(torchtrt.load(file)(x), expected)
    assert torch.equal(torchtrt.load(str(file), map_location="cpu")(x), expected)
    with open(file, "rb") as stream:
        assert torch.equal(torchtrt.load(stream)(x), expected)
    assert torch.equal(torchtrt.load(io.BytesIO(file.read_bytes()))(x), expected)
    extra = {"note": ""}
    torch.jit.save(program(), str(file) + ".extra", _extra_files={"note": "here"})
    torchtrt.load(str(file) + ".extra", _extra_files=extra)
    assert extra["note"] in ("here", b"here")


def test_says_what_libtorch_says_of_other_files(tmp_path):
    (tmp_path / "text").write_text("hello")
    torch.save({"a": torch.ones(2)}, tmp_path / "checkpoint.pt")
    for name in ("text", "checkpoint.pt"):
        with pytest.raises((RuntimeError, ValueError)) as caught:
            torchtrt.load(tmp_path / name)
        assert not isinstance(caught.value, torchtrt.Error)
    with pytest.raises(torchtrt.CompileError, match="C004"):
        torchtrt.load(tmp_path / "missing")


def test_refuses_tensors_whose_records_are_cut(file, tmp_path):
    names = [name.partition("/")[2] for name in zipfile.ZipFile(file).namelist()]
    tensors = [name for name in names if name.startswith("data/")]
    assert tensors
    for tensor in tensors:
        records = zipfile.ZipFile(file)
        [path] = [name for name in records.namelist() if name.endswith("/" + tensor)]
        cut = rewritten(file, with_record(tensor, records.read(path)[:-4]), tmp_path / "cut.ts")
        refuses(cut, "data.pkl", f"record '{tensor}' has", "expected")
        refuses(rewritten(file, with_record(tensor, None), tmp_path / "gone.ts"), f"there is no record '{tensor}'")


def replaced(old, new):
    def change(name, content):
        if name == "data.pkl":
            assert old in content, "the pickle has another form"
            return content.replace(old, new, 1)
        return content
    return change


def test_refuses_tensors_that_reach_beyond_their_storage(tmp_path):
    path = saved(program(), tmp_path / "plain.ts")
    sizes = b"(K\x08K\x03K\x03K\x03t"
    for new, words in [
        (b"(K\x08K\x03K\x03K\x04t", "reaches beyond the 216 elements"),
        (b"(J\xff\xff\xff\x7fK\x03K\x03K\x03t", "reaches beyond"),
        (b"(J\xff\xff\xff\xffK\x03K\x03K\x03t", "negative size or stride"),
        (b"(K\x08K\x03K\x03t", "3 sizes and 4 strides"),
    ]:
        refuses(rewritten(path, replaced(sizes, new), tmp_path / "beyond.ts"), words)
    refuses(rewritten(path, replaced(b"K\xd8t", b"M\xd8\x7ft"), tmp_path / "more.ts"), "has 864 bytes, expected 130912")
    refuses(rewritten(path, replaced(b"FloatStorage", b"GloatStorage"), tmp_path / "type.ts"), "unknown type")


def pickle_of(body):
    return b"\x80\x02" + body + b"."


def test_refuses_pickles_that_take_memory_or_the_stack(tmp_path):
    path = saved(program(), tmp_path / "plain.ts")
    for body, words in [
        (b"X\xff\xff\xff\x7fabc", "ends within a value"),
        (b"Nr\xff\xff\xff\x7f", "leaves others out"),
        (b"h\x07", "not kept"),
        (b"t", "more values than there are"),
        (b"(N\x85\x86", "more values than there are"),
        (b"N" + b"\x85" * 100_000, "deep within each other"),
        (b"\xff", "instruction 255"),
        (b"\x8a\x09" + b"\x01" * 9, "more than 64 bits"),
        (b"NNb", "a state to what has none"),
        (b"NNa", "no list or dictionary"),
    ]:
        broken = rewritten(path, with_record("constants.pkl", pickle_of(body)), tmp_path / "broken.ts")
        refuses(broken, "constants.pkl", words)


def test_refuses_lists_that_are_filled_from_the_outside(tmp_path):
    """Each got the next one when that was empty."""
    path = saved(program(), tmp_path / "plain.ts")
    chain = b"".join(b"]r" + struct.pack("<I", i) for i in range(3000))
    chain += b"".join(b"j" + struct.pack("<I", i) + b"j" + struct.pack("<I", i + 1) + b"a" for i in range(2999))
    refuses(rewritten(path, with_record("constants.pkl", pickle_of(chain)), tmp_path / "deep.ts"), "deep within each other")


def test_refuses_ranges_of_source_code_outside_of_it(file, tmp_path):
    def change(name, content):
        if not name.endswith(".debug_pkl") or b"build_intlist" not in content:
            return content
        at = content.index(b"build_intlist")
        first = content.index(b"(K", at)  # the first number of a list of texts
        return content[:first + 2] + b"\xfe" + content[first + 3:]

    refuses(rewritten(file, change, tmp_path / "ranges.ts"), ".debug_pkl", "names text 254 of")


def test_refuses_code_that_lies_too_deep(tmp_path):
    path = saved(program(), tmp_path / "plain.ts")

    def with_code(code):
        def change(name, content):
            if name.endswith(".py") and b"def forward" in content:
                return content + b"\n  def more(self, x: Tensor) -> Tensor:\n    return " + code + b"\n"
            return content
        return rewritten(path, change, tmp_path / "code.ts")

    for code in (b"(" * 3000 + b"x" + b")" * 3000, b"-" * 5000 + b"x", b"x" + b"+f(x, x)" * 3000, b"not " * 5000 + b"x",
                 b"torch.neg(" * 2000 + b"x" + b")" * 2000):
        refuses(with_code(code), ".py", "an expression of many parts")
    refuses(with_code(b"x\n" + b" " * 500 + b"pass"), "indented far")
    many = b"[" + b", ".join([b"-1"] * 20_000) + b"]"
    torch.ops.tensorrt.check_module(str(with_code(b"x + " + many)))


def test_refuses_an_archive_within_that_is_not_what_its_hash_says(tmp_path):
    compiled = torchtrt.compile(program(), inputs=[torchtrt.Input([1, 3, 16, 16])])
    path = saved(compiled, tmp_path / "compiled.ts")
    content = zipfile.ZipFile(path).read([name for name in zipfile.ZipFile(path).namelist() if name.endswith("/data.pkl")][0])
    begin = content.index(b":UEsDB") + 200  # base64 of a zip archive, behind its hash
    other = b"A" if content[begin:begin + 1] != b"A" else b"B"

    def change(name, old):
        return old[:begin] + other + old[begin + 1:] if name == "data.pkl" else old

    damaged = rewritten(path, change, tmp_path / "kept.ts")
    with pytest.raises(torchtrt.EngineError, match=r"\[E001\].*kept segment.*hash"):
        torchtrt.load(damaged)


FUZZ = """
    import random, sys, zipfile
    import torch, torchtrt
    path, target, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    archive = zipfile.ZipFile(path)
    entries = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    pickles = [i for i, (name, content) in enumerate(entries) if name.endswith(("pkl", ".py")) and content]
    refused = loaded = 0
    for seed in range(seeds):
        chance = random.Random(seed)
        chosen = chance.choice(pickles)
        content = bytearray(entries[chosen][1])
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(content))
            content[at] = chance.randrange(256) if chance.random() < 0.5 else content[at] ^ (1 << chance.randrange(8))
        if chance.random() < 0.2:
            del content[chance.randrange(len(content)):]
        with zipfile.ZipFile(target, "w") as new:
            for i, (name, old) in enumerate(entries):
                new.writestr(name, bytes(content) if i == chosen else old)
        print("seed", seed, file=sys.stderr)
        try:
            torchtrt.load(target)
            loaded += 1
        except Exception:
            refused += 1
    print(refused, loaded)
"""


def test_random_damage_never_ends_the_process(file, tmp_path):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(FUZZ), str(file), str(tmp_path / "damaged.ts"), "150"],
                          capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    refused, loaded = map(int, done.stdout.split()[-2:])
    assert refused > 30 and refused + loaded == 150
