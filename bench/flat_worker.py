"""A process of `./dev bench --memory`: `flat_worker.py shapes|compiles MODEL COUNT`.

It compiles the model of shapes.py for its ranges and calls it COUNT times with random shapes of these, or compiles the model of models.py
COUNT times; and tells {"bytes": resident} after a tenth and at the end.
"""

import sys

import memory
import talk


def calls(model: str, count: int, tell) -> None:
    import shapes
    import torch

    with torch.inference_mode():
        sweep = shapes.Sweep(model, seed=0)
        for index in range(count):
            sweep.compiled(*sweep.arguments())
            if index + 1 in (count // 10, count):
                tell({"bytes": memory.settled()})


def compiles(model: str, count: int, tell) -> None:
    import models
    import torch

    import torchtrt

    x = models.sample(model)
    with torch.inference_mode(), torchtrt.logging.errors():
        script = models.script(model, models.build(model))
        for index in range(count):
            torchtrt.compile(script, inputs=[torchtrt.Input(list(x.shape))])(x)
            if index + 1 in (count // 10, count):
                tell({"bytes": memory.settled()})


if __name__ == "__main__":
    talk.run(lambda tell: {"shapes": calls, "compiles": compiles}[sys.argv[1]](sys.argv[2], int(sys.argv[3]), tell))
