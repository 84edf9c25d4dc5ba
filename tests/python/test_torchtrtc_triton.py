"""torchtrtc triton: the configuration that it writes beside a module, held against golden files, and what it says of modules,
options and repositories that do not fit. tests/integrations reads the same files with Triton's own parser."""

import re
from pathlib import Path

import pytest
import torch
from torch import nn

from test_torchtrtc import succeeds, torchtrtc
from triton_cases import CASES, SCORES, Scores

GOLDEN = Path(__file__).parent / "triton_configs"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Compiled modules, by name of their case; made when a test asks for them."""
    path = tmp_path_factory.mktemp("triton")
    torch.jit.script(Scores().eval()).save(str(path / "plain.ts"))
    return path


def compiled(folder, case):
    target = folder / f"{case}.ts"
    if not target.exists():
        make, specifications, options, _ = CASES[case]
        torch.manual_seed(0)
        torch.jit.script(make().eval()).save(str(folder / f"{case}.plain.ts"))
        succeeds(folder / f"{case}.plain.ts", target, *specifications, *options, "--no-threshold-check")
    return target


def scripted(folder, module):
    torch.jit.script(module.eval()).save(str(folder / "misuse.ts"))
    return folder / "misuse.ts"


def fails(*arguments):
    process = torchtrtc("triton", *arguments)
    assert process.returncode != 0, process.stdout
    return process.returncode, process.stderr


@pytest.mark.parametrize("case", CASES)
def test_configuration_is_the_golden_one(case, folder, tmp_path):
    succeeds("triton", compiled(folder, case), tmp_path / "repository", *CASES[case][3])
    written = tmp_path / "repository" / case / "config.pbtxt"
    golden = GOLDEN / f"{case}.pbtxt"
    assert written.read_text() == golden.read_text(), f"if this is meant, copy {written} to {golden}"


def test_golden_files_belong_to_cases():
    assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(CASES)


def test_model_is_the_file_and_stands_under_its_version(folder, tmp_path):
    source = compiled(folder, "dynamic_batch")
    process = succeeds("triton", source, tmp_path / "models", "--name", "scores", "--version=3")
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {f"models/scores/{name}" for name in ("3/model.pt", "config.pbtxt", "README.md", "kserve.yaml")}
    assert (tmp_path / "models/scores/3/model.pt").read_bytes() == source.read_bytes()
    assert 'name: "scores"' in (tmp_path / "models/scores/config.pbtxt").read_text()
    assert f"tritonserver --model-repository={tmp_path / 'models'}" in process.stdout
    assert "LD_PRELOAD=/opt/torchtrt/lib/libtorchtrt_runtime.so" in process.stdout


def test_readme_says_how_to_serve_and_to_call(folder, tmp_path):
    succeeds("triton", compiled(folder, "tokens"), tmp_path)
    text = (tmp_path / "tokens/README.md").read_text()
    assert "LD_PRELOAD=/opt/torchtrt/lib/libtorchtrt_runtime.so" in text and "libtorchtrt_engine.so" in text
    assert 'http.InferInput("ids", [1, 8], "INT64")' in text and 'http.InferInput("mask", [1, 8], "BOOL")' in text
    assert f"libtorch {torch.__version__.split('+')[0]}" in text and "libtorchtrt_cuda" not in text
    (sample,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    compile(sample, "README.md", "exec")
    assert max(map(len, text.splitlines())) <= 150


def test_manifest_is_marked_as_not_run_and_has_a_name_that_kubernetes_takes(folder, tmp_path):
    succeeds("triton", compiled(folder, "gpu"), tmp_path, "--name=My_Model.2")
    text = (tmp_path / "My_Model.2/kserve.yaml").read_text()
    assert "Not run: no test of torchtrt has a cluster." in text
    assert "  name: my-model-2\n" in text and 'nvidia.com/gpu: "1"' in text
    assert re.findall(r"^kind: (\w+)$", text, re.MULTILINE) == ["ServingRuntime", "InferenceService"]
    assert "libtorchtrt_cuda.so" in (tmp_path / "My_Model.2/README.md").read_text()


def test_a_module_without_engines_is_served_by_its_specifications(folder, tmp_path):
    succeeds("triton", folder / "plain.ts", tmp_path, "--name=dynamic_batch", "--shape", SCORES)
    text = (tmp_path / "dynamic_batch/config.pbtxt").read_text()
    assert "max_batch_size: 8" in text and "dims: [ 4 ]" in text
    assert "ENABLE_WEIGHT_SHARING" not in text, "PyTorch may write to what it reads"
    assert "dims: [ -1 ]" in text, "one call does not say what PyTorch gives in the next"


def test_the_same_again_changes_nothing(folder, tmp_path):
    source = compiled(folder, "dynamic_batch")
    succeeds("triton", source, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert "wrote" not in succeeds("triton", source, tmp_path).stderr
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}


def test_another_content_is_refused_and_replaced_with_force(folder, tmp_path):
    source = compiled(folder, "dynamic_batch")
    succeeds("triton", source, tmp_path)
    status, said = fails(source, tmp_path, "--instances=2")
    assert (status, said) == (1, f'torchtrtc: [C007] "{tmp_path}/dynamic_batch/config.pbtxt" is there already, with another content\n'
                                 "  give --force to replace it, another --name, or for another model.pt the next --version\n")
    assert "count: 1" in (tmp_path / "dynamic_batch/config.pbtxt").read_text()
    said = succeeds("triton", source, tmp_path, "--instances=2", "--force").stderr
    assert said == f"wrote {tmp_path}/dynamic_batch/config.pbtxt\n"
    assert "count: 2" in (tmp_path / "dynamic_batch/config.pbtxt").read_text()


def test_the_next_version_stands_beside_the_first(folder, tmp_path):
    succeeds("triton", compiled(folder, "dynamic_batch"), tmp_path, "--name=scores")
    other = tmp_path / "other.ts"
    torch.manual_seed(1)
    torch.jit.script(Scores().eval()).save(str(tmp_path / "plain.ts"))
    succeeds(tmp_path / "plain.ts", other, SCORES)
    status, said = fails(other, tmp_path, "--name=scores")
    assert status == 1 and "scores/1/model.pt\" is there already" in said
    succeeds("triton", other, tmp_path, "--name=scores", "--version=2")
    assert (tmp_path / "scores/2/model.pt").read_bytes() == other.read_bytes()


class Optional(nn.Module):
    def forward(self, x, mask: torch.Tensor | None = None):
        return x if mask is None else x * mask


class Scaled(nn.Module):
    def forward(self, x, factor: float = 2.0):
        return x * factor


class Nothing(nn.Module):
    def forward(self):
        return torch.zeros(2)


class ListResult(nn.Module):
    def forward(self, x):
        return [x, x + 1]


class DictResult(nn.Module):
    def forward(self, x):
        return {"sum": x + 1}


class Sum(nn.Module):
    def forward(self, x):
        return x.sum()


class BFloat16(nn.Module):
    def forward(self, x):
        return x.to(torch.bfloat16)


MISUSES = {
    "optional argument": (Optional, ["--shape=(2)", "--shape=(2)"], 1,
                          ['"mask" of forward(x: Tensor, mask: Optional[Tensor] = None) is Optional[Tensor]', "tensors alone"]),
    "number": (Scaled, ["--shape=(2)", "--shape=(2)"], 1, ['"factor" of forward(', "is float, and a request of Triton brings tensors alone"]),
    "no argument": (Nothing, [], 1, ["forward() takes nothing", "forward takes tensors"]),
    "list": (ListResult, ["--shape=(2)"], 1, ["forward gives List[Tensor]", "return x, y"]),
    "dictionary": (DictResult, ["--shape=(2)"], 1, ["forward gives Dict[str, Tensor]", "return x, y"]),
    "number of no dimensions": (Sum, ["--shape=(2)"], 1, ["result 0 of forward has no dimensions", "x.reshape(1)"]),
    "argument without dimensions": (nn.ReLU, ["--shape=()"], 1, ["has no dimensions", "x.reshape(())"]),
    "bfloat16 result": (BFloat16, ["--shape=(2)"], 1, ['"OUTPUT__0" is BFloat16', "float32"]),
    "bfloat16 argument": (nn.ReLU, ["--shape=(2)@bf16"], 1, ["is BFloat16, which Triton's PyTorch backend does not pass on"]),
    "no engine": (nn.ReLU, [], 2, ["no engine takes", "so nothing says its shapes and dtype", '--shape "[(1,3,224,224);']),
    "too many shapes": (nn.ReLU, ["--shape=(2)", "--shape=(2)"], 2, ["takes 1, got 2 --shape", "one for each argument"]),
    "no end": (nn.ReLU, ["--shape=(-1,2)"], 2, ["has no largest size", "give --max-batch-size=NUMBER"]),
    "name": (nn.ReLU, ["--shape=(2)", "--name=a/b"], 2, ['"a/b" is no name for a model', "letters, digits"]),
    "GPU without an engine for one": (nn.ReLU, ["--shape=(2)", "--gpu=0"], 2, ["--gpu is given", "no engine that was made for a GPU", "--target"]),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_what_triton_cannot_serve_is_refused_with_the_way_out(misuse, folder, tmp_path):
    make, options, status, parts = MISUSES[misuse]
    got, said = fails(scripted(folder, make()), tmp_path / "repository", *options)
    assert got == status, said
    for part in parts:
        assert part in said, said
    assert not (tmp_path / "repository").exists()


def test_threads_are_for_calls_on_the_cpu(folder, tmp_path):
    status, said = fails(compiled(folder, "gpu"), tmp_path / "repository", "--threads=2")
    assert status == 2 and "run on a GPU" in said


def test_a_repository_that_cannot_be_written_is_named(folder, tmp_path):
    (tmp_path / "file").touch()
    status, said = fails(compiled(folder, "dynamic_batch"), tmp_path / "file")
    assert status == 1 and said.startswith("torchtrtc: [C007] cannot make the folder") and "that you may write to" in said


def test_requests_that_run_alone_are_told(folder, tmp_path):
    assert 'requests run alone: dim 0 of "features" is fixed at 2' in succeeds("triton", compiled(folder, "fixed_batch"), tmp_path).stderr
    assert 'requests run alone: the sizes of "OUTPUT__0" follow the number of requests' in succeeds(
        "triton", compiled(folder, "pairs"), tmp_path).stderr
