"""A device that does not exist."""

import torchtrt

CODE = "C003"
SAYS = ['no device "toaster:1"', '"cpu"']


def misuse(folder):
    torchtrt.Device("toaster:1")
