"""A size that is no whole number, such as a quotient; cut off it would be another shape."""

import torchtrt

CODE = "C002"
SAYS = ["a list of sizes, got [1.5, 2]"]


def misuse(folder):
    torchtrt.Input([1.5, 2])
