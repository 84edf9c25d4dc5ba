"""The reference system's name for torchtrt; nothing of its own."""

import sys

import torchtrt
from torchtrt import *  # noqa: F403 - all of it, lazily loaded names included
from torchtrt import logging, ptq, ts

sys.modules[__name__ + ".logging"] = logging
sys.modules[__name__ + ".ptq"] = ptq
sys.modules[__name__ + ".ts"] = ts
sys.modules[__name__ + ".ts.logging"] = logging
sys.modules[__name__ + ".ts.ptq"] = ptq


def __getattr__(name):
    return getattr(torchtrt, name)
