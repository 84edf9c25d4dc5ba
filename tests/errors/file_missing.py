"""A file that does not exist."""

CODE = "C004"
EXIT = 1
SAYS = ["no_such.ts", "is not a file"]


def command(folder):
    return ["torchtrtc", folder / "no_such.ts", folder / "out.ts", "(2)"]
