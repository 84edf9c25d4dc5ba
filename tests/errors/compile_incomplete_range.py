"""A range without its maximum."""

import torchtrt

CODE = "C002"
SAYS = ["min_shape, opt_shape and max_shape"]


def misuse(folder):
    torchtrt.Input(min_shape=[1, 3], opt_shape=[2, 3])
