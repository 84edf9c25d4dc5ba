"""run, profile and verify call a module with specifications and with values that torch.save wrote; they take threads and libraries."""

import json
import re

import pytest
import torch
from torch import nn

import torchtrt
from test_torchtrtc import succeeds, torchtrtc


class Nested(nn.Module):
    def forward(self, xs: list[torch.Tensor], named: dict[str, torch.Tensor], pair: tuple[torch.Tensor, int], scale: float,
                name: str, flag: bool = True, mask: torch.Tensor | None = None):
        y = torch.relu(xs[0] + xs[1]) * named["a"] + pair[0] * pair[1]
        y = y * scale if flag else y
        return {"y": y, name: y if mask is None else y * mask}, pair[1] + 1


class Listed(nn.Module):
    def forward(self, xs: list[torch.Tensor]):
        return torch.relu(xs[0] * xs[1])


X = torch.randn(3, generator=torch.Generator().manual_seed(0))
ARGUMENTS = {"xs": [X, X + 1], "named": {"a": X}, "pair": (X, 3), "scale": 2, "name": "twice"}
INPUT = torchtrt.Input([3])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The module as nested.ts, compiled as nested_compiled.ts, and its arguments in files of torch.save."""
    path = tmp_path_factory.mktemp("calls")
    nested = torch.jit.script(Nested().eval())
    nested.save(str(path / "nested.ts"))
    torch.jit.script(Listed().eval()).save(str(path / "listed.ts"))
    signature = ([INPUT, INPUT], {"a": INPUT}, (INPUT, 3), 2.0, "twice")
    torchtrt.compile(nested, input_signature=signature).save(str(path / "nested_compiled.ts"))
    torch.save(tuple(ARGUMENTS.values()), path / "tuple.pt")
    torch.save(list(ARGUMENTS.values()), path / "list.pt")
    torch.save(ARGUMENTS, path / "named.pt")
    torch.save({**ARGUMENTS, "mask": torch.zeros(3), "flag": False}, path / "masked.pt")
    torch.save([[X, X]], path / "one_list.pt")
    torch.save(list(ARGUMENTS.values())[:3], path / "few.pt")
    torch.save([*ARGUMENTS.values(), True, None, 1], path / "many.pt")
    torch.save({**ARGUMENTS, "scale": "large"}, path / "typed.pt")
    torch.save({"xs": [X]}, path / "missing.pt")
    torch.save({"weights": nn.Linear(2, 2)}, path / "classes.pt")
    return path


@pytest.mark.parametrize("file", ["tuple.pt", "list.pt", "named.pt", "masked.pt"])
def test_run_takes_collections_numbers_and_texts(folder, file):
    out = succeeds("run", "nested_compiled.ts", f"--inputs={file}", "--calls=1", cwd=folder).stdout
    assert out.startswith("output[0][y]: Float[3]\noutput[0][twice]: Float[3]\noutput[1]: int 4\n1 calls, "), out


def test_run_takes_the_list_that_is_the_one_argument(folder):
    assert "output: Float[3]" in succeeds("run", "listed.ts", "--inputs=one_list.pt", "--calls=0", cwd=folder).stdout


def test_profile_and_verify_take_them_too(folder):
    out = succeeds("profile", "nested_compiled.ts", "--inputs=named.pt", "--calls=2", "--threads=1", cwd=folder).stdout
    assert "1 thread" in out, out
    out = succeeds("verify", "nested.ts", "nested_compiled.ts", "--inputs=tuple.pt", "--calls=1", "--threads=1", "--json=verified.json",
                   cwd=folder).stdout
    assert "agrees" in out, out
    assert json.loads((folder / "verified.json").read_text())


@pytest.mark.parametrize("threads", [1, 2])
def test_run_takes_the_number_of_threads(folder, threads):
    out = succeeds("run", "nested.ts", "--inputs=tuple.pt", "--calls=1", f"--threads={threads}", cwd=folder).stdout
    assert f"1 calls, {threads} threads: " in out


SAYS = "[C002] forward(xs: List[Tensor], named: Dict[str, Tensor], pair: Tuple[Tensor, int], scale: float, name: str, flag: bool = True, "
WRONG = {
    "few.pt": r"takes 7 arguments, and the file has 3",
    "many.pt": r"takes 7 arguments, and the file has 8",
    "typed.pt": r'gets a String for "scale"',
    "missing.pt": r'needs "named", which the file does not have',
    "classes.pt": r"\[C003\] --inputs classes.pt holds something else than tensors, numbers, texts",
    "nested.ts": r"\[C003\] --inputs nested.ts is a TorchScript module, expected a file of torch.save",
    "none.pt": r"\[C003\] --inputs none.pt is no file, expected a file of torch.save",
}


@pytest.mark.parametrize("file", WRONG)
def test_values_that_forward_does_not_take(folder, file):
    process = torchtrtc("run", "nested.ts", f"--inputs={file}", cwd=folder)
    assert process.returncode == 2
    assert re.search(WRONG[file], process.stderr) and process.stderr.count("\n") == 2, process.stderr
    assert SAYS in process.stderr or "[C003]" in process.stderr, process.stderr


def test_specifications_beside_values_are_refused(folder):
    process = torchtrtc("run", "nested.ts", "(3)", "--inputs=tuple.pt", cwd=folder)
    assert process.returncode == 2 and "specifications are given, and --inputs too" in process.stderr


@pytest.mark.parametrize("command", [["run", "nested.ts"], ["profile", "nested.ts"], ["verify", "nested.ts", "nested.ts"],
                                     ["inspect", "nested.ts"], ["check", "nested.ts"]])
def test_plugins_are_opened(folder, command):
    process = torchtrtc(*command, "--plugins=none.so", cwd=folder)
    assert process.returncode != 0 and "none.so" in process.stderr, process.stderr
