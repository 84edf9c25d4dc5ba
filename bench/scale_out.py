"""Images a second of one job in Ray Data, with one actor and two: torchtrt, TorchScript and ONNX Runtime in the same actors, in turns; the same
job in Spark and Beam; the time from an actor's start to its first result. `./dev test integrations` makes the environment that it needs:

    INTEGRATIONS/bin/python bench/scale_out.py [--model mobilenet_v3_large] [--images 384] [--rounds 3] [--smoke]

All results are compared with TorchScript's.
"""

import argparse
import collections
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy
import ray

import models
import table

HERE = str(pathlib.Path(__file__).parent)
WAYS = ["torchtrt", "TorchScript", "ONNX Runtime"]


class TorchScriptActor:
    def __init__(self, path: str):
        import torch

        torch.set_num_threads(int(ray.get_runtime_context().get_assigned_resources()["CPU"]))
        self._module = torch.jit.freeze(torch.jit.load(path).eval())

    def __call__(self, batch):
        import torch

        with torch.inference_mode():
            return {"number": batch["number"], "output": self._module(torch.from_numpy(batch["image"].copy())).numpy()}


class OnnxRuntimeActor:
    def __init__(self, path: str):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(ray.get_runtime_context().get_assigned_resources()["CPU"])
        self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def __call__(self, batch):
        (name,) = (each.name for each in self._session.get_inputs())
        return {"number": batch["number"], "output": self._session.run(None, {name: batch["image"]})[0]}


class Clocked:
    """An actor of `kind` that tells with each row when the call of its batch began and ended, and the CPU time in seconds that it took."""

    def __init__(self, kind, *arguments, **options):
        self._actor = kind(*arguments, **options)

    def __call__(self, batch):
        cpu, begin = time.process_time(), time.time()
        result = self._actor(batch)
        told = {"begin": begin, "end": time.time(), "cpu": time.process_time() - cpu, "actor": os.getpid()}
        return result | {name: numpy.full(len(batch["number"]), value) for name, value in told.items()}


def make_files(model: str, folder: str, batch: int) -> dict[str, str]:
    import torch

    import torchtrt

    module, x = models.build(model), models.sample(model)
    files = {way: f"{folder}/{way.replace(' ', '')}" for way in WAYS}
    script = torch.jit.trace(module, x)
    script.save(files["TorchScript"])
    sizes = list(x.shape[1:])
    rows = torchtrt.Input(min_shape=[1, *sizes], opt_shape=[batch, *sizes], max_shape=[batch, *sizes])
    torchtrt.compile(script, inputs=[rows], progress=False).save(files["torchtrt"])
    try:
        torch.onnx.export(module, (x,), files["ONNX Runtime"], input_names=["image"], dynamic_axes={"image": {0: "rows"}}, dynamo=False)
    except Exception as error:  # noqa: BLE001 - told, and the others are timed
        print(f"no ONNX file: {error}", file=sys.stderr)
        del files["ONNX Runtime"]
    return files


def actor_of(way: str, file: str) -> tuple:
    from torchtrt.integrations.ray import Predictor

    if way == "torchtrt":
        return Predictor, {"fn_constructor_args": [file], "fn_constructor_kwargs": {"keep": ["number"], "inputs": arguments_of(file, "image")}}
    return {"TorchScript": TorchScriptActor, "ONNX Runtime": OnnxRuntimeActor}[way], {"fn_constructor_args": [file]}


def arguments_of(file: str, column: str) -> dict[str, str]:
    from torchtrt.integrations import _loading

    return dict.fromkeys(_loading.Model(file).load().names, column)


def in_ray(way: str, file: str, images, actors: int, cpus: int, batch: int) -> tuple[float, float, numpy.ndarray]:
    """Images a second while all actors are at work, milliseconds of CPU time an image, and all results in order."""
    kind, options = actor_of(way, file)
    options["fn_constructor_args"] = [kind, *options["fn_constructor_args"]]
    jobs = ray.data.from_items([{"number": i, "image": image} for i, image in enumerate(images)], override_num_blocks=max(4, len(images) // batch))
    jobs = jobs.materialize().map_batches(Clocked, compute=ray.data.ActorPoolStrategy(size=actors), batch_size=batch, num_cpus=cpus, **options)
    results, rows_of = {}, collections.Counter()
    for part in jobs.iter_batches(batch_size=batch, prefetch_batches=0):
        results.update(zip(part["number"].tolist(), part["output"]))
        rows_of.update(zip(*(part[name].tolist() for name in ("actor", "begin", "end", "cpu"))))
    return *rates(rows_of), numpy.stack([results[i] for i in range(len(images))])


def rates(rows_of: dict[tuple, int]) -> tuple[float, float]:
    """Images a second and milliseconds of CPU time an image, of calls (actor, begin, end, CPU seconds) and their rows. An actor's first call makes
    it warm. From then on, until the first actor has nothing left to do, a call counts by the part of it that lies within."""
    calls = collections.defaultdict(list)
    for (actor, *call), rows in sorted(rows_of.items()):
        calls[actor].append((*call, rows))
    begin, end = max(own[0][1] for own in calls.values()), min(own[-1][1] for own in calls.values())
    warm = [call for own in calls.values() for call in own[1:]]
    done = sum(rows * max(0.0, min(last, end) - max(first, begin)) / (last - first) for first, last, _, rows in warm)
    return done / (end - begin), 1e3 * sum(cpu for _, _, cpu, _ in warm) / sum(rows for *_, rows in warm)


def first_result(way: str, file: str, image, cpus: int) -> float:
    """Seconds from asking for an actor to its first result."""
    kind, options = actor_of(way, file)
    remote = ray.remote(num_cpus=cpus)(kind)
    batch = {"number": numpy.zeros(1, numpy.int64), "image": image[None]}
    begin = time.perf_counter()
    actor = remote.remote(*options["fn_constructor_args"], **options.get("fn_constructor_kwargs", {}))
    ray.get(actor.__call__.remote(batch))
    seconds = time.perf_counter() - begin
    ray.kill(actor)
    return seconds


def in_spark(file: str, images, cores: int, batch: int) -> tuple[float, numpy.ndarray]:
    import pyarrow.parquet
    from pyspark.ml.functions import predict_batch_udf
    from pyspark.sql import SparkSession
    from pyspark.sql.types import ArrayType, FloatType

    from torchtrt.integrations.spark import predict_batch_fn

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false").config("spark.driver.memory", "3g").config(
        "spark.driver.host", "127.0.0.1").config("spark.sql.execution.arrow.maxRecordsPerBatch", str(batch)).getOrCreate()
    session.conf.set("spark.sql.parquet.columnarReaderBatchSize", batch)  # rows, of which thousands would not fit into memory
    session.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory(prefix="torchtrt-spark-") as folder:
        columns = {"number": numpy.arange(len(images)), "image": list(images.reshape(len(images), -1))}
        pyarrow.parquet.write_table(pyarrow.table(columns), f"{folder}/images.parquet")
        frame = session.read.parquet(f"{folder}/images.parquet").repartition(cores).cache()
        frame.count()
        udf = predict_batch_udf(predict_batch_fn(file), return_type=ArrayType(FloatType()), batch_size=batch, input_tensor_shapes=[list(images[0].shape)])
        begin = time.perf_counter()
        done = frame.withColumn("output", udf("image")).select("number", "output").collect()
        seconds = time.perf_counter() - begin
    session.stop()
    return seconds, numpy.array([row.output for row in sorted(done, key=lambda row: row.number)], dtype=numpy.float32)


def in_beam(file: str, images) -> tuple[float, numpy.ndarray]:
    import apache_beam as beam
    from apache_beam.ml.inference.base import KeyedModelHandler, RunInference

    from torchtrt.integrations.beam import ModelHandler

    with tempfile.TemporaryDirectory(prefix="torchtrt-beam-") as folder:
        numpy.save(f"{folder}/images.npy", images)  # what Create is given becomes part of the pipeline, which Beam packs with bz2, four times
        begin = time.perf_counter()
        with beam.Pipeline() as pipeline:
            numbers = pipeline | beam.Create(range(len(images)))
            read = numbers | beam.Map(lambda i: (i, numpy.array(numpy.load(f"{folder}/images.npy", mmap_mode="r")[i])))
            results = read | RunInference(KeyedModelHandler(ModelHandler(file)))
            results | beam.Map(lambda each: numpy.save(f"{folder}/{each[0]}.npy", each[1].inference))
        seconds = time.perf_counter() - begin
        return seconds, numpy.stack([numpy.load(f"{folder}/{i}.npy") for i in range(len(images))])


def difference(results, expected) -> float:
    return float(numpy.abs(results - expected).max() / numpy.abs(expected).max())


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/scale_out.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mobilenet_v3_large")
    parser.add_argument("--images", type=int, default=384)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="few images, one round: does it run")
    options = parser.parse_args()
    if options.smoke:
        options.images, options.rounds = 64, 1
    os.environ["PYTHONPATH"] = f"{HERE}:{os.environ.get('PYTHONPATH', '')}"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    images = models.sample(options.model, options.images, seed=1).numpy()
    with tempfile.TemporaryDirectory(prefix="torchtrt-bench-") as folder:
        files = make_files(options.model, folder, options.batch)
        speeds: dict = {(way, actors): [] for way in files for actors in (1, 2)}
        spent: dict = {key: [] for key in speeds}
        results: dict = {}
        for turn in range(options.rounds):
            for way, actors in speeds:
                print(f"round {turn + 1} of {options.rounds}: {way}, {actors} actors", file=sys.stderr, flush=True)
                speed, cpu, results[way, actors] = in_ray(way, files[way], images, actors, 2 // actors, options.batch)
                speeds[way, actors].append(speed)
                spent[way, actors].append(cpu)
        starts = {way: statistics.median(first_result(way, file, images[0], 1) for _ in range(options.rounds)) for way, file in files.items()}
        ray.shutdown()
        others = {"Spark, local[2]": in_spark(files["torchtrt"], images, 2, options.batch), "Beam": in_beam(files["torchtrt"], images)}
    expected = results["TorchScript", 1]
    rows = [[way, *(f"{statistics.median(speeds[way, actors]):.0f}" for actors in (1, 2)),
             *(f"{statistics.median(spent[way, actors]):.2f}" for actors in (1, 2)), f"{starts[way]:.2f}",
             f"{max(difference(results[way, actors], expected) for actors in (1, 2)):.1e}"] for way in files]
    print(f"{options.model}, {options.images} images in batches of {options.batch}, two CPUs: one actor with two, or two with one\n")
    print(table.render(["Ray Data, images a second", "1 actor", "2 actors", "CPU ms an image", "2 actors", "first result, s", "difference"], rows))
    print("\n" + table.render(["torchtrt, the same job with start", "images a second", "difference"],
                              [[name, f"{options.images / seconds:.0f}", f"{difference(found, expected):.1e}"] for name, (seconds, found) in others.items()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
