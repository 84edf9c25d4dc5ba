"""A file that does not exist."""

CODE = "C004"
EXIT = 1
SAYS = ["there is no file", "no_such.ts", "expected a TorchScript module"]


def command(folder):
    return ["torchtrtc", folder / "no_such.ts", folder / "out.ts", "(2)"]
