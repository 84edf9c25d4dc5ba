"""Refused where it is made, not where it is used."""

import torchtrt

CODE = "C002"
SAYS = ["dimension 0", "8, 4, 1", "minimum <= optimum <= maximum"]


def misuse(folder):
    torchtrt.Input(min_shape=[8, 3], opt_shape=[4, 3], max_shape=[1, 3])
