"""Images a second of one job in Ray Data, with one actor and two: torchtrt, TorchScript and ONNX Runtime in the same actors, in turns; the same
job in Spark and Beam; the time from an actor's start to its first result. `./dev test integrations` makes the environment that it needs:

    INTEGRATIONS/bin/python bench/scale_out.py [--model mobilenet_v3_large] [--images 256] [--rounds 3] [--smoke]

All results are compared with TorchScript's.
"""

import argparse
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


def in_ray(way: str, file: str, images, actors: int, cpus: int, batch: int) -> tuple[float, numpy.ndarray]:
    """Seconds from the first result to the last, and all results in order. Actors start before the clock does."""
    kind, options = actor_of(way, file)
    jobs = ray.data.from_items([{"number": i, "image": image} for i, image in enumerate(images)], override_num_blocks=max(4, len(images) // batch))
    jobs = jobs.materialize().map_batches(kind, compute=ray.data.ActorPoolStrategy(size=actors), batch_size=batch, num_cpus=cpus, **options)
    results, begin, first = {}, None, 0
    for part in jobs.iter_batches(batch_size=batch, prefetch_batches=0):
        results.update(zip(part["number"].tolist(), part["output"]))
        if begin is None:
            begin, first = time.perf_counter(), len(results)
    seconds = (time.perf_counter() - begin) * len(images) / max(1, len(images) - first)
    return seconds, numpy.stack([results[i] for i in range(len(images))])


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

    session = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false").config("spark.driver.memory", "3g").config(
        "spark.driver.host", "127.0.0.1").config("spark.sql.execution.arrow.maxRecordsPerBatch", str(batch)).getOrCreate()
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
        begin = time.perf_counter()
        with beam.Pipeline() as pipeline:
            results = pipeline | beam.Create(list(enumerate(images))) | RunInference(KeyedModelHandler(ModelHandler(file)))
            results | beam.Map(lambda each: numpy.save(f"{folder}/{each[0]}.npy", each[1].inference))
        seconds = time.perf_counter() - begin
        return seconds, numpy.stack([numpy.load(f"{folder}/{i}.npy") for i in range(len(images))])


def difference(results, expected) -> float:
    return float(numpy.abs(results - expected).max() / numpy.abs(expected).max())


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/scale_out.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mobilenet_v3_large")
    parser.add_argument("--images", type=int, default=512)
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
        results: dict = {}
        for turn in range(options.rounds):
            for way, actors in speeds:
                print(f"round {turn + 1} of {options.rounds}: {way}, {actors} actors", file=sys.stderr, flush=True)
                seconds, results[way, actors] = in_ray(way, files[way], images, actors, 2 // actors, options.batch)
                speeds[way, actors].append(options.images / seconds)
        starts = {way: statistics.median(first_result(way, file, images[0], 1) for _ in range(options.rounds)) for way, file in files.items()}
        ray.shutdown()
        others = {"Spark, local[2]": in_spark(files["torchtrt"], images, 2, options.batch), "Beam": in_beam(files["torchtrt"], images)}
    expected = results["TorchScript", 1]
    rows = [[way, *(f"{statistics.median(speeds[way, actors]):.0f}" for actors in (1, 2)), f"{starts[way]:.2f}",
             f"{max(difference(results[way, actors], expected) for actors in (1, 2)):.1e}"] for way in files]
    print(f"{options.model}, {options.images} images in batches of {options.batch}, two CPUs: one actor with two, or two with one\n")
    print(table.render(["Ray Data, images a second", "1 actor", "2 actors", "first result, s", "difference"], rows))
    print("\n" + table.render(["torchtrt, the same job with start", "images a second", "difference"],
                              [[name, f"{options.images / seconds:.0f}", f"{difference(found, expected):.1e}"] for name, (seconds, found) in others.items()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
