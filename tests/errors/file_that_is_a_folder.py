"""A folder instead of a file."""

CODE = "C004"
EXIT = 1
SAYS = ["is a folder, expected a TorchScript module"]


def command(folder):
    return ["torchtrtc", folder, folder / "out.ts", "(2)"]
