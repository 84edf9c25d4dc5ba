"""Bytes that are no engine, to be embedded."""

import torchtrt

CODE = "E001"
SAYS = ["damaged plan"]


def misuse(folder):
    torchtrt.ts.embed_engine_in_new_module(b"no engine at all")
