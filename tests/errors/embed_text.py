"""A file's name where an engine's bytes are expected."""

import torchtrt

CODE = "C003"
SAYS = ["serialized_engine is a str, expected bytes", "convert_method_to_trt_engine"]


def misuse(folder):
    torchtrt.ts.embed_engine_in_new_module("lenet.plan")
