"""int8 on real digits: trains LeNet for some seconds, calibrates it with images that it was trained on, and compares on others.

    . .venv/bin/activate; PYTHONPATH=build/release/python python examples/int8.py
"""

import argparse
import pathlib
import sys
import tempfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))

import models  # noqa: E402
import torchtrt  # noqa: E402

SHAPES = torchtrt.Input(min_shape=[1, 1, 32, 32], opt_shape=[64, 1, 32, 32], max_shape=[1024, 1, 32, 32])
CALIBRATION_IMAGES = 256


def accuracy(module, images: torch.Tensor, labels: torch.Tensor) -> float:
    return (module(images).argmax(1) == labels).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--training-epochs", type=int, default=30)
    options = parser.parse_args()

    module, training, (images, labels) = models.trained_lenet(options.training_epochs)
    batches = training[:CALIBRATION_IMAGES].split(64)
    script = torch.jit.script(module)
    print(f"PyTorch, float32: {accuracy(script, images, labels):.4f} of {len(labels)} digits")
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "lenet.cache"
        for algo in torchtrt.ptq.CalibrationAlgo:
            calibrator = torchtrt.ptq.DataLoaderCalibrator(batches, algo_type=algo, cache_file=cache)
            int8 = torchtrt.compile(script, inputs=[SHAPES], enabled_precisions={torch.int8}, calibrator=calibrator)
            print(f"int8, {algo.name}: {accuracy(int8, images, labels):.4f}")
        # The cache holds the ranges that the last calibrator found, so no data is needed any more.
        cached = torchtrt.compile(script, inputs=[SHAPES], enabled_precisions={torch.int8}, calibrator=torchtrt.ptq.CacheCalibrator(cache))
        if not torch.equal(cached(images), int8(images)):
            raise SystemExit("the module of the cache and the calibrated one differ")
    print(torchtrt.report(int8))


if __name__ == "__main__":
    main()
