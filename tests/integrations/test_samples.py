"""Every sample of docs/scale_out.md and docs/serving.md runs as printed, in a process of its own beside compiled.ts: with real actors, Spark,
pipelines and servers. The samples leave out where the images come from, which is what stands before them here."""

import ast
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import torch
import triton_server
from nets import Image, arrays, compile_to

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ["TORCHTRT_BUILD"])
SCALE_OUT, SERVING = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("scale_out.md", "serving.md"))
ROWS = 6

# Before a sample, and behind it: `result` is what its last line gives where that is an expression.
READ = "import numpy\npictures = numpy.load('images.npy')\n"
KEEP = "\nnumpy.save('result.npy', {})\n"
RAY = READ + "import ray\nray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)\n"
AROUND = {
    "Ray Data": (RAY + "images = ray.data.from_items([{'name': f'{i}', 'image': each} for i, each in enumerate(pictures)])\n",
                 KEEP.format("[row['output'] for row in sorted(scores.take_all(), key=lambda row: row['name'])]")),
    "Ray Serve": (RAY + "image = pictures[0]\n", KEEP.format("[result]")),
    "Spark": (READ + "from pyspark.sql import SparkSession\n"
              "session = SparkSession.builder.master('local[2]').config('spark.ui.enabled', 'false').config('spark.driver.host', '127.0.0.1').getOrCreate()\n"
              "images = session.createDataFrame([(i, each.ravel().tolist()) for i, each in enumerate(pictures)], 'number int, image array<float>')\n",
              KEEP.format("[row.scores for row in sorted(scores.collect(), key=lambda row: row.number)]")),
    "Beam": (READ + "import apache_beam as beam\npipeline = beam.Pipeline()\n"
             "images = pipeline | beam.Create(range(len(pictures))) | beam.Map(lambda i: numpy.load('images.npy')[i])\n",
             # Their order is Beam's: each has the picture that it is of.
             "\nscores | beam.combiners.ToList() | beam.Map(lambda all: numpy.savez(\n"
             "    'found.npz', examples=[each.example for each in all], inferences=[each.inference for each in all]))\n"
             "pipeline.run().wait_until_finish()\n"
             "found = numpy.load('found.npz')\n"
             "of = {example.tobytes(): inference for example, inference in zip(found['examples'], found['inferences'])}\n"
             + KEEP.format("[of[each.tobytes()] for each in pictures]")),
}


def samples(text: str) -> dict[str, str]:
    """The Python block of each section that has one, by the section's title."""
    found = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        found.update({section.splitlines()[0]: block for block in blocks})
        assert len(blocks) <= 1
    return found


def with_result(sample: str) -> str:
    tree = ast.parse(sample)
    if isinstance(tree.body[-1], ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name("result", ast.Store())], tree.body[-1].value, lineno=0)
    return ast.unparse(tree)


class Named(Image):
    def forward(self, x):
        return self.body(x)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A folder with compiled.ts and images.npy, and what the module gives for these."""
    folder = tmp_path_factory.mktemp("samples")
    module = compile_to(folder / "compiled.ts", Named, [3, 224, 224])
    (images,) = arrays(ROWS, [3, 224, 224])
    numpy.save(folder / "images.npy", images)
    with torch.inference_mode():
        return folder, module(torch.from_numpy(images)).numpy()


def started(folder, program: str) -> subprocess.Popen:
    """A process that runs it, and prints to the file log. It takes interrupts, also where a shell started the tests in the background."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    with open(folder / "log", "w", encoding="utf-8") as log:
        return subprocess.Popen([sys.executable, "-c", program], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def test_every_sample_is_run():
    assert set(samples(SCALE_OUT)) == set(AROUND)
    assert set(samples(SERVING)) == {"A server from Python"}


@pytest.mark.parametrize("name", AROUND)
def test_a_sample_of_scale_out(given, name):
    folder, expected = given
    (folder / "result.npy").unlink(missing_ok=True)
    before, behind = AROUND[name]
    process = started(folder, before + with_result(samples(SCALE_OUT)[name]) + behind)
    assert process.wait(300) == 0, (folder / "log").read_text(encoding="utf-8")[-3000:]
    result = numpy.load(folder / "result.npy")
    assert len(result) == (1 if name == "Ray Serve" else ROWS)
    numpy.testing.assert_allclose(result, expected[:len(result)], rtol=1e-5, atol=1e-6)


def test_the_server_from_python(given):
    folder, expected = given
    port = triton_server.free_port()
    sample = samples(SERVING)["A server from Python"]
    assert "http_port=8000" in sample
    process = started(folder, sample.replace("http_port=8000", f"http_port={port}"))  # others may have that port
    client = triton_server.client_of(port)
    try:
        triton_server.wait_until_ready(client, process, folder / "log", "compiled")
        (answer,) = triton_server.ask(client, "compiled", {"x": numpy.load(folder / "images.npy")})
    finally:
        client.close()
        process.send_signal(signal.SIGINT)
        process.wait(triton_server.SECONDS)
    numpy.testing.assert_allclose(answer, expected, rtol=1e-5, atol=1e-6)


def test_the_command_line_of_serving(given):
    folder, _ = given
    (command,) = re.findall(r"^    (torchtrtc .*)$", SERVING, re.MULTILINE)
    process = subprocess.run(command.split(), cwd=folder, env={**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}"}, capture_output=True, text=True,
                             check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    assert {str(path.relative_to(folder / "models/compiled")) for path in (folder / "models/compiled").rglob("*") if path.is_file()} == {
        "config.pbtxt", "1/model.pt", "README.md", "kserve.yaml"}
    assert (folder / "models/compiled/1/model.pt").read_bytes() == (folder / "compiled.ts").read_bytes()
