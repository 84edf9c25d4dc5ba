"""One number where random data have a range."""

import torchtrt

CODE = "C002"
SAYS = ["a tensor_domain is a pair of numbers, got 5", "(0, 1)"]


def misuse(folder):
    torchtrt.Input([2], tensor_domain=5)
