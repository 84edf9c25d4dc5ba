"""Spark on a local cluster of two workers: predict_batch_udf with compiled files, as tensors, columns and structs."""

import os
import pathlib

import numpy
import pytest
import torch
from nets import Image, Two, arrays, compile_to
from pyspark.ml.functions import predict_batch_udf
from pyspark.sql import SparkSession
from pyspark.sql.functions import array, col
from pyspark.sql.types import ArrayType, FloatType, StructField, StructType

from torchtrt.integrations.spark import predict_batch_fn

ROWS = 60


@pytest.fixture(scope="module")
def spark():
    here = str(pathlib.Path(__file__).parent)
    path = f"{here}:{os.environ.get('PYTHONPATH', '')}"
    session = (SparkSession.builder.master("local-cluster[2,2,1024]").appName("torchtrt").config("spark.task.cpus", "2")
               .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
               .config("spark.executorEnv.PYTHONPATH", path).config("spark.sql.execution.arrow.maxRecordsPerBatch", "50")
               .config("spark.executor.memory", "512m").getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "image.ts"
    return path, compile_to(path, Image, [3, 16, 16])


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "two.ts"
    return path, compile_to(path, Two, [4], [3])


def images_frame(spark, images):
    rows = [(i, each.ravel().tolist()) for i, each in enumerate(images)]
    return spark.createDataFrame(rows, ["number", "image"]).withColumn("image", col("image").cast("array<float>")).repartition(4)


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_a_column_of_tensors_gives_what_the_module_gives(spark, image, batch_size):
    path, module = image
    (images,) = arrays(ROWS, [3, 16, 16])
    udf = predict_batch_udf(predict_batch_fn(path), return_type=ArrayType(FloatType()), batch_size=batch_size, input_tensor_shapes=[[3, 16, 16]])
    rows = images_frame(spark, images).withColumn("scores", udf("image")).select("number", "scores").collect()
    actual = numpy.array([row.scores for row in sorted(rows, key=lambda row: row.number)], dtype=numpy.float32)
    torch.testing.assert_close(torch.from_numpy(actual), module(torch.from_numpy(images)))


def test_several_columns_and_results(spark, two):
    path, module = two
    x, y = arrays(ROWS, [4], [3])
    frame = spark.createDataFrame([(i, a.tolist(), b.tolist()) for i, (a, b) in enumerate(zip(x, y))], ["number", "x", "y"])
    frame = frame.withColumn("x", col("x").cast("array<float>")).withColumn("y", col("y").cast("array<float>"))
    result = StructType([StructField(name, ArrayType(FloatType())) for name in ("z", "sum")])
    udf = predict_batch_udf(predict_batch_fn(path, outputs=["z", "sum"]), return_type=result, batch_size=10, input_tensor_shapes=[[4], [3]])
    rows = sorted(frame.withColumn("result", udf("x", "y")).collect(), key=lambda row: row.number)
    for name, expected in zip(("z", "sum"), module(torch.from_numpy(x), torch.from_numpy(y))):
        actual = numpy.array([row.result[name] for row in rows], dtype=numpy.float32)
        torch.testing.assert_close(torch.from_numpy(actual), expected)


def test_columns_of_numbers_become_one_tensor(spark, two):
    path, module = two
    x, y = arrays(8, [4], [3])
    names = [f"x{i}" for i in range(4)] + [f"y{i}" for i in range(3)]
    frame = spark.createDataFrame([(i, *map(float, numpy.concatenate([a, b]))) for i, (a, b) in enumerate(zip(x, y))], ["number", *names])
    frame = frame.select("number", array(*[col(name).cast("float") for name in names[:4]]).alias("x"),
                         array(*[col(name).cast("float") for name in names[4:]]).alias("y"))
    result = StructType([StructField(f"output_{i}", ArrayType(FloatType())) for i in range(2)])
    udf = predict_batch_udf(predict_batch_fn(path), return_type=result, batch_size=8, input_tensor_shapes=[[4], [3]])
    rows = sorted(frame.withColumn("result", udf("x", "y")).collect(), key=lambda row: row.number)
    actual = numpy.array([row.result["output_1"] for row in rows], dtype=numpy.float32)
    torch.testing.assert_close(torch.from_numpy(actual), module(torch.from_numpy(x), torch.from_numpy(y))[1])


def test_a_worker_loads_once_and_has_the_threads_of_a_task(spark, image):
    path, _ = image

    def watched():
        make = predict_batch_fn(path)

        def loading():
            predict = make()
            made = int.from_bytes(os.urandom(2), "big")  # another number each time
            tell = [float(os.getpid()), float(made), float(torch.get_num_threads())]

            def telling(images):
                predict(images)
                return numpy.tile(numpy.array(tell, numpy.float32), (len(images), 1))

            return telling

        return loading

    (images,) = arrays(ROWS, [3, 16, 16])
    udf = predict_batch_udf(watched(), return_type=ArrayType(FloatType()), batch_size=5, input_tensor_shapes=[[3, 16, 16]])
    rows = images_frame(spark, images).withColumn("told", udf("image")).select("told").collect()
    told = {tuple(row.told) for row in rows}
    assert len({process for process, _, _ in told}) == len(told), "a worker made its function more than once"
    assert {threads for _, _, threads in told} == {2.0}


def test_other_sizes_are_told_with_both(spark, image):
    path, _ = image
    (images,) = arrays(4, [3, 8, 16])
    udf = predict_batch_udf(predict_batch_fn(path), return_type=ArrayType(FloatType()), batch_size=4, input_tensor_shapes=[[3, 8, 16]])
    frame = images_frame(spark, images)
    with pytest.raises(Exception, match=r"\[C002\] 'image': expected \[rows, 3, 16, 16\], got \[\d+, 3, 8, 16\]"):
        frame.withColumn("scores", udf("image")).collect()


def test_a_worker_without_the_file_says_so(spark):
    (images,) = arrays(4, [3, 16, 16])
    udf = predict_batch_udf(predict_batch_fn("/nowhere/compiled.ts"), return_type=ArrayType(FloatType()), batch_size=4, input_tensor_shapes=[[3, 16, 16]])
    frame = images_frame(spark, images)
    with pytest.raises(Exception, match=r"\[E009\] there is no file '/nowhere/compiled.ts' on this worker"):
        frame.withColumn("scores", udf("image")).collect()
