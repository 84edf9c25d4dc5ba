"""int8 on real digits: trains LeNet for some seconds, calibrates it with images that it has not seen, and compares on others.

    . .venv/bin/activate; PYTHONPATH=build/release/python python examples/int8.py
"""

import pathlib
import sys
import tempfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import demo  # noqa: E402
import torchtrt  # noqa: E402

SHAPES = torchtrt.Input(min_shape=[1, 1, 32, 32], opt_shape=[64, 1, 32, 32], max_shape=[1024, 1, 32, 32])


def main() -> None:
    module, images, labels = demo.train_lenet(seconds=15)
    calibration, test = images[:128], images[128:]
    wanted = labels[128:]
    script = torch.jit.script(module)
    print(f"PyTorch, float32: {demo.accuracy(script, test, wanted):.4f} of {len(wanted)} digits")
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "lenet.cache"
        for algo in torchtrt.ptq.CalibrationAlgo:
            calibrator = torchtrt.ptq.DataLoaderCalibrator(calibration.split(64), algo_type=algo, cache_file=cache)
            int8 = torchtrt.compile(script, inputs=[SHAPES], enabled_precisions={torch.int8}, calibrator=calibrator)
            print(f"int8, {algo.name}: {demo.accuracy(int8, test, wanted):.4f}")
        # The ranges that the last one wrote; no data is needed any more.
        cached = torchtrt.compile(script, inputs=[SHAPES], enabled_precisions={torch.int8}, calibrator=torchtrt.ptq.CacheCalibrator(cache))
        assert torch.equal(cached(test), int8(test))
    print(torchtrt.report(int8))


if __name__ == "__main__":
    main()
